import { Rng } from "../../../../src/core/rng.js";
import type { Batch } from "../../../../src/diffusion/batch.js";
import type { TokenTrajectory, Trajectory } from "../../../../src/diffusion/trajectory.js";
import { mapTensors } from "../../../../src/features/verify/direction.js";
import type { ObjectiveOnTrial, VerifyContext } from "../../../../src/features/verify/proof.js";
import type { NamedTensors } from "../../../../src/onnx/tensors.js";
import type { Tensor } from "../../../../src/onnx/types.js";
import { episodesOf, samplesOf, withCredit } from "../../../../src/train/rollouts/groups.js";
import { canShare, prepareBatches, type ScoreAll, type ScoredBatch } from "../../../../src/train/update.js";
import { creditFormula, type FormulaOptions, type Scored, type ScoredTerm, type ScoredTurn } from "./formulas.js";
import type { OffPolicy, Who } from "./off-policy.js";
import { layTerms, type TermBatch } from "./scored-terms.js";

const MICRO_BATCH = 4;
/** log Z of every prompt: the bias of the head's last layer. */
const LOG_Z = 0.3;

/** A training step's micro-batches, with the values that the formula needs. */
export interface Prepared {
  readonly batches: readonly (ScoredBatch & { readonly own: TermBatch })[];
  readonly scored: Scored;
}

/**
 * Prepares a step and scores it for the formulas.
 * @param far nats by which the first term of each micro-batch is moved.
 * @returns the step, or the reason why it cannot be compared with the formula.
 */
export async function prepare(
  context: VerifyContext,
  away: OffPolicy,
  trial: ObjectiveOnTrial,
  far = 0,
): Promise<Prepared | string> {
  const { policy, config } = context;
  const { objective, options } = trial;
  const { sampler } = policy;
  const stepsOf = (t: Trajectory): number => sampler.steps(t);
  const offsetsOf = (t: Trajectory): number[] => (t as TokenTrajectory).response.map((_, i) => i);
  const groups = away.rollouts.map((rollouts) =>
    withCredit(rollouts, objective.credit(episodesOf(rollouts, stepsOf, offsetsOf), options)),
  );
  const samples = samplesOf(groups, config.seed, 1);
  const scoreAs = (who: Who) => (batches: readonly Batch[]) =>
    Promise.all(batches.map(async (batch) => (await away.score(batch, who)).value));
  const score: ScoreAll = (batches, key) => scoreAs(key === "reference" ? "reference" : "before")(batches);
  // as in training; terms of texts and bounds are found again by their sequences
  const share = objective.scoring === "steps" && (await canShare(policy, objective));
  const sizes = { size: MICRO_BATCH, share };
  const prepared = await prepareBatches(
    { policy: { ...policy, options: away.options }, objective, options, ...sizes, score },
    [samples],
    scoreAs("sampled"),
  );
  const o = options as FormulaOptions;
  const turns: ScoredTurn[] = [];
  const indexOf = new Map<Trajectory, number>();
  away.episodes.forEach((group, g) => {
    creditFormula(objective.name, group, o).forEach((credit, i) => {
      away.rollouts[g]?.[i]?.trajectories.forEach((trajectory, t) => {
        const own = credit?.[t];
        if (own === undefined) return;
        indexOf.set(trajectory, turns.length);
        const steps = sampler.steps(trajectory);
        turns.push({ length: (trajectory as Partial<TokenTrajectory>).response?.length ?? steps, steps, credit: own });
      });
    });
  });
  const batches = prepared.map((micro) => ({
    ...micro,
    own: layTerms({ ...policy, options: away.options }, trial, { ...micro, samples, ...sizes }),
  }));
  const trained = batches.flatMap(({ trajectories }) => trajectories);
  const same = trained.length === turns.length && trained.every((t) => indexOf.has(t));
  if (!same) return `${trained.length} turns are trained on, ${turns.length} have credit`;
  if (batches.some(({ batch, own }) => !sameTerms(batch, own.batch)))
    return "other terms are laid out than the sampler's";
  if (batches.some(({ batch, own, trajectories, values: { extra } }) => !samePrompts(batch, own, trajectories, extra)))
    return "other tokens are read as the prompt than its own";
  if (batches.some(({ own }) => own.terms.some(({ weight }) => !Number.isFinite(weight))))
    return "masks or steps are not as many as they should be";
  const terms: ScoredTerm[] = [];
  for (const { own } of batches) {
    const at = async (who: Who) => (await away.score(own.batch, who)).logProbs;
    const [now, before] = [await at("now"), await at("before")];
    const [sampled, reference] = [await at("sampled"), await at("reference")];
    own.terms.forEach(({ r, trajectory, ...term }, i) => {
      terms.push({
        ...term,
        turn: indexOf.get(trajectory) as number,
        now: (now[r] as number) - (i === 0 ? far : 0),
        before: before[r] as number,
        sampled: sampled[r] as number,
        reference: reference[r] as number,
        entropy: 0,
      });
    });
  }
  const recorded = batches.every(({ own }) => own.recorded);
  return { batches, scored: { turns, terms, recorded, logZ: LOG_Z } };
}

/** Tells whether an objective that reads prompts takes the mean over each prompt's own tokens, in its own sequence. */
function samePrompts(
  { owner, segments }: Batch,
  { batch, terms }: TermBatch,
  trajectories: readonly Trajectory[],
  extra: NamedTensors | undefined,
): boolean {
  if (extra?.prompt === undefined) return true;
  const { rows, input_ids: ids, position_ids: positions } = batch.inputs as Record<string, Tensor>;
  const length = ids?.shape[1] as number;
  const weights = new Float32Array(extra.prompt.data.length);
  const sequences = new Array<number>(segments).fill(0);
  owner.forEach((b, s) => {
    const trajectory = trajectories[b] as TokenTrajectory | undefined;
    const first = terms.find((term) => term.trajectory === trajectory);
    if (trajectory === undefined || first === undefined) return;
    const sequence = Math.floor(Number(rows?.data[first.r]) / length);
    sequences[s] = sequence;
    for (let n = sequence * length; n < (sequence + 1) * length; n++)
      if (BigInt(trajectory.prompt[Number(positions?.data[n])] ?? -1) === ids?.data[n])
        weights[n] = 1 / trajectory.prompt.length;
  });
  const [prompt, sequence] = [extra.prompt.data, extra.prompt_sequence?.data ?? []];
  return weights.every((x, n) => x === prompt[n]) && sequences.every((n, s) => n === Number(sequence[s]));
}

function sameTerms(a: Batch, b: Batch): boolean {
  const names = ["input_ids", "rows", "position_ids", "actions", "time"];
  const headNames = ["targets", "inverse_temperature", "eos_allowed"];
  const read = ({ inputs, headInputs }: Batch): string => {
    const tensors = [...names.map((name) => inputs[name]), ...headNames.map((name) => headInputs[name])];
    return tensors.map((tensor) => tensor?.data.join() ?? "").join("/");
  };
  return read(a) === read(b);
}

/** Initialises the objective's own parameters, with a known log Z. */
export function headParameters(
  { policy }: VerifyContext,
  { objective, options }: ObjectiveOnTrial,
): Map<string, Tensor> {
  const groups = objective.parameters?.(options, { hiddenSize: policy.model.config.hidden_size }) ?? [];
  const all = new Map(groups.flatMap(({ initial }) => [...(initial?.(Rng.named(0, "head")) ?? [])]));
  return mapTensors(all, (data, name) => (name === "log_z.2.bias" ? Float32Array.of(LOG_Z) : data));
}
