import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../src/core/files.js";
import { loadFolder } from "../../src/core/registry.js";
import { Emitter } from "../../src/onnx/emit.js";
import { GraphBuilder } from "../../src/onnx/graph.js";
import type { Dim, DType, Value } from "../../src/onnx/types.js";
import type { LossInputs, Objective } from "../../src/rl/objective.js";
import { STEP_KEYS, TIME_KEYS } from "../../src/runs/metrics.js";
import { ALARMS } from "../../src/watch/alarms.js";
import { trackerKinds } from "../../src/watch/tracker.js";

/** Keys of the training loop, in addition to those of the environment, the sampler and the objective's loss. */
const RECIPE_KEYS = [
  ...["after_eos_fraction", "blanks_cut", "ended_by_eos", "episodes_played", "gradient_agreement"],
  ...["gradient_noise_fraction", "gradient_noise_scale", "importance_distance", "importance_truncated"],
  ...["importance_weight", "mask_noise_fraction", "nonfinite_steps", "on_policy_ratio_error", "response_length"],
  ...["skipped_steps", "staleness"],
] as const;

const doc = readFileSync(join(packageRoot(), "docs", "runs.md"), "utf8");

/** Reads the rows of a section's first table: key, unit, meaning, ... */
function rows(section: string): string[][] {
  const [, text = ""] = doc.split(`### ${section}\n`);
  const [, , ...lines] = (/(?:^\|.*\n)+/m.exec(text)?.[0] ?? "").trim().split("\n");
  return lines.map((line) => (line.match(/[^|]+/g) ?? []).map((cell) => cell.trim()));
}
const keys = (section: string): string[] => rows(section).map(([key]) => (key ?? "").replaceAll("`", ""));

test("every key of every line is in docs/runs.md, and no other, in its order", () => {
  assert.deepEqual(keys("Every step"), [...STEP_KEYS, "time", ...TIME_KEYS.map((key) => `time.${key}`)]);
  assert.deepEqual(keys("Reinforcement"), [...RECIPE_KEYS]);
  for (const section of ["Every step", "Reinforcement", "Of the objective's loss"]) {
    for (const [key, unit, meaning] of rows(section)) assert.ok(unit && meaning && meaning.length > 3, key);
  }
});

const HIDDEN = 4;
/** Sizes of the symbols in the shapes of an objective's inputs. */
const SIZES: Readonly<Record<string, number>> = { B: 2, N: 4, S: 4 };

type Spec = readonly [name: string, { readonly dtype: DType; readonly shape: readonly Dim[] }];

function named(e: Emitter, specs: readonly Spec[]): Record<string, Value> {
  const size = (dim: Dim): number => (typeof dim === "number" ? dim : (SIZES[dim] ?? 4));
  return Object.fromEntries(specs.map(([name, of]) => [name, e.g.input(name, of.dtype, of.shape.map(size))]));
}

type Four = [Value, Value, Value, Value];

/** Collects the metrics that an objective's loss reports by building the loss. */
function lossMetrics(objective: Objective): string[] {
  const e = new Emitter(new GraphBuilder("loss"));
  // includes the metrics that an option adds
  const options = objective.schema.parse("entropy_coeff" in objective.schema.shape ? { entropy_coeff: 0.1 } : {});
  const groups = objective.parameters?.(options, { hiddenSize: HIDDEN }) ?? [];
  const input = (name: string): LossInputs["logProb"] => e.g.input(name, "float32", [4]);
  const [logProbs, coefficient, units, weight] = ["logProbs", "coefficient", "units", "weight"].map(input) as Four;
  const [logProb, old, reference, advantage] = ["logProb", "old", "reference", "advantage"].map(input) as Four;
  const { inputs: critic } = objective.critic?.(options, { hiddenSize: HIDDEN }) ?? {};
  const own = groups.flatMap(({ parameters }) => parameters);
  const inputs: LossInputs = {
    ...{ e, logProbs, coefficient, units, weight, logProb, old, reference, advantage },
    entropy: () => input("entropy"),
    hidden: e.g.input("hidden", "float32", [8, HIDDEN]),
    extra: named(e, Object.entries({ ...objective.inputs, ...critic })),
    parameters: named(
      e,
      own.map(({ name, shape }) => [name, { dtype: "float32", shape }]),
    ),
  };
  return Object.keys(objective.loss(inputs, options).metrics);
}

test("every metric of every objective's loss is there, with the objectives that have it", async () => {
  const objectives = await loadFolder<Objective>(new URL("../../src/rl/objectives/", import.meta.url), "objective");
  const expected = new Map<string, string[]>();
  for (const [name, objective] of objectives) {
    if (objective.learnsFrom !== "rollouts") continue;
    for (const metric of lossMetrics(objective)) {
      if (!(STEP_KEYS as readonly string[]).includes(metric))
        expected.set(metric, [...(expected.get(metric) ?? []), name]);
    }
  }
  const listed = rows("Of the objective's loss").map(([key = "", , , of = ""]) => {
    return `${key}: ${of.replaceAll("`", "").split(", ").sort()}`;
  });
  const wanted = [...expected].map(([key, names]) => `\`${key}\`: ${names.sort()}`);
  assert.deepEqual(listed.sort(), wanted.sort());
});

test("every alarm is there, with its limit and how many steps it looks at", () => {
  assert.deepEqual(
    rows("Alarms").map((row) => row.slice(0, 3)),
    ALARMS.map(({ key, limit, window }) => [`\`${key}\``, String(limit), String(window)]),
  );
});

test("every tracker is shown in the example", async () => {
  for (const name of (await trackerKinds()).keys()) assert.match(doc, new RegExp(`^  ${name}: `, "m"));
});
