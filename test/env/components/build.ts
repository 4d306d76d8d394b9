import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Built } from "./server.js";

/** The folder of package.json and sources in the checkout (this file runs in `dist`). */
export const HOME = fileURLToPath(new URL("../../../../test/env/components/", import.meta.url));
const CACHE = fileURLToPath(new URL("../../../../.cache/component-pages/", import.meta.url));

interface Loaded {
  contents: string;
  loader: string;
  resolveDir: string;
}
type Load = (args: { path: string }) => Loaded;
interface PluginBuild {
  onLoad(options: { filter: RegExp }, load: Load): void;
}
interface Compilers {
  esbuild: { build(options: Record<string, unknown>): Promise<{ metafile: { outputs: Record<string, Output> } }> };
  vue: {
    parse(text: string, options: { filename: string }): { descriptor: unknown };
    compileScript(descriptor: unknown, options: { id: string; inlineTemplate: boolean }): { content: string };
  };
}
interface Output {
  entryPoint?: string;
  cssBundle?: string;
}

/** Installs the libraries by the lock, unless that has been done. */
function install(): void {
  const stamp = join(HOME, "node_modules", ".installed");
  const lock = readFileSync(join(HOME, "package-lock.json"), "utf8");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  const done = spawnSync("npm", ["ci"], { cwd: HOME, stdio: ["ignore", "ignore", "inherit"], shell: false });
  if (done.status !== 0) throw new Error(`npm ci failed in ${HOME} with status ${done.status}`);
  writeFileSync(stamp, lock);
}

const SCRIPT = /<script[^>]*>([\s\S]*?)<\/script>/;
const STYLE = /<style[^>]*>([\s\S]*?)<\/style>/;

const folderOf = (path: string): string => path.slice(0, -basename(path).length);
const js = (path: string, contents: string): Loaded => ({ contents, loader: "js", resolveDir: folderOf(path) });

/** Reads the script out of a page in HTML, and compiles a page in Vue and mounts it. */
const loads =
  (vue: Compilers["vue"]) =>
  (build: PluginBuild): void => {
    const scriptOf = (path: string) => SCRIPT.exec(readFileSync(path, "utf8"))?.[1] ?? "";
    build.onLoad({ filter: /sources\/.*\.html$/ }, ({ path }) => js(path, scriptOf(path)));
    build.onLoad({ filter: /sources\/.*\.vue$/ }, ({ path }) => {
      const { descriptor } = vue.parse(readFileSync(path, "utf8"), { filename: path });
      const script = vue.compileScript(descriptor, { id: basename(path), inlineTemplate: true }).content;
      return js(path, `${script.replace("export default", "const page =")}\n${START_VUE}`);
    });
  };

const START_VUE = 'import { createApp } from "vue";\ncreateApp(page).mount("#app");';

const sourceOf = (id: string): string => {
  const [folder = "", name = ""] = id.split("/");
  const file = readdirSync(join(HOME, "sources", folder)).find((item) => basename(item, extname(item)) === name);
  if (file === undefined) throw new Error(`sources/${id}.* is missing`);
  return join("sources", folder, file);
};

function stampOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of [...files, "package-lock.json"]) hash.update(file).update(readFileSync(join(HOME, file)));
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  return hash.digest("hex").slice(0, 16);
}

async function bundle(files: readonly string[], out: string): Promise<Record<string, Output>> {
  const require = createRequire(join(HOME, "package.json"));
  const compilers: Compilers = { esbuild: require("esbuild"), vue: require("@vue/compiler-sfc") };
  const result = await compilers.esbuild.build({
    ...{ absWorkingDir: HOME, entryPoints: files, outdir: out, outbase: "sources", bundle: true, format: "esm" },
    ...{ splitting: true, minify: true, metafile: true, logLevel: "error", jsx: "automatic" },
    alias: { vue: "vue/dist/vue.runtime.esm-bundler.js" },
    external: ["/assets/*"],
    assetNames: "files/[name]-[hash]",
    loader: Object.fromEntries(
      [".woff", ".woff2", ".ttf", ".eot", ".svg", ".png", ".jpg", ".gif", ".webp"].map((end) => [end, "file"]),
    ),
    define: {
      "process.env.NODE_ENV": '"production"',
      process: '{"env":{}}',
      global: "globalThis",
      __VUE_OPTIONS_API__: "true",
      __VUE_PROD_DEVTOOLS__: "false",
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
    },
    plugins: [{ name: "components", setup: loads(compilers.vue) }],
  });
  return result.metafile.outputs;
}

/** Installs what is needed and bundles the pages, or takes what a former call has bundled. */
export async function build(ids: readonly string[]): Promise<Map<string, Built>> {
  install();
  const files = ids.map(sourceOf);
  const out = join(CACHE, stampOf(files), "/");
  const index = join(out, "index.json");
  if (!existsSync(index)) writeFileSync(index, JSON.stringify(await bundle(files, out)));
  const outputs: Record<string, Output> = JSON.parse(readFileSync(index, "utf8"));
  const local = (path: string): string => join(HOME, path).slice(out.length);
  return new Map(
    ids.map((id, i) => {
      const found = Object.entries(outputs).find(([, output]) => output.entryPoint === files[i]);
      if (found === undefined) throw new Error(`${files[i]} was not bundled`);
      const text = readFileSync(join(HOME, files[i] as string), "utf8");
      const html = files[i]?.endsWith(".html");
      const style = html ? `<style>${STYLE.exec(text)?.[1] ?? ""}</style>` : "";
      const body = html ? style + text.replace(SCRIPT, "").replace(STYLE, "") : '<div id="app"></div>';
      const built: Built = {
        body,
        script: local(found[0]),
        style: found[1].cssBundle === undefined ? "none.css" : local(found[1].cssBundle),
        asset: (path) =>
          existsSync(join(out, path)) && !path.includes("..") ? readFileSync(join(out, path)) : undefined,
      };
      return [id, built];
    }),
  );
}
