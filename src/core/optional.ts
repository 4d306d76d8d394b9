import { join } from "node:path";
import { fail } from "./errors.js";
import { packageRoot, readJson } from "./files.js";

/**
 * Loads an optional dependency.
 * @param needed the text before the package's name, as `GGUF files need`.
 * @throws UserError that says how to install it.
 */
export async function optional<T>(needed: string, name: string, load: () => Promise<T>): Promise<T> {
  return load().catch((error: unknown) =>
    fail(`${needed} the package ${name}, which is not installed.`, {
      hint: `npm install ${name}@${pinnedVersion(name)}`,
      cause: error,
    }),
  );
}

/** Returns the version of an optional dependency that package.json pins. */
function pinnedVersion(name: string): string {
  const manifest = readJson(join(packageRoot(), "package.json")) as { optionalDependencies: Record<string, string> };
  return manifest.optionalDependencies[name] ?? "latest";
}
