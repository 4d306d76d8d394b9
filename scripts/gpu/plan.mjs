// The process of gpu-plan that runs on the stub. Its only argument is the plan as JSON.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "../bench/support.mjs";
import { log } from "../lib/setup.mjs";
import { measurePhases } from "./phases.mjs";
import { offDevice, watchPlacement } from "./placement.mjs";
import { writeRandomModel } from "./random-model.mjs";
import { rolesTable } from "./roles.mjs";
import { estimate, gemmTable } from "./roofline.mjs";
import { openCounters } from "./stub.mjs";

const plan = JSON.parse(process.argv[2]);
const { Rng } = await load("core/rng.js");
const { Runtime } = await load("onnx/session.js");
const { read } = await openCounters();
const dir = mkdtempSync(join(tmpdir(), "gpu-plan-"));
const phases = {};
/** Counters of each phase's first run, which builds and loads its graphs. */
const first = {};
const sessions = [];
let failure;
let weights;
try {
  weights = await writeRandomModel(dir, plan.shape, plan.quantize, { sparse: true });
  const placements = [];
  const meter = async (what, work) => {
    read();
    const result = await work();
    phases[what] = read();
    first[what] ??= phases[what];
    return { result };
  };
  const openRuntime = async (options) =>
    watchPlacement(
      finite(await Runtime.open({ ...options, precision: plan.precision, threads: 1 })),
      placements,
      sessions,
      plan.rates,
    );
  try {
    const { rank, microBatch, checkpoint, cached, memory } = plan;
    const chosen = { rank, microBatch, checkpoint, cached, memory };
    const options = { provider: "cuda", repeats: 1, log, meter, openRuntime, ...chosen };
    await measurePhases(dir, plan.shape, options);
  } catch (error) {
    const counted = read();
    failure = { message: error.message, peak: counted.peak, refused: counted.refused };
  }
  const nodes = offDevice(placements);
  const estimates = Object.fromEntries(Object.entries(phases).map(([what, c]) => [what, estimate(c, plan.rates)]));
  const result = { plan, weights, first, phases, estimates, sessions, offDevice: nodes, failure };
  if (plan.json !== undefined) writeFileSync(plan.json, `${JSON.stringify(result, undefined, 2)}\n`);
  process.stdout.write(markdown(result));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
if (failure !== undefined) process.exitCode = 1;

/**
 * Makes a runtime return numbers, since nothing is computed: 0 for what is none, and for statistics of rounds random
 * ones, so that the rows of a group differ as those of a model do (equal rows would be computed once).
 */
function finite(runtime) {
  const rng = Rng.named(0, "gpu-plan");
  const run = runtime.run.bind(runtime);
  const ordinary = plan.shape.vocab - 3;
  runtime.run = async (...call) => {
    const results = await run(...call);
    for (const { dtype, data } of Object.values(results))
      if (dtype === "float32") data.set(data.map((x) => (Number.isFinite(x) ? x : 0)));
    const { token, argmax, top, eos_is_argmax: isEos } = results;
    if (argmax === undefined || top === undefined) return results;
    for (const { data } of token === undefined ? [argmax] : [token, argmax])
      data.set(data.map(() => BigInt(rng.int(ordinary))));
    top.data.set(top.data.map(() => rng.uniform()));
    isEos?.data.fill(0);
    return results;
  };
  return runtime;
}

function markdown({ weights, first, phases, estimates, sessions, offDevice, failure }) {
  const gb = (bytes) => (bytes / 1e9).toFixed(2);
  const mb = (bytes) => (bytes / 1e6).toFixed(2);
  const { shape, quantize, gpuBytes } = plan;
  const rows = Object.entries(phases).map(([what, c]) => {
    const { seconds } = estimates[what];
    return `| ${what} | ${gb(c.peak)} | ${c.syncs} | ${mb(c.toDevice.bytes)} | ${mb(c.toHost.bytes)} | ${c.launches} | ${seconds.toFixed(2)} |`;
  });
  const heavy = Object.entries(phases).flatMap(([what, c]) =>
    gemmTable(c)
      .slice(0, 8)
      .map(
        ({ types, m, n, k, batch, count, flop }) =>
          `| ${what} | ${types} | ${m} x ${n} x ${k}${batch > 1 ? ` x ${batch}` : ""} | ${count} | ${(flop / 1e12).toFixed(2)} |`,
      ),
  );
  return [
    `${quantize}, ${plan.precision} layers, ${shape.layers} layers of ${shape.hidden}, prompt ${shape.prompt}, response ${shape.response}, T = ${shape.rounds}, G = ${shape.group}, on a card of ${gb(gpuBytes)} GB`,
    "",
    "| phase | peak GB | syncs | MB to the device | MB back | launches | roofline s |",
    "|---|---|---|---|---|---|---|",
    ...rows,
    "",
    "| phase | product of | m x n x k | times | TFLOP |",
    "|---|---|---|---|---|",
    ...heavy,
    "",
    ...rolesTable(sessions),
    "",
    `Weights: ${gb(weights)} GB on disk; to the device when graphs were loaded: ${Object.entries(first)
      .map(([what, c]) => `${gb(c.toDevice.bytes)} GB (${what})`)
      .join(", ")}`,
    "",
    `Nodes off the device: ${offDevice.length === 0 ? "none" : offDevice.map(({ session, op, count }) => `${count} ${op} (${session})`).join(", ")}`,
    "",
    ...(failure === undefined
      ? []
      : [`FAILED: ${failure.message} (peak ${gb(failure.peak)} GB, refused ${gb(failure.refused)} GB)`, ""]),
  ].join("\n");
}
