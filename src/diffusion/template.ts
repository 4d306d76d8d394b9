import { z } from "zod";
import { fail } from "../core/errors.js";
import type { Blank, Template } from "../core/interaction.js";
import type { Tokenizer } from "../text/tokenizer.js";

/** A blank in tokens, before a sampler gives it a room. */
export interface OpenBlank {
  readonly name: string;
  /** Most tokens that it can need, including its end; absent: unknown. */
  readonly needs?: number;
  /** Set where a blank holds several lines or sentences. */
  readonly long?: true;
  /** Set where the room is all of `needs`, however large, because every possible value is known. */
  readonly whole?: true;
  /** All its possible values besides none, in tokens without an end. */
  readonly choices?: readonly (readonly number[])[];
  /** Set where it must have one of these. */
  readonly required?: true;
  /** The given text ends in a space that belongs to the value's first token. */
  readonly space?: true;
}

/** Start of a rollout of text: the tokens of a prompt, and with a template its given tokens and blanks. */
export type TextStart = readonly number[] | TemplateStart;
export interface TemplateStart {
  readonly prompt: readonly number[];
  readonly parts: readonly (readonly number[] | OpenBlank)[];
}

const natural = z.int().nonnegative();

export const templateSchema = z
  .array(
    z.union([
      z.array(natural),
      z.strictObject({
        name: z.string(),
        /** The most tokens that may be drawn in it. */
        room: natural.min(1),
        space: z.literal(true).optional(),
        /** Values that may be drawn besides none, in tokens without an end (constrained decoding); absent: all. */
        choices: z.array(z.array(natural)).min(1).optional(),
        /** None is not allowed. */
        required: z.literal(true).optional(),
      }),
    ]),
  )
  .refine((parts) => parts.some((part) => !Array.isArray(part)), "a template without a blank");

type Unchanged<T> = T extends readonly (infer Item)[]
  ? readonly Unchanged<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Unchanged<T[Key]> }
    : T;
/** Recorded data of a schema, which is read and never changed. */
export type Recorded<Schema extends z.ZodType> = Unchanged<z.infer<Schema>>;

/** A template as recorded in a trajectory: given tokens and blanks, in order. */
export type TokenTemplate = Recorded<typeof templateSchema>;
/** A blank with its room. */
export type Room = Exclude<TokenTemplate[number], readonly number[]>;

export function isRoom(part: readonly number[] | Room): part is Room {
  return !Array.isArray(part);
}

/** Returns the prompt of a start. */
export const promptOf = (start: TextStart): readonly number[] => ("parts" in start ? start.prompt : start);

/** Characters of a value by kind, as `2026-03-14`, `09:30 AM`. */
const CHARACTERS: Partial<Record<Blank["kind"], number>> = { date: 10, time: 8 };

/**
 * Encodes a template. Given texts produce no special tokens, whatever their spelling. A space before a blank is left to
 * the value: byte-pair encodings have it in a word's first token.
 */
export function encodeTemplate({ parts }: Template, tokenizer: Tokenizer): TemplateStart["parts"] {
  const names = new Set<string>();
  return parts.map((part, i) => {
    const next = parts[i + 1];
    if (typeof part === "string")
      return tokenizer.encode(typeof next === "object" && part.endsWith(" ") ? part.slice(0, -1) : part);
    if (names.has(part.name)) fail(`A template has two blanks of the name ${part.name}.`);
    names.add(part.name);
    const before = parts[i - 1];
    const space = typeof before === "string" && before.endsWith(" ");
    return { name: part.name, ...needsOf(part, space, tokenizer), ...(space ? { space } : {}) };
  });
}

/** Encodes a value without an end; its leading spaces do not count. */
export function encodeValue(value: string, space: boolean | undefined, tokenizer: Tokenizer): number[] {
  if (space !== true) return tokenizer.encode(value);
  const tokens = tokenizer.encode(` ${value}`);
  const [first] = tokens;
  // numbers have no space in their first token
  return first !== undefined && tokenizer.decode([first]) === " " ? tokens.slice(1) : tokens;
}

/** Decodes a value from tokens without an end. */
export function decodeValue(tokens: readonly number[], space: boolean | undefined, tokenizer: Tokenizer): string {
  const text = tokenizer.decode(tokens);
  return space === true && text.startsWith(" ") ? text.slice(1) : text;
}

function needsOf(
  { kind, options, longest, required }: Blank,
  space: boolean,
  tokenizer: Tokenizer,
): Pick<OpenBlank, "needs" | "long" | "whole" | "choices" | "required"> {
  if (options !== undefined && options.length > 0) {
    if (kind === "list") return { needs: encodeValue(options.join(", "), space, tokenizer).length + 1 };
    const choices = options.map((option) => encodeValue(option, space, tokenizer));
    const most = Math.max(...choices.map(({ length }) => length));
    return { needs: most + 1, whole: true, choices, ...(required ? { required } : {}) };
  }
  // a token spells at least one character
  const characters = Math.min(longest ?? Number.POSITIVE_INFINITY, CHARACTERS[kind] ?? Number.POSITIVE_INFINITY);
  const long = kind === "paragraph" ? ({ long: true } as const) : {};
  return Number.isFinite(characters) ? { needs: characters + 1, ...long } : long;
}

/** A sampler's rule for the rooms of blanks. */
export interface Rooms {
  /** Most tokens of a blank, including its end, where the page does not limit it. */
  readonly room?: number | undefined;
  /** The same for paragraphs; default or null: `room`. */
  readonly paragraphRoom?: number | null | undefined;
  /** k: rooms are multiples of it; default 1. */
  readonly slotSize?: number;
  /** Limits blanks with options to one of them, or nothing where the page allows it; default false. */
  readonly constrained?: boolean;
}

/** The option `constrained_decoding` of samplers that draw a blank from left to right. */
export const constrainedOption = z
  .boolean()
  .default(false)
  .describe(
    "selects, radios and boxes of a template: only tokens that continue one of the options, or end it, are drawn; nothing at all only where one may be left open",
  );

/** The option `explore` of samplers with {@link constrainedOption}. */
export const exploreOption = z
  .number()
  .min(0)
  .lt(1)
  .default(0)
  .describe(
    "epsilon: in training, the share of draws among an option's possible next tokens that take each as often, so that a policy which is certain still sees the others; needs constrained_decoding",
  );

/** Refuses `explore` where nothing is drawn among options. */
export const EXPLORES_OPTIONS = {
  check: (o: { readonly explore: number; readonly constrained_decoding: boolean }): boolean =>
    o.explore === 0 || o.constrained_decoding,
  refusal: { path: ["explore"], error: "needs constrained_decoding: it draws among the options of a blank" },
};

const ROOM = 12;

/** Options of text samplers that set the rooms of blanks. */
export const roomKeys = {
  room: z
    .int()
    .min(1)
    .default(ROOM)
    .describe("most tokens of a blank, its end among them, where the page does not say what it may hold"),
  paragraph_room: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe("the same of a control for several lines (textarea); null = room"),
};

/** Reads these options. */
export const roomsOf = (config: { readonly room: number; readonly paragraph_room: number | null }): Rooms => ({
  room: config.room,
  paragraphRoom: config.paragraph_room,
});

/** Gives every blank its room: whole slots, from the page and the config alone, never from a value. */
export function layTemplate(
  parts: TemplateStart["parts"],
  { room: line = ROOM, paragraphRoom, slotSize = 1, constrained }: Rooms,
): TokenTemplate {
  return parts.map((part) => {
    if (!("name" in part)) return part;
    const most = (part.long && paragraphRoom) || line;
    const { name, needs = most, whole, space, choices, required } = part;
    const room = slotSize * Math.ceil((whole ? needs : Math.min(needs, most)) / slotSize);
    const limits = constrained && choices ? { choices, ...(required ? { required } : {}) } : {};
    return { name, room, ...(space ? { space } : {}), ...limits };
  });
}

/** Returns the template of a start with its rooms; undefined where it has none. */
export const templateOf = (start: TextStart, rooms: Rooms): TokenTemplate | undefined =>
  "parts" in start ? layTemplate(start.parts, rooms) : undefined;

/** A run of cells: a blank's room on a canvas. */
interface Run {
  readonly first: number;
  /** One past its last cell. */
  readonly end: number;
  /** Position of its first cell. */
  readonly start: number;
  /** Values that it may have; undefined: all. */
  readonly choices: Room["choices"];
}

/**
 * Maps places in a response. Positions count all given tokens and blanks from the start of the response. Cells are the
 * drawn positions, those of the blanks, numbered consecutively, so that slots of them are whole. EOS closes a blank:
 * cells after it are not drawn, not scored and not read. Without a template the response is one blank.
 */
export class Canvas {
  /** Given tokens by position. */
  readonly given: readonly (readonly [position: number, token: number])[];
  readonly blanks: readonly Run[];
  /** Given tokens that are masked like drawn ones, by cell; empty unless made by `whole`. */
  readonly masked: ReadonlyMap<number, number>;
  /** Number of positions. */
  readonly length: number;

  private constructor(parts: TokenTemplate | undefined, isWhole = false) {
    const given: [number, number][] = [];
    const blanks: Run[] = [];
    let [position, cell] = [0, 0];
    const all: TokenTemplate = parts ?? [{ name: "", room: Number.POSITIVE_INFINITY }];
    for (const part of all) {
      if (isRoom(part)) {
        const choices = part.choices && (part.required ? part.choices : [[], ...part.choices]);
        blanks.push({ first: cell, end: cell + part.room, start: position, choices });
        position += part.room;
        cell += part.room;
      } else for (const token of part) given.push([position++, token]);
    }
    const masked = isWhole ? given.splice(0) : [];
    // after the cells of the blanks, so that their slots stay whole
    for (const [start] of masked) blanks.push({ first: cell, end: ++cell, start, choices: undefined });
    this.masked = new Map(masked.map(([, token], i) => [cell - masked.length + i, token]));
    this.given = given;
    this.blanks = blanks;
    this.length = position;
  }

  /** The canvas without a template: a single blank of unlimited length. */
  static readonly FREE = new Canvas(undefined);

  static of(template: TokenTemplate | undefined): Canvas {
    return template === undefined ? Canvas.FREE : new Canvas(template);
  }

  /** Returns the same canvas with a cell for every given token, after those of the blanks, for masking everything. */
  static whole(template: TokenTemplate | undefined): Canvas {
    return template === undefined ? Canvas.FREE : new Canvas(template, true);
  }

  get isFree(): boolean {
    return this === Canvas.FREE;
  }

  /** Number of cells of all blanks. */
  get cells(): number {
    return (this.blanks.at(-1) as Run).end;
  }

  blankOf(cell: number): number {
    return this.blanks.findIndex(({ end }) => cell < end);
  }

  /** Tells whether a cell is the first of its blank. */
  isFirst(cell: number): boolean {
    return this.blanks.some(({ first }) => cell === first);
  }

  /**
   * Returns the tokens that may be drawn at a cell, ascending; undefined: all of the policy's. None after an end.
   * @param known tokens of other cells: those of earlier rounds, and of earlier cells of the same one.
   */
  allowed(cell: number, written: ReadonlyMap<number, number>, eos: number): number[] | undefined {
    const { first, end, choices } = this.blanks[this.blankOf(cell)] as Run;
    if (choices === undefined) return undefined;
    const here = [...written].filter(([other]) => other >= first && other < end);
    const fitting = choices
      .map((choice) => [...choice, eos])
      .filter((choice) => cell - first < choice.length && here.every(([at, token]) => choice[at - first] === token));
    return [...new Set(fitting.map((choice) => choice[cell - first] as number))].sort((a, b) => a - b);
  }

  /** The same for every token of a response, by cell. @param drawn cells and tokens in the order of the draws. */
  allowedAt(drawn: Iterable<readonly [cell: number, token: number]>, eos: number): Map<number, readonly number[]> {
    const written = new Map<number, number>();
    const sets = new Map<number, readonly number[]>();
    if (!this.isConstrained) return sets;
    for (const [cell, token] of drawn) {
      const allowed = this.allowed(cell, written, eos);
      if (allowed !== undefined) sets.set(cell, allowed);
      written.set(cell, token);
    }
    return sets;
  }

  get isConstrained(): boolean {
    return this.blanks.some(({ choices }) => choices !== undefined);
  }

  /** Returns the response position of a cell. */
  position(cell: number): number {
    const { first, start } = this.blanks[this.blankOf(cell)] as Run;
    return start + cell - first;
  }

  /** Returns the cells of a response's tokens: each blank's up to its end, or all of them. */
  cellsOf(response: readonly number[], eos: number): number[] {
    if (this.isFree) return [...response.keys()];
    const cells: number[] = [];
    let i = 0;
    for (const { first, end } of this.blanks) {
      for (let cell = first; cell < end && i < response.length; cell++) {
        cells.push(cell);
        if (response[i++] === eos) break;
      }
    }
    return cells;
  }

  /** Returns the next cell of a response written from left to right; undefined where every blank has ended. */
  next(response: readonly number[], eos: number): number | undefined {
    const last = this.cellsOf(response, eos).at(-1);
    if (last === undefined) return 0;
    const blank = this.blankOf(last);
    const next = response.at(-1) === eos ? (this.blanks[blank] as Run).end : last + 1;
    return next < this.cells ? next : undefined;
  }

  /** Arranges a response by cell; cells after an end are undefined. */
  byCell(response: readonly number[], eos: number): readonly (number | undefined)[] {
    if (this.isFree) return response;
    const tokens = new Array<number | undefined>(this.cells).fill(undefined);
    this.cellsOf(response, eos).forEach((cell, i) => {
      tokens[cell] = response[i];
    });
    return tokens;
  }

  /** Reads tokens by cell: each blank up to its first EOS. */
  read(tokens: readonly (number | undefined)[], eos: number): number[] {
    return this.blanks.flatMap(({ first, end }) => {
      const drawn = tokens.slice(first, end);
      const last = drawn.indexOf(eos);
      return (last < 0 ? drawn : drawn.slice(0, last + 1)).filter((token) => token !== undefined);
    });
  }

  /** Tells whether no token of a response comes after an end. */
  isRead(response: readonly number[], eos: number): boolean {
    return this.read(this.byCell(response, eos), eos).length === response.length;
  }

  /**
   * Tells which cells are not closed by a revealed end. A free response that has ended is complete: where it is read
   * with a part masked, the cells after its end are masks too.
   */
  openness(revealed: ReadonlyMap<number, number>, eos: number): (cell: number) => boolean {
    if (this.isFree) return () => true;
    const ends = this.blanks.map(({ end }) => end);
    for (const [cell, token] of revealed) if (token === eos) ends[this.blankOf(cell)] = cell + 1;
    return (cell) => cell < (ends[this.blankOf(cell)] as number);
  }

  /** Returns the indices of the blanks of a response that have no end. */
  cut(response: readonly number[], eos: number): number[] {
    const tokens = this.byCell(response, eos);
    return this.blanks.flatMap(({ first, end }, blank) => (tokens.slice(first, end).includes(eos) ? [] : [blank]));
  }
}
