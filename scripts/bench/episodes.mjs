// node scripts/bench/episodes.mjs CONTEXTS EPISODES [DIST]: plays the oracle on the embedded site and measures CPU time
// of this process and its browser (Linux), and episodes per second. DIST is the `dist` of a checkout to compare with.
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [contexts = "1", episodes = "40", dist = "dist"] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(resolve(dist, path)).href);
const { environment } = await load("src/env/environments/forms.js");
const { Rng } = await load("src/core/rng.js");

/** Reads the session of a process and its CPU seconds, which include its children that have ended. */
function processOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { session: fields[3], cpu: ticks / 100 };
}

function cpuOf(session) {
  let sum = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      const one = processOf(pid);
      if (one.session === session) sum += one.cpu;
    } catch {
      // the process has ended in the meantime
    }
  return sum;
}

const sizes = { train: 16, val: 0, test: 0, heldout: 0 };
const site = { kind: "embedded", tier: "starter", seed: 1, sizes };
const env = await environment.open({ site, browser: { contexts: Number(contexts) }, prompt: {}, plan: "free" });
const { session } = processOf(await (await env.runner()).browserPid());
let next = 0;
async function play() {
  const task = env.tasks[(next++ * 7) % env.tasks.length];
  const act = await env.fixedPolicies.oracle(task, Rng.named(0, "oracle"));
  return (await env.play(task, act, new Map())).success;
}
for (let i = 0; i < 8; i++) await play();
const [browser, own, start] = [cpuOf(session), process.cpuUsage(), performance.now()];
let left = Number(episodes);
let right = 0;
const work = async () => {
  while (left-- > 0) right += Number(await play());
};
await Promise.all(Array.from({ length: Number(contexts) }, work));
const seconds = (performance.now() - start) / 1000;
const { user, system } = process.cpuUsage(own);
const each = (ms) => Number((ms / Number(episodes)).toFixed(1));
console.log(
  JSON.stringify({
    contexts: Number(contexts),
    episodes: Number(episodes),
    right,
    episodes_per_s: Number((Number(episodes) / seconds).toFixed(2)),
    cpu_ms: { node: each((user + system) / 1000), browser: each((cpuOf(session) - browser) * 1000) },
  }),
);
await env.close();
