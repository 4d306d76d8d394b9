import { cspHash, escapeHtml } from "../../../core/html.js";
import { REPORT_SCRIPT } from "../client.js";
import { REPORT_STYLE } from "../style.js";
import { LIVE_SCRIPT } from "./client.js";

const LIVE_STYLE = `
progress{width:100%;height:10px;accent-color:var(--s0)}#gone{font-weight:600}#fresh{margin:8px 0}
`.trim();

/** Holds what the page may load: its own style and scripts, and its own server's answers. */
export const LIVE_POLICY = [
  "default-src 'none'",
  `style-src ${cspHash(REPORT_STYLE)} ${cspHash(LIVE_STYLE)}`,
  `script-src ${cspHash(REPORT_SCRIPT)} ${cspHash(LIVE_SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page around what the script fetches. */
export function livePage(name: string): string {
  const tile = (id: string, label: string): string => `<div><dt>${label}</dt><dd id="${id}">–</dd></div>`;
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    `<title>${escapeHtml(name)}</title><style>${REPORT_STYLE}</style><style>${LIVE_STYLE}</style></head><body>`,
    `<header><h1 id="name">${escapeHtml(name)}</h1><p id="phase">Connecting…</p></header>`,
    `<progress id="progress" max="1" value="0" aria-label="Steps done"></progress>`,
    `<p id="gone" class="bad" role="status" hidden>The run has ended, or its process is gone. Its report.html has everything.</p>`,
    `<dl class="tiles">${tile("at", "step")}${tile("reward", "reward")}${tile("success", "success")}${tile("kl", "KL")}${tile("loss", "loss")}${tile("eta", "time left")}</dl>`,
    `<section><h2>Training</h2><div id="charts"><p>No step is recorded yet.</p></div></section>`,
    `<section id="rollouts"><h2>Latest rollouts, worst first</h2><div class="filters" hidden><fieldset><legend>Colour</legend>`,
    `<label><input type="radio" name="colour" value="order" checked> order</label><label><input type="radio" name="colour" value="probability"> probability</label></fieldset></div>`,
    `<button id="fresh" type="button" hidden>Show the newest step's</button><div id="latest"></div></section>`,
    `<section><h2>Notes</h2><ul id="notes"></ul></section>`,
    `<noscript><p class="bad">This page needs its script to follow the run.</p></noscript>`,
    `<script>${REPORT_SCRIPT}</script><script>${LIVE_SCRIPT}</script></body></html>`,
  ].join("\n");
}
