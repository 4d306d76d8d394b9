import type { Batch } from "../../../../../src/diffusion/batch.js";
import type { SamplerOptions } from "../../../../../src/diffusion/sampler.js";
import { type SupervisedExample, stratified } from "../../../../../src/diffusion/supervised.js";
import {
  figures,
  type Measurement,
  type Proof,
  randomTokens,
  smallCanvas,
  takePrompts,
  type VerifyContext,
} from "../../../../../src/features/verify/proof.js";
import type { Tensor } from "../../../../../src/onnx/types.js";
import { objective as sft } from "../../../../../src/rl/objectives/sft.js";
import { sameValues } from "../../../../../src/train/micro-batch.js";
import { runLossHead } from "../loss-head.js";

/** Tolerance of float32 against float64. */
const LIMIT = 1e-4;
const POSITIONS = 16;
/** Lengths of the examples' responses in tokens; the canvas has room for EOS behind the longest. */
const LENGTHS = [3, 9, 6, 14];
const EOS_FILL = 0.2;
const DRAFT = 0.6;
const AR = 0.3;
/** Tokens of a sequence with several examples. */
const PACK = 64;

/** The sampler's options that the formulas use. */
interface Sizes {
  readonly slotSize: number;
  readonly slotFill: string;
  readonly exponent: number;
}

/**
 * Compares the supervised loss and its gradient by each score with the formula in float64, for masked diffusion and for
 * discrete flow matching. Masks and times are read from the model's inputs; they determine the weights.
 */
export async function measureSupervised(context: VerifyContext): Promise<Measurement[]> {
  const { config, policy, rng } = context;
  const lay = policy.sampler.supervisedTerms;
  const { kind } = config.sampler;
  if (lay === undefined || (kind !== "unmask" && kind !== "jump")) return [];
  const { tokens, attention } = policy.options.model;
  const options = smallCanvas(policy, POSITIONS);
  const words = randomTokens(
    context,
    LENGTHS.reduce((a, n) => a + n),
    "supervised/tokens",
  );
  const prompts = takePrompts(context, LENGTHS.length);
  const isTemplate = context.prompts.some((start) => "parts" in start);
  const { slotSize = 1 } = options;
  const examples = LENGTHS.map((length, b): SupervisedExample => {
    const [prompt, response] = [prompts[b] as readonly number[], words.splice(0, length)];
    return isTemplate ? { prompt, ...inBlanks(response, slotSize, tokens.eos) } : { prompt, response };
  });
  const sizes = options as unknown as Sizes;
  const isShifted = sizes.slotFill === "next-token";
  const ar = isShifted ? null : kind === "unmask" && attention === "causal" ? AR : 0;
  const [batch] = lay(examples, options, {
    arWeight: ar,
    eosFillWeight: EOS_FILL,
    draftWeight: DRAFT,
    rng: rng("supervised"),
  }) as [Batch];
  // the first draws of the stream
  const parts = stratified(LENGTHS.length, rng("supervised"));
  const expected =
    kind === "jump"
      ? flowWeights(batch, examples, sizes, tokens.eos)
      : isShifted
        ? nextWeights(examples, tokens.eos)
        : maskWeights(batch, examples, parts, sizes, ar ?? 0, tokens);
  const { logProbs } = await policy.engine.score(batch, "policy");
  const values = sameValues(new Float32Array(batch.segments));
  const trial = { objective: sft as never, options: sft.schema.parse({}) };
  const [told] = await runLossHead(policy, trial, [{ batch, values, logProbs }], new Map());
  const seen = new Map<string, number>();
  let [loss, wrong] = [0, 0];
  batch.coefficient.forEach((c, r) => {
    if (c === 0) return;
    const read = isShifted && policy.options.model.shifted ? 1 : 0;
    const { key, target, b, position } = termAt(batch, r, examples, kind === "jump" ? undefined : tokens.mask, read);
    if (target !== tokenAt(examples[b] as SupervisedExample, position, tokens.eos)) wrong++;
    loss -= (expected.get(key) ?? 0) * (logProbs[r] as number);
    seen.set(key, (seen.get(key) ?? 0) - (told?.gradient[r] as number));
  });
  const keys = new Set([...expected.keys(), ...seen.keys()]);
  const errors = [...keys].map((key) => Math.abs((seen.get(key) ?? 0) - (expected.get(key) ?? 0)));
  const typical = Math.sqrt([...expected.values()].reduce((a, x) => a + x * x, 0) / expected.size);
  const slopeError = Math.max(...errors) / typical;
  const lossError = Math.abs((told?.loss as number) - loss) / Math.abs(loss);
  const measured = wrong > 0 ? Number.POSITIVE_INFINITY : Math.max(slopeError, lossError);
  const detail = `loss ${loss.toPrecision(4)} off by ${lossError.toExponential(1)}, gradient of ${expected.size} scores by ${slopeError.toExponential(1)}, ${wrong} of other tokens`;
  const packed = kind === "jump" ? [] : await measurePacked(context, examples, options, batch, ar);
  return figures(LIMIT, [["sft: loss and gradient", measured, detail], ...packed]);
}

/** Compares the scores of examples that share sequences with those of the same draws in sequences of their own. */
async function measurePacked(
  { policy: { engine, sampler }, rng }: VerifyContext,
  examples: readonly SupervisedExample[],
  options: SamplerOptions,
  alone: Batch,
  arWeight: number | null,
): Promise<Parameters<typeof figures>[1]> {
  const layout = { arWeight, eosFillWeight: EOS_FILL, draftWeight: DRAFT, packLength: PACK, rng: rng("supervised") };
  const packs = sampler.supervisedTerms?.(examples, options, layout) ?? [];
  const termsOf = async (batch: Batch): Promise<(readonly [string, number])[]> => {
    const { logProbs } = await engine.score(batch, "policy");
    return [...batch.coefficient].flatMap((c, r) =>
      c === 0 ? [] : [[`${c} ${batch.headInputs.targets?.data[r]}`, logProbs[r] as number] as const],
    );
  };
  const ordered = (all: (readonly [string, number])[]) =>
    all.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x - y));
  const [own, wanted] = [ordered((await Promise.all(packs.map(termsOf))).flat()), ordered(await termsOf(alone))];
  const same = own.length === wanted.length && own.every(([term], i) => term === wanted[i]?.[0]);
  const largest = Math.max(...own.map(([, x], i) => Math.abs(x - (wanted[i]?.[1] ?? Number.NaN))));
  const detail = `largest |log p - log p in a sequence of its own| of ${own.length} terms in ${packs.length} sequences`;
  return [["sft: packed examples", same ? largest : Number.POSITIVE_INFINITY, detail]];
}

/** Splits a text into two values with EOS, in template blanks of whole slots; a long second value is cut. */
function inBlanks(
  response: readonly number[],
  slotSize: number,
  eos: number,
): Pick<SupervisedExample, "response" | "template"> {
  const room = slotSize * Math.max(1, Math.ceil(3 / slotSize));
  const given = response.slice(0, 2);
  const values = [response.slice(0, 1), response.slice(1, room)];
  return {
    template: [given, { name: "a", room }, given, { name: "b", room }],
    response: values.flatMap((value) => [...value, eos]),
  };
}

/** A generated position on an example's canvas. */
interface Cell {
  readonly position: number;
  /** Index in its slot. */
  readonly inSlot: number;
  readonly token: number;
  /** True for positions after the EOS of the value. */
  readonly isFill: boolean;
  /** First position of the slot that contains the value's EOS. */
  readonly endSlot: number;
}

/** Lists the cells of a template's blanks from its rooms and values; without a template, those of one blank. */
function cellsOf({ template, response }: SupervisedExample, slotSize: number, eos: number, room = POSITIONS): Cell[] {
  let [position, next] = [0, 0];
  return (template ?? [{ room }]).flatMap((part): Cell[] => {
    const start = position;
    position += "room" in part ? part.room : part.length;
    if (!("room" in part)) return [];
    const end = template === undefined ? response.length : response.indexOf(eos, next) - next;
    const value = response.slice(next, next + end);
    next += end + 1;
    return Array.from({ length: part.room }, (_, i) => ({
      position: start + i,
      inSlot: i % slotSize,
      token: value[i] ?? eos,
      isFill: i > end,
      endSlot: start + end - (end % slotSize),
    }));
  });
}

/** The correct token at a position; undefined for given tokens, which are not predicted. */
function tokenAt(example: SupervisedExample, position: number, eos: number): number | undefined {
  return cellsOf(example, 1, eos).find((cell) => cell.position === position)?.token;
}

/**
 * Finds a term's example and the position it predicts: its own at a mask, else the next one.
 * @param ahead number of rows by which logits stand behind the entry that they are of.
 */
function termAt(
  { inputs, headInputs }: Batch,
  r: number,
  examples: readonly SupervisedExample[],
  mask: number | undefined,
  ahead: number,
) {
  const read = (of: Readonly<Record<string, Tensor | undefined>>, name: string, n: number): number =>
    Number(of[name]?.data[n]);
  const row = read(inputs, "rows", r) - ahead;
  const b = Math.floor(row / (inputs.input_ids?.shape[1] as number));
  const isMask = mask === undefined || read(inputs, "input_ids", row) === mask;
  const position = read(inputs, "position_ids", row) - (examples[b]?.prompt.length as number) + (isMask ? 0 : 1);
  return { key: `${b}/${isMask ? "mask" : "next"}/${position}`, target: read(headInputs, "targets", r), b, position };
}

/** Finds the response length in the model's input, and the masked positions. */
function canvasAt({ inputs }: Batch, b: number, prompt: number, mask: number): { length: number; masked: Set<number> } {
  const { input_ids: ids, position_ids: at, rows } = inputs as Record<string, Tensor>;
  const width = ids?.shape[1] as number;
  const masked = new Set<number>();
  for (const row of (rows as Tensor).data) {
    const n = Number(row);
    if (Math.floor(n / width) === b && Number(ids?.data[n]) === mask) masked.add(Number(at?.data[n]) - prompt);
  }
  return { length: Math.max(...masked) + 1, masked };
}

/** Weights: w / (p sum w) / B at masks (p = 1 in slots with EOS); equal shares of `ar` for next tokens. */
function maskWeights(
  batch: Batch,
  examples: readonly SupervisedExample[],
  parts: readonly number[],
  { slotSize, slotFill }: Sizes,
  ar: number,
  { mask, eos }: { readonly mask: number; readonly eos: number },
): Map<string, number> {
  const weights = new Map<string, number>();
  const next: string[] = [];
  // weight of the masks after the first of a slot
  const draft = slotFill === "autoregressive" ? DRAFT : Number(slotFill !== "single-mask");
  examples.forEach((example, b) => {
    const isFree = example.template === undefined;
    const { length, masked } = canvasAt(batch, b, example.prompt.length, mask);
    const cells = cellsOf(example, slotSize, eos, length);
    const weight = ({ isFill, inSlot }: Cell): number => (isFill ? EOS_FILL : 1) * (inSlot > 0 ? draft : 1);
    const total = cells.reduce((sum, cell) => sum + weight(cell), 0);
    for (const cell of cells) {
      const { position, inSlot, isFill, endSlot } = cell;
      const slot = position - inSlot;
      const holdsEos = isFree && slot >= endSlot;
      const p = holdsEos ? 1 : 0.001 + 0.999 * (parts[b] as number);
      // in a template's blank, cells after EOS are masked with its slot
      const isMasked = holdsEos || masked.has(isFill ? endSlot : slot);
      const canFollow = ar > 0 && inSlot > 0 && !isFill;
      if (isMasked && weight(cell) > 0)
        weights.set(`${b}/mask/${position}`, weight(cell) / (p * total) / examples.length);
      else if (!isMasked && canFollow) next.push(`${b}/next/${position}`);
      // the slot of EOS is fed to the model a second time, unmasked
      if (holdsEos && canFollow && slotFill !== "parallel") next.push(`${b}/next/${position}`);
    }
  });
  for (const key of next) weights.set(key, ar / next.length);
  return weights;
}

/** Weights: equal ones at every token of the values and their ends, each predicted by the position before it. */
function nextWeights(examples: readonly SupervisedExample[], eos: number): Map<string, number> {
  const keys = examples.flatMap((example, b) =>
    cellsOf(example, 1, eos).flatMap(({ isFill, position }) => (isFill ? [] : [`${b}/next/${position}`])),
  );
  return new Map(keys.map((key) => [key, 1 / keys.length]));
}

/** Weights: w / ((1 - kappa) sum w) / B at every generated position of the canvas. */
function flowWeights(
  { inputs }: Batch,
  examples: readonly SupervisedExample[],
  { exponent }: Sizes,
  eos: number,
): Map<string, number> {
  return new Map(
    examples.flatMap((example, b) => {
      const kappa = Number(inputs.time?.data[b]) ** exponent;
      const weights = cellsOf(example, 1, eos).map(
        ({ position, isFill }) => [position, isFill ? EOS_FILL : 1] as const,
      );
      const total = weights.reduce((a, [, w]) => a + w, 0);
      return weights.map(([i, w]) => [`${b}/mask/${i}`, w / ((1 - kappa) * total) / examples.length] as const);
    }),
  );
}

export const proof: Proof = {
  claim: "the supervised loss and its gradient are what its formula says",
  run: (context) => measureSupervised(context),
};
