// Runs after VitePress: writes the texts for language models and checks all links.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fail, log } from "../../scripts/lib/setup.mjs";
import { deadLinks } from "./links.mjs";
import { PAGES, SITE } from "./paths.mjs";

/** Writes llms.txt (llmstxt.org) and llms-full.txt, and checks every link. */
export function finish(base) {
  const dist = join(SITE, "dist");
  const pages = readdirSync(PAGES, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => relative(PAGES, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !["index.md", "demo.md"].includes(path))
    .sort();
  const about = pages.map((path) => {
    const text = readFileSync(join(PAGES, path), "utf8");
    const prose = text
      .replace(/^---[\s\S]*?\n---\n/, "")
      .replace(/```[\s\S]*?```/g, "")
      .replace(/^#.*$/gm, "")
      .replace(/\|.*\|/g, "");
    const first = /\S[^\n]*/.exec(prose)?.[0].replace(/[*_`]|\]\([^)]*\)|\[/g, "") ?? "";
    return { path, text, title: /^# (.*)$/m.exec(text)?.[1] ?? path, first: first.slice(0, 160) };
  });
  const section = (title, test) => {
    const rows = about
      .filter(({ path }) => test(path))
      .map(({ path, title, first }) => `- [${title}](${base}${path.replace(/\.md$/, ".html")}): ${first}`);
    return `## ${title}\n\n${rows.join("\n")}\n`;
  };
  const head =
    "# refusion-train\n\n> Reinforcement learning for diffusion language models that fill in web forms, in one Node process on stock onnxruntime-node.\n";
  writeFileSync(
    join(dist, "llms.txt"),
    [
      head,
      section("Docs", (path) => path.startsWith("docs/")),
      section("Commands", (path) => path.startsWith("cli/")),
      section("Optional", (path) => !/^(docs|cli)\//.test(path)),
    ].join("\n"),
  );
  const whole = about
    .filter(({ path }) => /^(docs|cli)\//.test(path))
    .map(({ path, text }) => `<!-- ${path} -->\n${text}`);
  writeFileSync(join(dist, "llms-full.txt"), [head, ...whole].join("\n\n"));
  const dead = deadLinks(dist, base);
  if (dead.length > 0) fail(...dead.slice(0, 40), `${dead.length} links of the site lead nowhere.`);
  log(`All links of ${about.length + 2} pages hold.`);
}
