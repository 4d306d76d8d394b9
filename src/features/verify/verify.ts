import type { RunConfig } from "../../config/config.js";
import { closing } from "../../core/closing.js";
import { misuse, UserError } from "../../core/errors.js";
import type { Observation } from "../../core/interaction.js";
import { isModulePath } from "../../core/own-module.js";
import { loadFolder } from "../../core/registry.js";
import { Rng } from "../../core/rng.js";
import { promptOf, type TextStart } from "../../diffusion/template.js";
import { checkSpaces, type Policy } from "../../engine/policy.js";
import type { Environment, EnvironmentTask } from "../../env/environment.js";
import { openEnvironment, tasksOf } from "../../env/open.js";
import type { Objective } from "../../rl/objective.js";
import { objectiveKinds } from "../../rl/objective-kinds.js";
import { formatTable } from "../../runs/evaluation.js";
import { playFixed } from "../../train/play-fixed.js";
import { openContext, randomPrompts, unscorable } from "./context.js";
import { holds, type Measurement, type ObjectiveOnTrial, type Proof } from "./proof.js";

/** Number of prompts from which proofs draw. */
const PROMPTS = 64;
/** Episodes played for prompts where observations are unknown without playing. */
const PLAYED = 8;

/** One line of the table. */
export interface ProofLine extends Measurement {
  /** The proof's file name. */
  readonly proof: string;
  readonly pass: boolean;
}

export interface VerifyOptions {
  readonly config: RunConfig;
  /** One objective; undefined: all that learn from rollouts. */
  readonly objective: string | undefined;
  /** Proofs by name; empty: all. */
  readonly only: readonly string[];
  readonly signal: AbortSignal;
  /** Called before each proof. */
  readonly onProof?: (name: string, claim: string) => void;
  readonly onNote?: (text: string) => void;
}

/** Runs the proofs on a config's model and sampler: no training, no browser. */
export async function verify(options: VerifyOptions): Promise<ProofLine[]> {
  const { config } = options;
  const proofs = await chosenProofs(options.only);
  const { own, trials } = await objectivesOnTrial(config, options.objective);
  await using context = closing(
    await openContext(config, trials, (policy) => findPrompts(config, policy, options.onNote)),
  );
  const unseen = own && unproved(own, context.policy);
  const lines: ProofLine[] = [];
  for (const [name, proof] of proofs) {
    options.signal.throwIfAborted();
    options.onProof?.(name, proof.claim);
    for (const measurement of await proof.run(context))
      lines.push({ proof: name, ...measurement, pass: holds(measurement) });
  }
  return unseen === undefined ? lines : [...lines, unseen];
}

export async function loadProofs(): Promise<Map<string, Proof>> {
  return loadFolder<Proof>(new URL("./proofs/", import.meta.url), "proof");
}

async function chosenProofs(only: readonly string[]): Promise<Map<string, Proof>> {
  const proofs = await loadProofs();
  for (const name of only) {
    if (!proofs.has(name)) misuse(`There is no proof ${name}; there are ${[...proofs.keys()].join(", ")}.`);
  }
  return only.length === 0 ? proofs : new Map([...proofs].filter(([name]) => only.includes(name)));
}

/** Names what no proof sees of an objective of the user's own. */
function unproved(own: ObjectiveOnTrial, policy: Policy): ProofLine {
  const reason = unscorable(own, policy);
  const what = reason === undefined ? "its factor, and weights by length" : "cannot be scored here";
  const detail =
    reason ??
    "seen by no proof, as such a step raises the reward too: compare `size` (signal) with a shipped objective's, and the loss with your formula";
  const line = { proof: "objective", name: `${own.objective.name}: ${what}`, measured: 0, limit: 0, detail };
  return { ...line, pass: true, proved: false };
}

/**
 * Returns the objectives that learn from rollouts, or the one that is asked for, and the one of a user's own module.
 * The config's objective is first and has the config's options; the others have defaults.
 */
async function objectivesOnTrial(
  config: RunConfig,
  only: string | undefined,
): Promise<{ readonly own: ObjectiveOnTrial | undefined; readonly trials: readonly ObjectiveOnTrial[] }> {
  const { kind, ...section } = config.objective;
  const known = await objectiveKinds(kind);
  const first = known.get(kind);
  const all = [...known.values()].filter((o) => o.learnsFrom === "rollouts");
  const chosen = all.filter((one) => only === undefined || one.name === only || (one === first && kind === only));
  if (chosen.length === 0)
    misuse(`${only} is no objective that learns from rollouts; those are ${all.map((o) => o.name).join(", ")}.`);
  const trialOf = (objective: Objective): ObjectiveOnTrial => {
    const parsed = objective.schema.strict().safeParse(section);
    return { objective, options: parsed.success ? parsed.data : objective.schema.parse({}) };
  };
  // onePerScoring takes the first of a scoring
  chosen.sort((a, b) => Number(b === first) - Number(a === first));
  return {
    own: first !== undefined && isModulePath(kind) ? trialOf(first) : undefined,
    trials: chosen.map(trialOf),
  };
}

/** Returns prompts of the site's training tasks, with their templates if any, or random ones where there are none. */
async function findPrompts(
  config: RunConfig,
  policy: Policy,
  note?: VerifyOptions["onNote"],
): Promise<readonly TextStart[]> {
  const longest = policy.options.promptLength;
  const orNoted = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      note?.(`${error.message} Random prompts are used.`);
      return undefined;
    }
  };
  await using environment = await orNoted(async () => closing(await openEnvironment(config)));
  if (environment !== undefined) checkSpaces(environment, policy);
  const seen = environment && (await orNoted(() => observationsOf(environment, config.seed)));
  const fitting = seen
    ?.map((observation) => policy.startOf(observation) as TextStart)
    .filter((start) => {
      const canvas = policy.sampler.policy.canvas?.(start, policy.options) ?? 0;
      const { length } = promptOf(start);
      return length > 0 && length <= longest && canvas <= policy.options.responseLength;
    });
  if (fitting !== undefined && fitting.length > 0) return fitting;
  if (fitting !== undefined)
    note?.(`no task's prompt fits sampler.prompt_length = ${longest}: random prompts are used`);
  return randomPrompts(policy.model, PROMPTS, longest, Rng.named(config.seed, "verify/prompts"));
}

/** Returns first observations of training tasks; where they need playing, all observations of a few episodes. */
async function observationsOf(environment: Environment, seed: number): Promise<Observation[]> {
  const tasks = Rng.named(seed, "verify/tasks").shuffle(tasksOf(environment, "train"));
  return environment.firstObservation === undefined
    ? playedObservations(environment, tasks.slice(0, PLAYED), seed)
    : tasks.slice(0, PROMPTS).flatMap((task) => environment.firstObservation?.(task) ?? []);
}

/** Plays with the environment's own oracle, or with a policy that answers nothing. */
async function playedObservations(
  environment: Environment,
  tasks: readonly EnvironmentTask[],
  seed: number,
): Promise<Observation[]> {
  await environment.start();
  const seen = await Promise.all(
    tasks.map(async (task) => {
      const oracle = await environment.fixedPolicies.oracle?.(task, Rng.named(seed, `verify/${task.id}`));
      const { turns } = await playFixed(environment, task, oracle ?? (async () => ({ text: "" })));
      return turns.map(({ observation }) => observation);
    }),
  );
  return seen.flat();
}

/** Formats the lines as a table. */
export function formatProofs(lines: readonly ProofLine[]): string {
  const rows = lines.map((line) => [
    !line.pass ? "MISS" : line.proved === false ? "not proved" : "ok",
    line.proof,
    line.name,
    Number.isInteger(line.measured) ? String(line.measured) : line.measured.toExponential(1),
    Number.isInteger(line.limit) ? String(line.limit) : line.limit.toExponential(0),
    line.detail,
  ]);
  return formatTable([["", "proof", "what", "measured", "limit", "of"], ...rows]);
}
