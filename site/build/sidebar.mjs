// Arranges the pages of docs/ in groups; a page without a group appears under "More".
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, SITE } from "./paths.mjs";

const GROUPS = {
  "Begin here": ["features", "runs"],
  "Forms and sites": ["your-own-site", "sites", "contracts", "browser", "environments"],
  Models: ["model", "plans", "decoding", "checkpoints"],
  Training: ["objectives", "rollouts"],
  Results: ["results", "speed"],
  "Use it elsewhere": ["mcp", "extending", "cluster", "gpu"],
};

const titleOf = (path) => /^# (.*)$/m.exec(readFileSync(path, "utf8"))?.[1] ?? path;

/** Builds the sidebars, keyed by the path prefix of their pages. */
export function sidebar() {
  const docs = join(ROOT, "docs");
  const all = readdirSync(docs)
    .filter((file) => file.endsWith(".md"))
    .map((file) => file.slice(0, -3));
  const known = Object.values(GROUPS).flat();
  const groups = { ...GROUPS, More: all.filter((name) => !known.includes(name)) };
  const items = (names) =>
    names
      .filter((name) => all.includes(name))
      .map((name) => ({ text: titleOf(join(docs, `${name}.md`)), link: `/docs/${name}` }));
  const made = join(SITE, ".pages", "sidebar.json");
  return {
    "/docs/": [
      ...Object.entries(groups)
        .map(([text, names]) => ({ text, items: items(names) }))
        .filter((group) => group.items.length > 0),
      {
        text: "The code",
        items: [
          { text: "Architecture", link: "/ARCHITECTURE" },
          { text: "Contributing", link: "/CONTRIBUTING" },
          { text: "Changes", link: "/CHANGELOG" },
        ],
      },
    ],
    ...(existsSync(made) ? JSON.parse(readFileSync(made, "utf8")) : {}),
  };
}
