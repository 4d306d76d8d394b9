// Prepares the pages for VitePress: those of the repository at their own paths, so that their links work, and those
// that are generated from the programs, the types and the demo's model.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { fail, log, run } from "../../scripts/lib/setup.mjs";
import { writeCliPages } from "./cli-pages.mjs";
import { writeDemo } from "./demo-files.mjs";
import { PAGES, ROOT, SITE } from "./paths.mjs";

const FRONT = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];

/** Rewrites all pages. */
export async function writePages() {
  rmSync(PAGES, { recursive: true, force: true });
  mkdirSync(PAGES, { recursive: true });
  copyRepository();
  cpSync(join(SITE, "pages"), PAGES, { recursive: true });
  log("Pages of the programs and types ...");
  const cli = await writeCliPages(PAGES);
  writeFileSync(join(PAGES, "sidebar.json"), JSON.stringify({ "/cli/": cli, "/api/": writeApiPages() }));
  log("Files of the demo ...");
  await writeDemo(join(PAGES, "public", "demo"));
  writeReports(join(PAGES, "public", "reports"));
}

function copyRepository() {
  const models = readdirSync(join(ROOT, "models")).map((name) => `models/${name}/README.md`);
  const docs = readdirSync(join(ROOT, "docs"))
    .filter((file) => /\.(md|svg|jpg)$/.test(file))
    .map((file) => `docs/${file}`);
  for (const path of [...FRONT, ...models, ...docs, "docs/tables/README.md"]) {
    const from = join(ROOT, path);
    if (!existsSync(from)) continue;
    mkdirSync(dirname(join(PAGES, path)), { recursive: true });
    cpSync(from, join(PAGES, path));
  }
  for (const path of ["LICENSE", "docs/config.schema.json", "configs"]) {
    mkdirSync(dirname(join(PAGES, "public", path)), { recursive: true });
    cpSync(join(ROOT, path), join(PAGES, "public", path), { recursive: true });
  }
}

/** Writes one page per type with TypeDoc. @returns the sidebar's groups. */
function writeApiPages() {
  const typedoc = join(SITE, "node_modules", "typedoc", "bin", "typedoc");
  if (!run(process.execPath, [typedoc, "--options", "typedoc.json"], { cwd: SITE })) fail("TypeDoc failed (above).");
  const api = join(PAGES, "api");
  const index = join(api, "index.md");
  writeFileSync(
    index,
    readFileSync(index, "utf8").replace(
      "# API\n",
      '# API\n\n```ts\nimport { loadAgent, train } from "refusion-train";\n```\n',
    ),
  );
  return ["functions", "classes", "interfaces", "type-aliases", "variables"].map((kind) => ({
    text: `${kind[0].toUpperCase()}${kind.slice(1).replace("-", " ")}`,
    collapsed: kind !== "functions",
    items: readdirSync(join(api, kind))
      .sort()
      .map((file) => ({ text: file.slice(0, -3), link: `/api/${kind}/${file.slice(0, -3)}` })),
  }));
}

/** Writes the reports of recorded runs, which the repository keeps compressed. */
function writeReports(out) {
  mkdirSync(out, { recursive: true });
  for (const file of readdirSync(join(SITE, "reports")).filter((name) => name.endsWith(".html.gz")))
    writeFileSync(join(out, file.slice(0, -3)), gunzipSync(readFileSync(join(SITE, "reports", file))));
}
