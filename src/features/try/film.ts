import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { html, raw } from "hono/html";
import { visible } from "../../core/shown.js";
import type { DetailTable } from "../../env/environment.js";
import { cspHash } from "../report/html.js";
import { table } from "../report/rollouts.js";
import { REPORT_STYLE } from "../report/style.js";

/** A picture (JPEG) with its caption. */
export interface Frame {
  readonly caption: string;
  readonly image: Uint8Array;
}

/** Texts above the pictures of a film. */
export interface FilmText {
  /** The letter that the form was filled in from. */
  readonly letter?: string | undefined;
  /** The result in a sentence. */
  readonly verdict: string;
  readonly isGood: boolean;
  readonly tables: readonly DetailTable[];
}

/** Duration of a picture, in milliseconds. */
const FRAME_MS = 900;

const STYLE = `${REPORT_STYLE} figure { margin: 12px 0 } figcaption { font-weight: 400 } figcaption pre { min-height: 3em } td { overflow-wrap: anywhere }`;
const SCRIPT = `const frames = [...document.querySelectorAll("figure")], show = (n) => frames.forEach((f, i) => { f.hidden = i !== n; });
let at = 0, timer; const play = () => { show(at = 0); clearInterval(timer); timer = setInterval(() => { if (++at < frames.length) show(at); else clearInterval(timer); }, ${FRAME_MS}); };
document.querySelector("button").onclick = play; show(frames.length - 1);`;

/** Writes pictures as a page: the last one, and on a click all, one after the other, with captions. @returns its path. */
export function writeFilm(
  folder: string,
  title: string,
  frames: readonly Frame[],
  { letter, verdict, isGood, tables }: FilmText,
): string {
  mkdirSync(folder, { recursive: true });
  // several captions may share a picture
  const images = [...new Set(frames.map(({ image }) => image))];
  for (const [i, image] of images.entries()) writeFileSync(join(folder, `${i}.jpg`), image);
  const figures = frames.map(
    ({ caption, image }) =>
      html`<figure><figcaption><pre>${caption}</pre></figcaption><img src="${images.indexOf(image)}.jpg" alt=""></figure>\n`,
  );
  const page = join(folder, "index.html");
  const content = html`<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; img-src 'self' file:; style-src ${cspHash(STYLE)}; script-src ${cspHash(SCRIPT)}">
<meta name="viewport" content="width=device-width"><title>${title}</title><style>${raw(STYLE)}</style>
<header><h1>${title}</h1><p class="verdict ${isGood ? "good" : "bad"}">${verdict}</p></header>
<div class="columns">${letter !== undefined && html`<div><h2>The letter</h2><pre>${letter}</pre></div>`}<div>${tables.map(table)}</div></div>
<h2>The page</h2><button>Play round by round</button>
${figures}<script>${raw(SCRIPT)}</script></html>
`;
  // a page's text must not reorder or hide that of the film
  writeFileSync(page, visible(String(content), "\n\t"));
  return page;
}
