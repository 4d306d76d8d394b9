// The flags of a script, whose first comment is its help text.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/**
 * Reads a script's flags. `--help` prints the script's first comment; an unknown flag prints it and exits with 2.
 * @param url the script's `import.meta.url`.
 * @param config the argument of `parseArgs`.
 */
export function flagsOf(url, config) {
  const text = readFileSync(fileURLToPath(url), "utf8");
  const lines = text.slice(0, text.search(/^[^/]/m)).split("\n");
  const help = lines.map((line) => line.replace(/^\/\/ ?/, "")).join("\n");
  const options = { ...config.options, help: { type: "boolean", short: "h", default: false } };
  let parsed;
  try {
    parsed = parseArgs({ ...config, options });
  } catch (error) {
    process.stderr.write(`error: ${error.message}\n\n${help}`);
    process.exit(2);
  }
  if (parsed.values.help) {
    const names = Object.entries(options).map(([name, { type }]) => `--${name}${type === "boolean" ? "" : " VALUE"}`);
    process.stdout.write(`${help}\nFlags: ${names.join(", ")}\n`);
    process.exit(0);
  }
  return parsed;
}
