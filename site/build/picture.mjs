// node site/build/picture.mjs: draws docs/unmasking.svg, the animation of README and of the site's first screen. It
// shows one episode of the letters model with the demo's adapter: the first letter for a form outside of training that
// the policy answers without a mistake, in four rounds, with seed 0.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { shownParts } from "../demo/shown.mjs";
import { ADAPTER, CONFIG } from "./demo-files.mjs";
import { compiled, ROOT } from "./paths.mjs";

const ROUNDS = 4;
const SEED = 0;
/** Seconds before the first round, of each round, and at the end. */
const TIME = { begin: 1, round: 1.1, end: 4 };
const WIDTH = 480;
const CHARACTER = 7.9;

/** Plays episodes in the browser until one succeeds. @returns that episode. */
export async function recordEpisode() {
  const { loadConfig } = await compiled("config/config.js");
  const { openPolicy } = await compiled("library/policy.js");
  const { openEnvironment } = await compiled("env/open.js");
  const { Rng } = await compiled("core/rng.js");
  const { reveals } = await compiled("diffusion/samplers/unmask/trajectory.js");
  const { isRoom } = await compiled("diffusion/template.js");
  const { spell } = await compiled("text/token-text.js");
  const config = await loadConfig(CONFIG, { overrides: [`init_adapter=${ADAPTER}`, `sampler.rounds=${ROUNDS}`] });
  const { policy, close } = await openPolicy({ config });
  const environment = await openEnvironment(config);
  try {
    await environment.start();
    for (const task of environment.tasks.filter(({ split }) => split === "heldout")) {
      let trajectory;
      const outcome = await environment.play(
        task,
        async (observation) => {
          const rngs = [Rng.named(SEED, "answer/0")];
          [trajectory] = await policy.sampler.rollout(
            policy.rounds,
            [policy.startOf(observation)],
            policy.options,
            rngs,
          );
          return policy.actionOf(trajectory);
        },
        new Map(),
      );
      if (!outcome.success) continue;
      const { eos } = policy.options.model.tokens;
      const parts = shownParts(trajectory, policy.model.tokenizer, eos, { reveals, isRoom, spell });
      const lines = parts.flatMap(({ cells }, i) =>
        cells === undefined ? [] : [{ given: parts[i - 1].text.trim(), cells }],
      );
      return { task, lines, reward: outcome.reward, posted: outcome.detail.posted, rounds: trajectory.rounds.length };
    }
  } finally {
    await close();
    await environment.close();
  }
  throw new Error("no episode succeeds");
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const round1 = (x) => Math.round(x * 10) / 10;

function wrap(text, width) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    if (`${lines.at(-1)} ${word}`.length > width) lines.push("");
    lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
  }
  return lines;
}

/** Draws an episode as an animated SVG. */
export function draw({ task, lines, reward, posted, rounds }) {
  const total = TIME.begin + rounds * TIME.round + TIME.end;
  const share = (seconds) => round1((100 * seconds) / total);
  const appears = (n) => {
    const at = TIME.begin + n * TIME.round;
    return `0%, ${share(at)}% { opacity: 0 } ${share(at + 0.25)}%, 100% { opacity: 1 }`;
  };
  const out = [];
  let y = 34;
  const text = (x, content, attributes = "") =>
    out.push(`<text x="${round1(x)}" y="${round1(y)}" ${attributes}>${escaped(content)}</text>`);
  text(24, `A letter, for a form that is in no training`, 'class="head"');
  y += 16;
  const letter = wrap(task.document, 50);
  out.push(`<rect x="24" y="${y}" width="${WIDTH - 48}" height="${letter.length * 21 + 20}" rx="8" class="paper"/>`);
  y += 26;
  for (const line of letter) {
    text(38, line, 'class="letter"');
    y += 21;
  }
  y += 26;
  text(24, "The page gives the lines, the model fills the blanks in parallel", 'class="head"');
  const left = 24 + CHARACTER * Math.max(...lines.map(({ given }) => given.length)) + 10;
  y += 30;
  for (const { given, cells } of lines) {
    text(24, given, 'class="mono given"');
    let x = left;
    const end = cells.find(({ isEnd }) => isEnd)?.round;
    for (const { text: token, round, isEnd } of cells) {
      const width = round1(Math.max(11, CHARACTER * (token ?? "").length + (token === "" ? 0 : 6)));
      const closed = round < 0 && end !== undefined ? ` gone${end}` : "";
      out.push(`<rect x="${round1(x)}" y="${y - 15}" width="${width}" height="21" rx="4" class="mask${closed}"/>`);
      if (round >= 0)
        out.push(
          `<g class="at${round}"><rect x="${round1(x)}" y="${y - 15}" width="${width}" height="21" rx="4" class="c${round % 4}"/>` +
            (isEnd
              ? `<rect x="${round1(x + width / 2 - 2)}" y="${y - 7}" width="4" height="4" class="end"/>`
              : `<text x="${round1(x + 3)}" y="${y}" class="mono" textLength="${round1(width - 6)}" xml:space="preserve">${escaped(token)}</text>`) +
            "</g>",
        );
      x += width + 2;
    }
    y += 31;
  }
  y += 8;
  out.push(`<g class="at${rounds}">`);
  text(24, `The server received, after ${rounds} rounds`, 'class="head"');
  text(WIDTH - 24, `reward ${reward.toFixed(2)}`, 'class="head reward" text-anchor="end"');
  y += 26;
  for (const row of wrap(posted.map(([name, value]) => `${name}=${value.replaceAll(" ", "+")}`).join(" & "), 54)) {
    text(24, row, 'class="mono"');
    y += 20;
  }
  out.push("</g>");
  const height = y + 6;
  for (let n = 0; n < rounds; n++) {
    const x = WIDTH - 24 - (rounds - n) * 26;
    out.push(
      `<g class="at${n}"><circle cx="${x + 12}" cy="29" r="10" class="c${n % 4}"/><text x="${x + 12}" y="33" class="round" text-anchor="middle">${n + 1}</text></g>`,
    );
  }
  const moves = Array.from({ length: rounds + 1 }, (_, n) => [
    `@keyframes at${n} { ${appears(n)} }`,
    `.at${n} { animation: at${n} ${round1(total)}s linear infinite }`,
    `@keyframes gone${n} { 0%, ${share(TIME.begin + n * TIME.round)}% { opacity: 1 } ${share(TIME.begin + n * TIME.round + 0.25)}%, 100% { opacity: .15 } }`,
    `.gone${n} { opacity: .15; animation: gone${n} ${round1(total)}s linear infinite }`,
  ]).flat();
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(`A letter, and the lines of a form whose blanks are filled in ${rounds} rounds; every field is right.`)}">
<style>
.card { fill: #fff; stroke: #d5dae1 } .paper { fill: #f4f6f9 } text { fill: #1c2530; font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
.letter { font-size: 15px } .head { font-size: 13px; fill: #55606d } .reward { font-weight: 700; fill: #16693d } .mono { font: 13px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace }
.given { fill: #55606d } .mask { fill: none; stroke: #aab4c0; stroke-dasharray: 3 2 } .end { fill: #1c2530; opacity: .55 } .round { font-size: 11px }
.c0 { fill: #cfe3ff } .c1 { fill: #d3f0d8 } .c2 { fill: #ffe3b3 } .c3 { fill: #f6cfe2 }
${moves.join("\n")}
@media (prefers-color-scheme: dark) {
.card { fill: #171b21; stroke: #3a424d } .paper { fill: #20262e } text { fill: #e7ebf0 } .head, .given { fill: #a7b1bd } .reward { fill: #7fd3a1 } .mask { stroke: #5d6875 } .end { fill: #e7ebf0 }
.c0 { fill: #1d4674 } .c1 { fill: #1e5433 } .c2 { fill: #6a4a10 } .c3 { fill: #6b2a4d }
}
@media (prefers-reduced-motion: reduce) { [class] { animation: none !important } }
</style>
<rect x=".5" y=".5" width="${WIDTH - 1}" height="${height - 1}" rx="12" class="card"/>
${out.join("\n")}
</svg>
`;
}

/** Draws the picture to a file. */
export async function drawPicture(target = join(ROOT, "docs", "unmasking.svg")) {
  writeFileSync(target, draw(await recordEpisode()));
}

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) await drawPicture(process.argv[2]);
