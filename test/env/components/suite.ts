import { build } from "./build.js";
import type { ComponentPage, Person } from "./page.js";
import { PAGES } from "./pages.js";
import { serve } from "./server.js";

/** Installs and bundles what is needed, and serves the pages. */
export async function startSuite() {
  const built = await build(PAGES.map((page) => page.id));
  return serve(new Map(PAGES.map((page) => [page.id, { page, built: built.get(page.id) as never }])));
}

/** The lines of a page's tasks file: the first person trains, the second validates, the third tests. */
export function tasksFile(page: ComponentPage): string {
  const lines = page.people.map((fields: Person, i) =>
    JSON.stringify({
      id: `${page.id}/${i + 1}`,
      form: page.id,
      title: page.title,
      url: `/${page.id}`,
      fields,
      split: ["train", "val", "test"][i],
    }),
  );
  return `${lines.join("\n")}\n`;
}
