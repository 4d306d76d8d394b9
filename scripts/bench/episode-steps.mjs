/**
 * Attributes the CPU time of episodes in one context to their steps. What a step starts in the browser and what goes on
 * there during the next one counts as the next one's.
 */
import { cpuByKind, findProcesses } from "./processes.mjs";
import { load } from "./support.mjs";

const BETWEEN = "between";
/** The calls with which steps begin, and what begins where a call ends. */
const CALLS = [
  ["env/browser/episode.js", "EpisodeRunner", "attempt", BETWEEN, BETWEEN],
  ["env/browser/session.js", "Session", "goto", "open", "read"],
  ["env/browser/submit.js", "FormFiller", "carryOut", "fill", BETWEEN],
  ["env/browser/submit.js", "FormFiller", "press", "press", BETWEEN],
  ["env/browser/session.js", "Session", "answered", "answer", "verdict"],
];
/** The steps in their order. */
export const STEPS = [...new Set([...CALLS.flatMap(([, , , begins, ends]) => [begins, ends])])];

let mark;

/** Follows the steps from here on. @returns a function that ends this, and gives the milliseconds by step and kind. */
export async function watchSteps() {
  if (mark === undefined) await install();
  const spent = {};
  let processes = findProcesses();
  let [step, before] = [BETWEEN, cpuByKind(processes)];
  mark = (next) => {
    const now = cpuByKind(processes);
    spent[step] ??= {};
    const sums = spent[step];
    for (const [kind, ms] of Object.entries(now)) sums[kind] = (sums[kind] ?? 0) + ms - (before[kind] ?? 0);
    if (next === BETWEEN) processes = findProcesses();
    // this function's own time is left out
    [step, before] = [next, cpuByKind(processes)];
  };
  return () => {
    mark(BETWEEN);
    mark = () => undefined;
    return spent;
  };
}

async function install() {
  mark = () => undefined;
  for (const [file, name, method, begins, ends] of CALLS) {
    const { prototype } = (await load(file))[name];
    const call = prototype[method];
    prototype[method] = async function (...args) {
      mark(begins);
      try {
        return await call.apply(this, args);
      } finally {
        mark(ends);
      }
    };
  }
}
