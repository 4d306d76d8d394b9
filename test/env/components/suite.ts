import { build } from "./build.js";
import type { ComponentPage, Person } from "./page.js";
import { pages as elements1 } from "./pages/elements-1.js";
import { pages as elements2 } from "./pages/elements-2.js";
import { pages as engines1 } from "./pages/engines-1.js";
import { pages as engines2 } from "./pages/engines-2.js";
import { pages as fifthE } from "./pages/fifth-e.js";
import { pages as fifthF } from "./pages/fifth-f.js";
import { pages as fifthG } from "./pages/fifth-g.js";
import { pages as fifthG2 } from "./pages/fifth-g-2.js";
import { pages as fourthC } from "./pages/fourth-c.js";
import { pages as fourthD } from "./pages/fourth-d.js";
import { pages as plain1 } from "./pages/plain-1.js";
import { pages as plain2 } from "./pages/plain-2.js";
import { pages as plain3 } from "./pages/plain-3.js";
import { pages as react1 } from "./pages/react-1.js";
import { pages as react2 } from "./pages/react-2.js";
import { pages as react3 } from "./pages/react-3.js";
import { pages as react4 } from "./pages/react-4.js";
import { pages as secondA } from "./pages/second-a.js";
import { pages as secondB } from "./pages/second-b.js";
import { pages as secondBPlain } from "./pages/second-b-plain.js";
import { pages as seventhK } from "./pages/seventh-k.js";
import { pages as seventhK2 } from "./pages/seventh-k-2.js";
import { pages as sixthH } from "./pages/sixth-h.js";
import { pages as sixthH2 } from "./pages/sixth-h-2.js";
import { pages as sixthI } from "./pages/sixth-i.js";
import { pages as sixthI2 } from "./pages/sixth-i-2.js";
import { pages as svelte1 } from "./pages/svelte-1.js";
import { pages as thirdA } from "./pages/third-a.js";
import { pages as thirdA2 } from "./pages/third-a-2.js";
import { pages as thirdB } from "./pages/third-b.js";
import { pages as thirdBPlain } from "./pages/third-b-plain.js";
import { pages as unseen1 } from "./pages/unseen-1.js";
import { pages as unseen2 } from "./pages/unseen-2.js";
import { pages as unseen3 } from "./pages/unseen-3.js";
import { pages as unseen4 } from "./pages/unseen-4.js";
import { pages as unseen5 } from "./pages/unseen-5.js";
import { pages as unseen7 } from "./pages/unseen-7.js";
import { pages as unseen8 } from "./pages/unseen-8.js";
import { pages as unseenReact1 } from "./pages/unseen-react-1.js";
import { pages as unseenSpa2 } from "./pages/unseen-spa-2.js";
import { pages as unseenVue1 } from "./pages/unseen-vue-1.js";
import { pages as vue1 } from "./pages/vue-1.js";
import { pages as vue2 } from "./pages/vue-2.js";
import { serve } from "./server.js";

/** Forms built with component libraries from npm. */
export const PAGES: readonly ComponentPage[] = [
  ...react1,
  ...react2,
  ...react3,
  ...plain1,
  ...plain2,
  ...vue1,
  ...elements1,
  ...engines1,
  ...react4,
  ...vue2,
  ...svelte1,
  ...elements2,
  ...plain3,
  ...engines2,
  ...unseen1,
  ...unseen2,
  ...unseen3,
  ...unseen4,
  ...unseen5,
  ...unseen7,
  ...unseen8,
  ...unseenReact1,
  ...unseenVue1,
  ...unseenSpa2,
  ...secondA,
  ...secondB,
  ...secondBPlain,
  ...thirdA,
  ...thirdA2,
  ...thirdB,
  ...thirdBPlain,
  ...fourthC,
  ...fourthD,
  ...fifthF,
  ...fifthE,
  ...fifthG,
  ...fifthG2,
  ...sixthI,
  ...sixthI2,
  ...sixthH,
  ...sixthH2,
  ...seventhK,
  ...seventhK2,
];

/** Installs and bundles what is needed, and serves the pages; `ids` picks some of them. */
export async function startSuite(ids: readonly string[] = PAGES.map((page) => page.id)) {
  const pages = PAGES.filter((page) => ids.includes(page.id));
  const built = await build(pages.map((page) => page.id));
  const entries = pages.map((page) => [page.id, { page, built: built.get(page.id) as never }] as const);
  return { ...(await serve(new Map(entries))), pages };
}

const SPLITS = ["train", "val", "test"] as const;

/**
 * The lines of a tasks file for `site.kind: url`: the first person of a page trains, the second validates, the third
 * tests; every fifth page is held out as a whole.
 */
export function tasksFile(pages: readonly ComponentPage[]): string {
  const lines = pages.flatMap((page, index) =>
    page.people.map((fields: Person, i) =>
      JSON.stringify({
        id: `${page.id}/${i + 1}`,
        form: page.id,
        title: page.title,
        url: `/${page.id}`,
        fields,
        split: index % 5 === 4 ? "heldout" : SPLITS[i % SPLITS.length],
      }),
    ),
  );
  return `${lines.join("\n")}\n`;
}
