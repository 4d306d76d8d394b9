// npm run site [-- --base /path/] [-- --serve]: installs the site's own packages, builds the site from docs/ and from what
// the programs say of themselves, and says where it lies. --base: the path that it will be served under, / by default.
// --serve: serves it on this machine.
import { join } from "node:path";
import { checkNode, build as compile, fail, installPackages, log, ROOT, run } from "../scripts/lib/setup.mjs";

const SITE = join(ROOT, "site");
const args = process.argv.slice(2);
const base = args.includes("--base") ? args[args.indexOf("--base") + 1] : "/";
if (base === undefined || !/^\/(?:[\w.-]+\/)*$/.test(base))
  fail(`--base ${base ?? ""}: expected a path that begins and ends with /, as /refusion-train/`);

checkNode();
installPackages();
installPackages(SITE);
compile();

// checks the demo's types: esbuild only takes them away
const compiler = join(SITE, "node_modules", "typescript", "bin", "tsc");
if (!run(process.execPath, [compiler, "-p", SITE])) fail("The demo does not fit the sources (above).");
const { writePages } = await import("./build/pages.mjs");
await writePages();
const vitepress = join(SITE, "node_modules", "vitepress", "bin", "vitepress.js");
const env = { SITE_BASE: base };
if (!run(process.execPath, [vitepress, "build", SITE], { cwd: SITE, env }))
  fail("VitePress could not build the site (above).");
const { finish } = await import("./build/finish.mjs");
finish(base);
log(`The site lies in ${join("site", "dist")}, made to be served under ${base}`);
if (args.includes("--serve")) run(process.execPath, [vitepress, "preview", SITE], { cwd: SITE, env });
else log("  look at it: npm run site -- --serve");
