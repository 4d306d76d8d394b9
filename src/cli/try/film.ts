import { cspHash, escapeHtml } from "../../core/html.js";

/** Time that a picture stands, in milliseconds. */
const FRAME_MS = 900;

const STYLE = `body { font: 16px system-ui, sans-serif; margin: 1.5rem; max-width: 860px }
img { max-width: 100%; border: 1px solid #999 } pre { white-space: pre-wrap; min-height: 3em }`;
const SCRIPT = `const frames = [...document.querySelectorAll("figure")], show = (n) => frames.forEach((f, i) => { f.hidden = i !== n; });
let at = 0, timer; const play = () => { show(at = 0); clearInterval(timer); timer = setInterval(() => { if (++at < frames.length) show(at); else clearInterval(timer); }, ${FRAME_MS}); };
document.querySelector("button").onclick = play; play();`;

/** A page that shows `0.jpg`, `1.jpg`, ... of its own folder one after the other, each with its caption. */
export function filmPage(title: string, captions: readonly string[]): string {
  const figures = captions.map(
    (caption, i) =>
      `<figure><figcaption><pre>${escapeHtml(caption)}</pre></figcaption><img src="${i}.jpg" alt=""></figure>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; img-src 'self' file:; style-src ${cspHash(STYLE)}; script-src ${cspHash(SCRIPT)}">
<title>${escapeHtml(title)}</title><style>${STYLE}</style><h1>${escapeHtml(title)}</h1><button>Play</button>
${figures.join("\n")}<script>${SCRIPT}</script></html>
`;
}
