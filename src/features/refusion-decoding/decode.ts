import type { TokenBuffer } from "../../attention/rows.js";
import { BufferBuilder } from "../../diffusion/layout/buffer.js";
import { Canvas, type TokenTemplate } from "../../diffusion/template.js";
import type { RefusionOptions } from "./options.js";
import type { RefusionTrajectory } from "./trajectory.js";

/** A request of the search to one forward pass: a sequence, and rows of it. */
export interface Question {
  readonly buffer: TokenBuffer;
  /** Buffer indices, each with an optional token whose probability is requested. */
  readonly rows: readonly { readonly row: number; readonly target?: number }[];
}

/** Result of a forward pass for one row, at temperature 1. */
export interface DraftedToken {
  /** Most probable token. */
  readonly token: number;
  /** Its probability. */
  readonly probability: number;
  /** The probability of the row's target. */
  readonly target: number;
}

/** One search: it yields questions, and receives the answers in the order of the rows. */
export type Search = Generator<Question, RefusionTrajectory, readonly DraftedToken[]>;
type Asking<T> = Generator<Question, T, readonly DraftedToken[]>;

/** A slot with drafted tokens. */
interface Draft {
  readonly slot: number;
  /** [k] */
  readonly tokens: number[];
  /** Number of final tokens, from the left. */
  accepted: number;
  /** [k] the forward pass in which each token became final. */
  readonly passes: number[];
}

/**
 * Prompt and committed tokens, in the order of commitment, with the attention mask of the official cache of keys and
 * values: a token attends to tokens committed before its slot, to earlier slots accepted in the same pass, and to its
 * own slot. Slots that were finished in parallel do not attend to each other, although they are committed together.
 */
class Context {
  readonly builder: BufferBuilder;
  readonly prefix: number[];
  readonly from: number[];
  readonly canvas: Canvas;
  readonly committed: { readonly position: number; readonly token: number; readonly pass: number }[] = [];
  forwards = 0;

  constructor(
    private readonly prompt: readonly number[],
    readonly options: RefusionOptions,
    readonly template: TokenTemplate | undefined,
  ) {
    this.canvas = Canvas.of(template);
    this.builder = new BufferBuilder(prompt, this.canvas);
    this.prefix = this.builder.ids.map(() => 0);
    this.from = this.builder.ids.map(() => 0);
  }

  /** Returns the index of the blank that contains a slot. */
  blankOf({ slot }: { readonly slot: number }): number {
    return this.canvas.blankOf(slot * this.options.slotSize);
  }

  /** Commits a slot. @param count kept tokens. @param before other entries that it attends to; undefined: all. */
  commit(draft: Draft, count: number, before: number | undefined): void {
    const start = this.builder.length;
    for (let i = 0; i < count; i++) {
      const position = draft.slot * this.options.slotSize + i;
      const token = draft.tokens[i] as number;
      this.builder.push(token, position);
      this.prefix.push(before ?? 0);
      this.from.push(before === undefined ? 0 : start);
      this.committed.push({ position, token, pass: draft.passes[i] as number });
    }
  }

  /** Appends slots to the committed entries: one behind the other, or each by itself. */
  extended(
    slots: readonly Pick<Draft, "slot" | "tokens">[],
    separate: boolean,
  ): { buffer: TokenBuffer; starts: number[] } {
    const { prompt, canvas, builder } = this;
    const { ids, positions, length } = builder;
    const buffer = { ids: [...ids], positions: [...positions], prefix: [...this.prefix], from: [...this.from] };
    const starts = slots.map(({ slot, tokens }) => {
      const start = buffer.ids.length;
      tokens.forEach((token, i) => {
        buffer.ids.push(token);
        buffer.positions.push(prompt.length + canvas.position(slot * this.options.slotSize + i));
        buffer.prefix.push(separate ? length : 0);
        buffer.from.push(separate ? start : 0);
      });
      return start;
    });
    return { buffer, starts };
  }

  *ask(question: Question): Asking<readonly DraftedToken[]> {
    const answers = yield question;
    this.forwards++;
    return answers;
  }
}

/**
 * Decodes one prompt as ReFusion does (arXiv 2512.13586, section 3.3, and `generate_refusion` of its code). While a
 * block has open slots: plan (draft all of them, choose those whose first token is probable enough), verify (read the
 * chosen slots from left to right after the committed tokens) and commit the complete slots of the accepted prefix. If
 * there is none, finish all chosen slots in parallel, redrafting the tokens not accepted. EOS ends the response, or
 * its blank of a template: later slots there are dropped, open slots before it are still decoded.
 *
 * Two differences from the code: mask and pad are never drafted, and an EOS found while slots are finished in parallel
 * drops the open slots to the right of *its slot*; the published code counts chosen slots there instead of open ones,
 * which can drop slots to the left and leave a gap in the response.
 */
export function* decode(prompt: readonly number[], options: RefusionOptions, template?: TokenTemplate): Search {
  const { slotSize, blocks, responseLength, model } = options;
  const context = new Context(prompt, options, template);
  const all = Math.min(responseLength, context.canvas.cells) / slotSize;
  const slots = Math.ceil(all / blocks);
  /** The last slot of each blank that has ended. */
  const ends = new Map<number, number>();
  const isOpen = (slot: number): boolean => slot < (ends.get(context.blankOf({ slot })) ?? all);
  for (let block = 0; block * slots < all; block++) {
    let open = Array.from({ length: Math.min(slots, all - block * slots) }, (_, i) => block * slots + i).filter(isOpen);
    while (open.length > 0) {
      const kept = yield* round(context, open);
      for (const { draft, count } of kept)
        if (draft.tokens[count - 1] === model.tokens.eos) ends.set(context.blankOf(draft), draft.slot);
      const finished = new Set(kept.map(({ draft }) => draft.slot));
      open = open.filter((slot) => !finished.has(slot) && isOpen(slot));
    }
  }
  return toTrajectory(prompt, context, options);
}

/** Runs one round of plan, verify and commit. @returns the committed slots. */
function* round(context: Context, open: readonly number[]): Asking<readonly Kept[]> {
  const chosen = yield* plan(context, open);
  // read in sequence; a slot's first token is accepted, because its slot was chosen for it
  yield* accept(context, chosen, false);
  const whole = acceptedPrefix(chosen, context);
  const isWhole = whole.length > 0;
  const kept = isWhole ? whole : acceptedPrefix(yield* finish(context, chosen), context);
  const before = isWhole ? undefined : context.builder.length;
  for (const { draft, count } of kept) context.commit(draft, count, before);
  return kept;
}

/** Drafts every open slot from its own logits; selects those above the threshold, or else the best one. */
function* plan(context: Context, open: readonly number[]): Asking<Draft[]> {
  const { slotSize, slotThreshold, model } = context.options;
  const masks = new Array<number>(slotSize).fill(model.tokens.mask);
  const masked = open.map((slot) => ({ slot, tokens: masks }));
  const { buffer, starts } = context.extended(masked, false);
  const rows = starts.flatMap((start) => masks.map((_, i) => ({ row: start + i })));
  const answers = yield* context.ask({ buffer, rows });
  const confidence = open.map((_, s) => (answers[s * slotSize] as DraftedToken).probability);
  const best = confidence.indexOf(Math.max(...confidence));
  const above = [...confidence.keys()].filter((s) => (confidence[s] as number) > slotThreshold);
  const tokens = answers.map(({ token }) => token);
  return (above.length === 0 ? [best] : above).map((s) => {
    const own = tokens.slice(s * slotSize, (s + 1) * slotSize);
    return { slot: open[s] as number, tokens: own, accepted: 0, passes: [] };
  });
}

/** Finishes slots in parallel: masks, drafts and verifies the other tokens again, and accepts one or more a pass. */
function* finish(context: Context, chosen: readonly Draft[]): Asking<Draft[]> {
  const { slotSize, model } = context.options;
  const { mask, eos } = model.tokens;
  let rows = [...chosen];
  for (;;) {
    for (const end of rows) {
      const at = end.tokens.indexOf(eos);
      if (at < 0 || at >= end.accepted || !rows.includes(end)) continue;
      rows = rows.filter((row) => row.slot <= end.slot || context.blankOf(row) !== context.blankOf(end));
      end.accepted = slotSize;
    }
    const unfinished = rows.filter((row) => row.accepted < slotSize);
    if (unfinished.length === 0) return rows;
    const masked = unfinished.map(({ slot, tokens, accepted }) => ({
      slot,
      tokens: tokens.map((token, i) => (i < accepted ? token : mask)),
    }));
    const redraft = context.extended(masked, true);
    const open = unfinished.flatMap((row, r) =>
      row.tokens.flatMap((_, i) => (i < row.accepted ? [] : [{ row, i, at: (redraft.starts[r] as number) + i }])),
    );
    const answers = yield* context.ask({ buffer: redraft.buffer, rows: open.map(({ at }) => ({ row: at })) });
    open.forEach(({ row, i }, a) => {
      row.tokens[i] = (answers[a] as DraftedToken).token;
    });
    yield* accept(context, unfinished, true);
  }
}

/**
 * Extends the accepted part of each slot: by its first token that is not yet accepted, and further while a token's
 * probability given the tokens before it (logits shifted by one) is above the threshold.
 * @param separate true: each slot is read by itself, not behind the others.
 */
function* accept(context: Context, drafts: readonly Draft[], separate: boolean): Asking<void> {
  const { slotSize, tokenThreshold } = context.options;
  const { buffer, starts } = context.extended(drafts, separate);
  const rows = drafts.flatMap((draft, d) =>
    draft.tokens.flatMap((target, i) => (i <= draft.accepted ? [] : [{ row: (starts[d] as number) + i - 1, target }])),
  );
  // if only last tokens are missing, there is nothing to read
  const answers = rows.length === 0 ? [] : yield* context.ask({ buffer, rows });
  const pass = context.forwards - 1;
  let next = 0;
  for (const draft of drafts) {
    const first = draft.accepted;
    const probabilities = answers.slice(next, next + slotSize - first - 1).map(({ target }) => target);
    next += probabilities.length;
    const refused = probabilities.findIndex((p) => !(p > tokenThreshold));
    draft.accepted = first + 1 + (refused < 0 ? probabilities.length : refused);
    for (let i = first; i < draft.accepted; i++) draft.passes[i] = pass;
  }
}

interface Kept {
  readonly draft: Draft;
  /** Number of kept tokens: fewer than k if the slot ends in EOS. */
  readonly count: number;
}

/** Selects the leading complete slots; of a blank, those through its first accepted EOS. */
function acceptedPrefix(drafts: readonly Draft[], context: Context): Kept[] {
  const { slotSize, model } = context.options;
  const kept: Kept[] = [];
  const ended = new Set<number>();
  for (const draft of drafts) {
    if (ended.has(context.blankOf(draft))) continue;
    const end = draft.tokens.indexOf(model.tokens.eos);
    const isEnd = end >= 0 && end < draft.accepted;
    if (isEnd) ended.add(context.blankOf(draft));
    else if (draft.accepted < slotSize) break;
    kept.push({ draft, count: isEnd ? end + 1 : slotSize });
  }
  return kept;
}

/** Makes the response in order of position, each blank through its first EOS; later tokens are dropped. */
function toTrajectory(prompt: readonly number[], context: Context, options: RefusionOptions): RefusionTrajectory {
  const { slotSize, responseLength, model } = options;
  const { eos } = model.tokens;
  const { canvas, template, committed } = context;
  const tokens: number[] = [];
  for (const { position, token } of committed) tokens[position] = token;
  const response = canvas.read(tokens, eos);
  const read = new Set(canvas.cellsOf(response, eos));
  const kept = committed.filter(({ position }) => read.has(position));
  return {
    prompt: [...prompt],
    ...(template === undefined ? {} : { template }),
    slotSize,
    responseLength: Math.min(responseLength, canvas.cells),
    temperature: 0,
    forwards: context.forwards,
    positions: kept.map(({ position }) => position),
    passes: kept.map(({ pass }) => pass),
    response,
    ended: canvas.cut(response, eos).length === 0 ? "eos" : "length",
  };
}
