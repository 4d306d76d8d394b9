import type { Batch } from "../../../diffusion/batch.js";
import { type SupervisedExample, stratified } from "../../../diffusion/supervised.js";
import type { Tensor } from "../../../onnx/types.js";
import { objective as sft } from "../../../rl/objectives/sft.js";
import { sameValues } from "../../../train/micro-batch.js";
import {
  figures,
  type Measurement,
  type Proof,
  randomTokens,
  smallCanvas,
  takePrompts,
  type VerifyContext,
} from "../../../verify/proof.js";
import { runLossHead } from "../loss-head.js";

/** Of float32 against float64. */
const LIMIT = 1e-4;
const POSITIONS = 16;
/** Tokens of the examples' responses; the canvas has room for the EOS behind the longest. */
const LENGTHS = [3, 9, 6, 14];
const EOS_FILL = 0.2;
const DRAFT = 0.6;
const AR = 0.3;

/** Sizes that the formulas read of a sampler's options. */
interface Sizes {
  readonly slotSize: number;
  readonly slotFill: string;
  readonly exponent: number;
}

/**
 * The supervised loss and its gradient by each score, against the formula in float64: of masked diffusion and of discrete
 * flow matching. Masks and times are read from what the model is fed; the weights follow from them alone.
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
  const ar = kind === "unmask" && attention === "causal" ? AR : 0;
  const [batch] = lay(examples, options, {
    arWeight: ar,
    eosFillWeight: EOS_FILL,
    draftWeight: DRAFT,
    rng: rng("supervised"),
  }) as [Batch];
  // the stream's first draws
  const parts = stratified(LENGTHS.length, rng("supervised"));
  const sizes = options as unknown as Sizes;
  const expected =
    kind === "jump"
      ? flowWeights(batch, examples, sizes, tokens.eos)
      : maskWeights(batch, examples, parts, sizes, ar, tokens);
  const { logProbs } = await policy.engine.score(batch, "policy");
  const values = sameValues(new Float32Array(batch.segments));
  const trial = { objective: sft as never, options: sft.schema.parse({}) };
  const [told] = await runLossHead(policy, trial, [{ batch, values, logProbs }], new Map());
  const seen = new Map<string, number>();
  let [loss, wrong] = [0, 0];
  batch.coefficient.forEach((c, r) => {
    if (c === 0) return;
    const { key, target, b, position } = termAt(batch, r, examples, kind === "jump" ? undefined : tokens.mask);
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
  return figures(LIMIT, [["sft: loss and gradient", measured, detail]]);
}

/** A text as two values with ends, in blanks of two slots or more behind given tokens: the second is cut where it is long. */
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

/** A position that is drawn, on an example's canvas. */
interface Cell {
  readonly position: number;
  /** In its slot. */
  readonly inSlot: number;
  readonly token: number;
  /** Behind the end of its value. */
  readonly isFill: boolean;
  /** Position of the first cell of the slot that its value ends in. */
  readonly endSlot: number;
}

/** The cells of a template's blanks, from its rooms and values alone; without a template those of one blank. */
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

/** The token that belongs at a position; what is given is none that may be predicted. */
function tokenAt(example: SupervisedExample, position: number, eos: number): number | undefined {
  return cellsOf(example, 1, eos).find((cell) => cell.position === position)?.token;
}

/** A term's example and the position of the response that it predicts: at a mask its own, elsewhere the next one. */
function termAt({ inputs, headInputs }: Batch, r: number, examples: readonly SupervisedExample[], mask?: number) {
  const read = (of: Readonly<Record<string, Tensor | undefined>>, name: string, n: number): number =>
    Number(of[name]?.data[n]);
  const row = read(inputs, "rows", r);
  const b = Math.floor(row / (inputs.input_ids?.shape[1] as number));
  const isMask = mask === undefined || read(inputs, "input_ids", row) === mask;
  const position = read(inputs, "position_ids", row) - (examples[b]?.prompt.length as number) + (isMask ? 0 : 1);
  return { key: `${b}/${isMask ? "mask" : "next"}/${position}`, target: read(headInputs, "targets", r), b, position };
}

/** Positions of an example's response that are in the model's input, and those of them that are masked. */
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

/** Masked: w / (p sum w) / B, p = 1 of slots that hold EOS; next token in clean slots: equal shares of `ar`. */
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
  // weight of a slot's masks behind its first: drafts, or no masks at all
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
      // what is behind an end of a template's blank goes with it
      const isMasked = holdsEos || masked.has(isFill ? endSlot : slot);
      const canFollow = ar > 0 && inSlot > 0 && !isFill;
      if (isMasked && weight(cell) > 0)
        weights.set(`${b}/mask/${position}`, weight(cell) / (p * total) / examples.length);
      else if (!isMasked && canFollow) next.push(`${b}/next/${position}`);
      // the slot of EOS is read a second time
      if (holdsEos && canFollow && slotFill !== "parallel") next.push(`${b}/next/${position}`);
    }
  });
  for (const key of next) weights.set(key, ar / next.length);
  return weights;
}

/** w / ((1 - kappa) sum w) / B at every position of the canvas that is drawn. */
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
