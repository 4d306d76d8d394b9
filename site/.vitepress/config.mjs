import { defineConfig } from "vitepress";
import { slug } from "../build/links.mjs";
import { sidebar } from "../build/sidebar.mjs";

const base = process.env.SITE_BASE ?? "/";

export default defineConfig({
  title: "refusion-train",
  description: "Reinforcement learning for diffusion language models that fill in web forms, in one Node process",
  base,
  srcDir: ".pages",
  outDir: "dist",
  cacheDir: ".cache",
  lang: "en",
  lastUpdated: false,
  // checked by build/links.mjs, with headings
  ignoreDeadLinks: true,
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${base}icon.svg` }]],
  markdown: { anchor: { slugify: slug }, theme: { light: "github-light-high-contrast", dark: "github-dark-dimmed" } },
  themeConfig: {
    nav: [
      { text: "Demo", link: "/demo" },
      { text: "Docs", link: "/docs/runs", activeMatch: "^/docs/" },
      { text: "Commands", link: "/cli/", activeMatch: "^/cli/" },
      { text: "API", link: "/api/", activeMatch: "^/api/" },
      { text: "Papers", link: "/docs/objectives#papers" },
      { text: "Reports", link: "/reports" },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: {
      provider: "local",
      // an option stands on the page of every objective: what explains it comes first
      options: { miniSearch: { searchOptions: { boostDocument: (id) => (id.includes("/docs/") ? 4 : 1) } } },
    },
    docFooter: { prev: false, next: false },
  },
});
