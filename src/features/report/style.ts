import { CHART_STYLE } from "./client.js";

/** Shades of the order (o0 first .. o7 last) and the probability (p0 unlikely .. p7 likely), behind readable text. */
const LIGHT = {
  order: ["fff1b8", "e2f0a8", "bce6b5", "97dcc6", "86cbdb", "8bb4e2", "a09fe0", "bd92da"],
  probability: ["ff9c8c", "ffae9b", "ffc0ab", "ffd1bd", "ffe0ce", "ffecdd", "fff6ec", "f6f7f9"],
};
const DARK = {
  order: ["5a4e12", "414f1a", "235330", "125449", "12506b", "234680", "403b8c", "612f88"],
  probability: ["93281b", "80301f", "6e3423", "5c3627", "4b352a", "3d332c", "302f2e", "1e2226"],
};

function shades(palette: typeof LIGHT): string {
  const rules = (kind: keyof typeof LIGHT, prefix: string): string =>
    palette[kind].map((colour, i) => `--${prefix}${i}:#${colour}`).join(";");
  return `${rules("order", "o")};${rules("probability", "p")}`;
}

const INDICES = LIGHT.order.map((_, i) => i);

/** The pages' style sheet: system fonts, light and dark mode, colours distinguishable in both. */
export const REPORT_STYLE = `
${CHART_STYLE}
:root{color-scheme:light dark;--fg:#1c2024;--dim:#565c63;--bg:#fff;--card:#f6f7f9;--rule:#dfe2e6;--focus:#0b62c4;--s0:#0b62c4;--s1:#b34f0b;--s2:#1a7f4b;--s3:#8a3ab9;--s4:#b0235f;--s5:#0d7d86;--s6:#7a6400;--s7:#5b6470;--bad:#b3261e;--good:#17703f;${shades(LIGHT)}}
@media (prefers-color-scheme:dark){:root{--fg:#e6e8ea;--dim:#a3abb3;--bg:#15181b;--card:#1e2226;--rule:#343a40;--focus:#6db3ff;--s0:#6db3ff;--s1:#ff9f5a;--s2:#5fd39a;--s3:#cf9bf2;--s4:#ff8ab5;--s5:#5ccfd8;--s6:#d9c04d;--s7:#a9b4c0;--bad:#ff8a80;--good:#5fd39a;${shades(DARK)}}}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px;max-width:1360px;font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg)}
h1{font-size:24px;margin:0;overflow-wrap:anywhere}h2{font-size:18px;margin:32px 0 8px}h3{font-size:13px;margin:12px 0 4px;color:var(--dim)}
.outcome{font-size:17px;color:var(--fg)!important;max-width:75ch}header p,.dim{color:var(--dim);margin:2px 0}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px}
[hidden]{display:none!important}
.tiles{display:flex;flex-wrap:wrap;gap:12px;margin:16px 0 0;padding:0}.tiles>div{background:var(--card);border-radius:8px;padding:8px 14px;min-width:120px}.tiles dt{font-size:12px;color:var(--dim)}.tiles dd{margin:0;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums}.tiles small{font-size:12px;font-weight:400;color:var(--dim)}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr));gap:16px;margin:8px 0}
figure{margin:0;padding:12px;background:var(--card);border-radius:8px;min-width:0}figcaption{font-weight:600;margin-bottom:6px}.u-legend .u-series:first-child .u-marker{display:none}.plot{min-height:196px;color:var(--dim)}.plot .u-legend{font-size:12px;margin:0;text-align:left;font-variant-numeric:tabular-nums}.plot .u-legend :is(th,td){border:0;padding:2px 4px 0 0;font-weight:400}
.key{font-weight:400;font-size:12px;color:var(--dim);white-space:nowrap}.key:before{content:"";display:inline-block;width:10px;height:3px;margin:0 4px 3px 8px}
.k0:before{background:var(--s0)}.k1:before{background:var(--s1)}.k2:before{background:var(--s2)}.k3:before{background:var(--s3)}
.grid{stroke:var(--rule);stroke-width:1}.whisker{stroke-width:1.5}.whisker.s0{stroke:var(--s0)}.whisker.s1{stroke:var(--s1)}.mark.s0{fill:var(--s0)}.mark.s1{fill:var(--s1)}
table{border-collapse:collapse;font-size:13px}th,td{padding:4px 10px 4px 0;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top;overflow-wrap:break-word}
thead th{color:var(--dim);font-weight:600}.num{font-variant-numeric:tabular-nums;white-space:nowrap}.fate{white-space:nowrap}.wide{overflow-x:auto}.wide th,.wide td{overflow-wrap:normal;white-space:nowrap}.bar{vertical-align:middle}
details{margin:8px 0}summary{cursor:pointer}.rollout{background:var(--card);border-radius:8px;padding:10px 14px;content-visibility:auto;contain-intrinsic-size:auto 44px}.rollout summary{overflow-wrap:anywhere}
.rollout[open]{contain-intrinsic-size:auto 700px}
pre,.heat{margin:0;padding:10px;background:var(--bg);border:1px solid var(--rule);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;font:12.5px/1.6 ui-monospace,monospace}
code{font:12.5px ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
.heat span{border-radius:3px;padding:1px 0}.heat span.at{outline:2px solid var(--fg);outline-offset:1px}.low{text-decoration:underline dotted;text-underline-offset:3px}
${INDICES.map((i) => `.o${i}{background:var(--o${i})}`).join("")}
${INDICES.map((i) => `[data-colour=probability] .heat .p${i},.swatch.p${i}{background:var(--p${i})}`).join("")}
.swatch{display:inline-block;padding:0 6px;border-radius:3px;color:var(--fg);margin-right:2px}.legend{font-size:12px}.by-probability{display:none}[data-colour=probability] .by-order{display:none}[data-colour=probability] .by-probability{display:inline}
.probe{margin:2px 0;font-size:12.5px;min-height:20px;font-variant-numeric:tabular-nums}
.filters{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:center;margin:12px 0;font-size:13px}.filters fieldset{border:0;margin:0;padding:0;display:flex;gap:8px}.filters legend{float:left;margin-right:8px;padding:0}.filters input[type=search],.filters select,button{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--dim);border-radius:6px;padding:3px 8px;max-width:100%}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:16px}.columns>div{min-width:0;overflow-x:auto}.good{color:var(--good)}.bad,.problems{color:var(--bad)}.verdict{font-weight:600}
img{display:block;max-width:100%;border:1px solid var(--rule);border-radius:6px}
.num small{font-size:inherit}.changes .num{white-space:normal}.changes small{font-weight:400;white-space:nowrap}
@media (max-width:600px){.changes{width:100%}.changes :is(th,td){padding-right:6px}.changes small{display:block;font-size:10.5px}.wide:before{content:"more to the right \\2192";display:block;position:sticky;left:0;width:max-content;font-size:12px;color:var(--dim)}body{padding:12px}h1{font-size:20px}.filters label,.filters select,.filters input[type=search]{width:100%}.filters fieldset label{width:auto}}
@media print{.filters{display:none}}
`.trim();
