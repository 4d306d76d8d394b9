/** The report's whole style: system fonts, light and dark by the reader's setting, four line colours told apart in both. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--fg:#1c2024;--dim:#60666d;--bg:#fff;--card:#f6f7f9;--rule:#dfe2e6;--s0:#0b62c4;--s1:#c2570c;--s2:#1a7f4b;--s3:#8a3ab9;--bad:#b3261e;--good:#1a7f4b}
@media (prefers-color-scheme:dark){:root{--fg:#e6e8ea;--dim:#9aa1a9;--bg:#15181b;--card:#1e2226;--rule:#343a40;--s0:#6db3ff;--s1:#ff9f5a;--s2:#5fd39a;--s3:#cf9bf2;--bad:#ff8a80;--good:#5fd39a}}
body{margin:0 auto;padding:24px;max-width:1360px;font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg)}
h1{font-size:24px;margin:0}h2{font-size:18px;margin:32px 0 8px}h3{font-size:13px;margin:12px 0 4px;color:var(--dim)}
header p,.dim{color:var(--dim);margin:2px 0}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(320px,1fr));gap:16px}
figure{margin:0;padding:12px;background:var(--card);border-radius:8px}figcaption{font-weight:600;margin-bottom:6px}svg{width:100%;height:auto;display:block}
.key{font-weight:400;font-size:12px;color:var(--dim);white-space:nowrap}.key:before{content:"";display:inline-block;width:10px;height:3px;margin:0 4px 3px 8px}
.k0:before{background:var(--s0)}.k1:before{background:var(--s1)}.k2:before{background:var(--s2)}.k3:before{background:var(--s3)}
.grid{stroke:var(--rule);stroke-width:1}.tick{fill:var(--dim);font-size:11px}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.line.s0{stroke:var(--s0)}.line.s1{stroke:var(--s1)}.line.s2{stroke:var(--s2)}.line.s3{stroke:var(--s3)}
.mark.s0{fill:var(--s0)}.mark.s1{fill:var(--s1)}.mark.s2{fill:var(--s2)}.mark.s3{fill:var(--s3)}
table{border-collapse:collapse;font-size:13px}th,td{padding:4px 10px 4px 0;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top;overflow-wrap:anywhere}
thead th{color:var(--dim);font-weight:600}tbody th,table th{font-weight:600}.num{font-variant-numeric:tabular-nums;white-space:nowrap}.wide{overflow-x:auto}.wide th,.wide td{overflow-wrap:normal;white-space:nowrap}
details{margin:8px 0}summary{cursor:pointer}.rollout{background:var(--card);border-radius:8px;padding:10px 14px}
pre{margin:0;padding:10px;background:var(--bg);border:1px solid var(--rule);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;font:12.5px/1.45 ui-monospace,monospace}
code{font:12.5px ui-monospace,monospace;white-space:pre-wrap}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:16px}.good{color:var(--good)}.bad,.problems{color:var(--bad)}
`.trim();
