import { z } from "zod";
import { fail } from "../core/errors.js";
import type { Blank, Template } from "../core/interaction.js";
import type { Tokenizer } from "../text/tokenizer.js";

/** A blank in tokens, before a sampler gives it a room. */
export interface OpenBlank {
  readonly name: string;
  /** Most tokens that it can need, its end among them; absent: not known. */
  readonly needs?: number;
  /** Set where a blank holds several lines or sentences. */
  readonly long?: true;
  /** Set where the room is all of `needs`, however much: all that the blank may hold is known. */
  readonly whole?: true;
  /** All that it may hold, in tokens without an end, besides nothing. */
  readonly choices?: readonly (readonly number[])[];
  /** The given text ends in a space that stands with the value's first token. */
  readonly space?: true;
}

/** Start of a rollout of text: the tokens of a prompt, and with a template what is given and what is blank. */
export type TextStart = readonly number[] | TemplateStart;
export interface TemplateStart {
  readonly prompt: readonly number[];
  readonly parts: readonly (readonly number[] | OpenBlank)[];
}

/** A blank with its room: so many tokens may be drawn in it. */
export interface Room {
  readonly name: string;
  readonly room: number;
  readonly space?: true | undefined;
  /** Values that may be drawn besides none, in tokens without an end (constrained decoding); absent: all. */
  readonly choices?: readonly (readonly number[])[] | undefined;
}

/** A template as a trajectory records it: given tokens and blanks, in order. */
export type TokenTemplate = readonly (readonly number[] | Room)[];

const natural = z.int().nonnegative();

export const templateSchema = z
  .array(
    z.union([
      z.array(natural),
      z.strictObject({
        name: z.string(),
        room: natural.min(1),
        space: z.literal(true).optional(),
        choices: z.array(z.array(natural)).min(1).optional(),
      }),
    ]),
  )
  .refine((parts) => parts.some((part) => !Array.isArray(part)), "a template without a blank");

export function isRoom(part: readonly number[] | Room): part is Room {
  return !Array.isArray(part);
}

/** The prompt of a start. */
export function promptOf(start: TextStart): readonly number[] {
  return "parts" in start ? start.prompt : start;
}

/** Characters of a value of a kind: as `2026-03-14`, `09:30 AM`. */
const CHARACTERS: Partial<Record<Blank["kind"], number>> = { date: 10, time: 8 };

/**
 * A template in tokens. Given texts hold no special tokens, however they are spelled. A space in front of a blank is left
 * to the value: byte-pair encodings have it in a word's first token.
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

/** The tokens of a value, without an end; spaces that it begins with do not count. */
export function encodeValue(value: string, space: boolean | undefined, tokenizer: Tokenizer): number[] {
  if (space !== true) return tokenizer.encode(value);
  const tokens = tokenizer.encode(` ${value}`);
  const [first] = tokens;
  // numbers have no space in their first token
  return first !== undefined && tokenizer.decode([first]) === " " ? tokens.slice(1) : tokens;
}

/** The value that tokens without an end spell. */
export function decodeValue(tokens: readonly number[], space: boolean | undefined, tokenizer: Tokenizer): string {
  const text = tokenizer.decode(tokens);
  return space === true && text.startsWith(" ") ? text.slice(1) : text;
}

function needsOf(
  { kind, options, longest }: Blank,
  space: boolean,
  tokenizer: Tokenizer,
): Pick<OpenBlank, "needs" | "long" | "whole" | "choices"> {
  if (options !== undefined && options.length > 0) {
    if (kind === "list") return { needs: encodeValue(options.join(", "), space, tokenizer).length + 1 };
    const choices = options.map((option) => encodeValue(option, space, tokenizer));
    return { needs: Math.max(...choices.map(({ length }) => length)) + 1, whole: true, choices };
  }
  // a token spells one character at least
  const characters = Math.min(longest ?? Number.POSITIVE_INFINITY, CHARACTERS[kind] ?? Number.POSITIVE_INFINITY);
  const long = kind === "paragraph" ? ({ long: true } as const) : {};
  return Number.isFinite(characters) ? { needs: characters + 1, ...long } : long;
}

/** A sampler's rule for the rooms of blanks. */
export interface Rooms {
  /** Most tokens of a blank, its end among them, where the page does not say what it may hold. */
  readonly room?: number | undefined;
  /** The same of paragraphs; default or null: `room`. */
  readonly paragraphRoom?: number | null | undefined;
  /** k: rooms are multiples of it; default 1. */
  readonly slotSize?: number;
  /** Blanks with options hold one of them or nothing; default false. */
  readonly constrained?: boolean;
}

/** The key `constrained_decoding` of samplers that draw a blank from left to right. */
export const constrainedOption = z
  .boolean()
  .default(false)
  .describe(
    "selects, radios and boxes of a template: only tokens that continue one of the options, or end it, are drawn",
  );

const ROOM = 12;

/** The keys of samplers of text that give blanks their rooms. */
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

/** Reads these keys. */
export function roomsOf(config: { readonly room: number; readonly paragraph_room: number | null }): Rooms {
  return { room: config.room, paragraphRoom: config.paragraph_room };
}

/** Gives every blank its room: whole slots, by what the page says of it and by what the config allows, never by a value. */
export function layTemplate(
  parts: TemplateStart["parts"],
  { room: line = ROOM, paragraphRoom, slotSize = 1, constrained }: Rooms,
): TokenTemplate {
  return parts.map((part) => {
    if (!("name" in part)) return part;
    const most = (part.long && paragraphRoom) || line;
    const { name, needs = most, whole, space, choices } = part;
    const room = slotSize * Math.ceil((whole ? needs : Math.min(needs, most)) / slotSize);
    return { name, room, ...(space ? { space } : {}), ...(constrained && choices ? { choices } : {}) };
  });
}

/** The template of a start with its rooms; undefined where it has none. */
export function templateOf(start: TextStart, rooms: Rooms): TokenTemplate | undefined {
  return "parts" in start ? layTemplate(start.parts, rooms) : undefined;
}

/** A run of cells: a blank's room on a canvas. */
interface Run {
  readonly first: number;
  /** Behind its last cell. */
  readonly end: number;
  /** Position of its first cell. */
  readonly start: number;
  readonly choices: Room["choices"];
}

/**
 * Places in a response. Positions count everything, given tokens and blanks, from its beginning. What is
 * drawn are cells: the positions of the blanks, numbered one after the other, so that slots of them are whole. A blank is
 * closed by EOS: what lies behind it there is not drawn, not scored and not read. Without a template all is one blank.
 */
export class Canvas {
  /** Tokens that are given, by position. */
  readonly given: readonly (readonly [position: number, token: number])[];
  readonly blanks: readonly Run[];
  /** Given tokens that are masked as what is drawn is, by cell: none but where `whole` says so. */
  readonly masked: ReadonlyMap<number, number>;
  /** Positions. */
  readonly length: number;

  private constructor(parts: TokenTemplate | undefined, isWhole = false) {
    const given: [number, number][] = [];
    const blanks: Run[] = [];
    let [position, cell] = [0, 0];
    const all: TokenTemplate = parts ?? [{ name: "", room: Number.POSITIVE_INFINITY }];
    for (const part of all) {
      if (isRoom(part)) {
        blanks.push({ first: cell, end: cell + part.room, start: position, choices: part.choices });
        position += part.room;
        cell += part.room;
      } else for (const token of part) given.push([position++, token]);
    }
    const masked = isWhole ? given.splice(0) : [];
    // behind the cells of the blanks, so that slots of these stay whole
    for (const [start] of masked) blanks.push({ first: cell, end: ++cell, start, choices: undefined });
    this.masked = new Map(masked.map(([, token], i) => [cell - masked.length + i, token]));
    this.given = given;
    this.blanks = blanks;
    this.length = position;
  }

  /** One blank that nothing stands beside, as long as a response may be. */
  static readonly FREE = new Canvas(undefined);

  static of(template: TokenTemplate | undefined): Canvas {
    return template === undefined ? Canvas.FREE : new Canvas(template);
  }

  /** The same with every given token as a cell of its own, behind those of the blanks: what is masked where all is. */
  static whole(template: TokenTemplate | undefined): Canvas {
    return template === undefined ? Canvas.FREE : new Canvas(template, true);
  }

  get isFree(): boolean {
    return this === Canvas.FREE;
  }

  /** Cells of all blanks. */
  get cells(): number {
    return (this.blanks.at(-1) as Run).end;
  }

  blankOf(cell: number): number {
    return this.blanks.findIndex(({ end }) => cell < end);
  }

  /**
   * The tokens that may be drawn at a cell, ascending; undefined: all that the policy draws. None behind an end.
   * @param known tokens of other cells: those of earlier rounds, and of earlier cells of the same one.
   */
  allowed(cell: number, known: ReadonlyMap<number, number>, eos: number): number[] | undefined {
    const { first, end, choices } = this.blanks[this.blankOf(cell)] as Run;
    if (choices === undefined) return undefined;
    const here = [...known].filter(([other]) => other >= first && other < end);
    const fitting = [[], ...choices]
      .map((choice) => [...choice, eos])
      .filter((choice) => cell - first < choice.length && here.every(([at, token]) => choice[at - first] === token));
    return [...new Set(fitting.map((choice) => choice[cell - first] as number))].sort((a, b) => a - b);
  }

  /** The same for every token of a response, by cell. @param drawn cells and tokens in the order in which they were drawn. */
  allowedAt(drawn: Iterable<readonly [cell: number, token: number]>, eos: number): Map<number, readonly number[]> {
    const known = new Map<number, number>();
    const sets = new Map<number, readonly number[]>();
    if (!this.isConstrained) return sets;
    for (const [cell, token] of drawn) {
      const allowed = this.allowed(cell, known, eos);
      if (allowed !== undefined) sets.set(cell, allowed);
      known.set(cell, token);
    }
    return sets;
  }

  get isConstrained(): boolean {
    return this.blanks.some(({ choices }) => choices !== undefined);
  }

  /** Position of a cell in the response. */
  position(cell: number): number {
    const { first, start } = this.blanks[this.blankOf(cell)] as Run;
    return start + cell - first;
  }

  /** The cells of a response's tokens: each blank's up to its end, or all of them. */
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

  /** The cell that a response written from left to right goes on at; undefined where every blank has ended. */
  next(response: readonly number[], eos: number): number | undefined {
    const last = this.cellsOf(response, eos).at(-1);
    if (last === undefined) return 0;
    const blank = this.blankOf(last);
    const next = response.at(-1) === eos ? (this.blanks[blank] as Run).end : last + 1;
    return next < this.cells ? next : undefined;
  }

  /** A response by cell; what lies behind an end is undefined. */
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
      const own = tokens.slice(first, end);
      const last = own.indexOf(eos);
      return (last < 0 ? own : own.slice(0, last + 1)).filter((token) => token !== undefined);
    });
  }

  /** Tells whether no token of a response stands behind an end. */
  isRead(response: readonly number[], eos: number): boolean {
    return this.read(this.byCell(response, eos), eos).length === response.length;
  }

  /**
   * Tells which cells are not closed by an end among what is revealed. A free response that has ended is complete: where it
   * is read with some of it masked, the cells behind its end are masks too.
   */
  openness(revealed: ReadonlyMap<number, number>, eos: number): (cell: number) => boolean {
    if (this.isFree) return () => true;
    const ends = this.blanks.map(({ end }) => end);
    for (const [cell, token] of revealed) if (token === eos) ends[this.blankOf(cell)] = cell + 1;
    return (cell) => cell < (ends[this.blankOf(cell)] as number);
  }

  /** Blanks of a response that ran full, by number. */
  cut(response: readonly number[], eos: number): number[] {
    const tokens = this.byCell(response, eos);
    return this.blanks.flatMap(({ first, end }, blank) => (tokens.slice(first, end).includes(eos) ? [] : [blank]));
  }
}
