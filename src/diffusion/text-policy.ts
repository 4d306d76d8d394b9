import { misuse } from "../core/errors.js";
import { type Action, type Observation, valueIn } from "../core/interaction.js";
import { spell } from "../text/token-text.js";
import type { Tokenizer } from "../text/tokenizer.js";
import type { SupervisedExample } from "./examples.js";
import type { PolicyText, Reveal, SamplerOptions } from "./sampler.js";
import {
  Canvas,
  decodeValue,
  encodeTemplate,
  encodeValue,
  isRoom,
  promptOf,
  type TextStart,
  type TokenTemplate,
  templateOf,
} from "./template.js";
import type { SampledModel } from "./tokens.js";
import type { TokenTrajectory } from "./trajectory.js";

/**
 * The policy that all text samplers share. It begins from a prompt's tokens and, where the page has a template, the
 * template's; its action is the response's text with the value of each blank.
 */
export const textPolicy: PolicyText<TextStart, TokenTrajectory> = {
  begin({ text, template }: Observation, tokenizer: Tokenizer | undefined): TextStart {
    if (text === undefined)
      misuse("This environment shows no text, and the sampler reads nothing else.", {
        hint: "use a sampler of the environment's kind (sampler.kind)",
      });
    const prompt = needed(tokenizer).encode(text);
    // a page without blanks has nothing to fill in
    if (template === undefined || !template.parts.some((part) => typeof part === "object")) return prompt;
    return { prompt, parts: encodeTemplate(template, needed(tokenizer)) };
  },
  action(trajectory: TokenTrajectory, tokenizer: Tokenizer | undefined, { tokens }: SampledModel): Action {
    const { response, template } = trajectory;
    const pieces = piecesOf(trajectory, needed(tokenizer), tokens.eos);
    const text = pieces.map((piece) => piece.text).join("");
    if (template === undefined) return { text };
    const rooms = template.filter(isRoom);
    return {
      text,
      values: Object.fromEntries(pieces.flatMap(({ name, text }) => (name === undefined ? [] : [[name, text]]))),
      cut: Canvas.of(template)
        .cut(response, tokens.eos)
        .map((blank) => rooms[blank]?.name ?? ""),
    };
  },
  offsets(trajectory: TokenTrajectory, tokenizer: Tokenizer | undefined, { tokens }: SampledModel): readonly number[] {
    let start = 0;
    return piecesOf(trajectory, needed(tokenizer), tokens.eos).flatMap(({ name, text, written, drawn }) => {
      let end = start;
      // the space before a value may be in its first token
      const surplus = needed(tokenizer).decode(written).length - text.length;
      const ends = spell(written, needed(tokenizer)).map((piece, i) => {
        end += piece.length - (i === 0 ? surplus : 0);
        return end;
      });
      const begins = Array.from({ length: drawn }, (_, i) => ends[i - 1] ?? start);
      start += text.length;
      return name === undefined && trajectory.template !== undefined ? [] : begins;
    });
  },
  example({ observation, action }, tokenizer, options): SupervisedExample {
    const start = textPolicy.begin(observation, tokenizer, options.model);
    const prompt = promptOf(start);
    const template = templateOf(start, options);
    const refuse = (what: string, hint: string): never => {
      misuse(`does not fit: ${what}.`, { hint });
    };
    if (prompt.length > options.promptLength)
      refuse(`prompt ${prompt.length} of ${options.promptLength} tokens`, "Raise sampler.prompt_length.");
    if (template === undefined) {
      const response = needed(tokenizer).encode(action.text ?? "");
      if (response.length + 1 > options.responseLength)
        refuse(
          `response with EOS ${response.length + 1} of ${options.responseLength}`,
          "Raise sampler.prompt_length or sampler.response_length.",
        );
      return { prompt, response };
    }
    const { length } = Canvas.of(template);
    if (length > options.responseLength)
      refuse(`template ${length} of ${options.responseLength} tokens`, "Raise sampler.response_length.");
    const { values = {} } = action;
    const blanks = template.filter(isRoom);
    const unlabelled = new Set(blanks.flatMap(({ name }, i) => (Object.hasOwn(values, name) ? [] : [i])));
    const response = blanks.flatMap(({ name, room, space }) => {
      const value = encodeValue(valueIn(values, { name }), space, needed(tokenizer));
      if (value.length + 1 > room)
        refuse(`the value of ${name} with its end ${value.length + 1} of ${room} tokens`, "Raise sampler.room.");
      return [...value, options.model.tokens.eos];
    });
    if (unlabelled.size > 0 && unlabelled.size === blanks.length)
      refuse("the demonstration gives no blank a value", "Let action.values name the blanks.");
    return { prompt, template, response, ...(unlabelled.size === 0 ? {} : { unlabelled }) };
  },
  length: (start) => promptOf(start).length,
  canvas: (start, options: SamplerOptions) => {
    const template = templateOf(start, options);
    return template === undefined ? 0 : Canvas.of(template).length;
  },
  units: ({ response }) => response.length,
  metrics: ({ response, ended, template }, { tokens }) => {
    const canvas = Canvas.of(template);
    const cut = canvas.isFree ? {} : { blanks_cut: canvas.cut(response, tokens.eos).length / canvas.blanks.length };
    return { response_length: response.length, ended_by_eos: Number(ended === "eos"), ...cut };
  },
};

/** A run of a response: the text of a given part, or a blank's value. */
interface Piece {
  /** The blank's name. */
  readonly name?: string;
  readonly text: string;
  /** The tokens that spell it. */
  readonly written: readonly number[];
  /** Number of drawn tokens, including its EOS. */
  readonly drawn: number;
}

const piecesOf = ({ response, template }: TokenTrajectory, tokenizer: Tokenizer, eos: number): Piece[] =>
  piecesAt(template, Canvas.of(template).byCell(response, eos), tokenizer, eos);

/** @param tokens by cell. */
function piecesAt(
  template: TokenTemplate | undefined,
  tokens: readonly (number | undefined)[],
  tokenizer: Tokenizer,
  eos: number,
): Piece[] {
  const words = (drawn: readonly number[]): number[] => drawn.filter((token) => token !== eos);
  if (template === undefined) {
    const drawn = tokens.filter((token) => token !== undefined);
    return [{ text: tokenizer.decode(words(drawn)), written: words(drawn), drawn: drawn.length }];
  }
  let cell = 0;
  return template.map((part, i): Piece => {
    if (!isRoom(part)) {
      const next = template[i + 1];
      const space = next !== undefined && isRoom(next) && next.space ? " " : "";
      return { text: tokenizer.decode(part) + space, written: part, drawn: 0 };
    }
    const { name, room, space } = part;
    const drawn = tokens.slice(cell, cell + room).filter((token) => token !== undefined);
    cell += room;
    const written = words(drawn);
    return { name, text: decodeValue(written, space, tokenizer), written, drawn: drawn.length };
  });
}

/** Marks an open blank after its text. */
const MORE = "…";

/**
 * Returns the text of an answer after each step: the revealed tokens, with `…` in blanks that have not ended.
 * @param reveals of the trajectory, from its sampler.
 */
export function roundTexts(
  { response, template }: TokenTrajectory,
  reveals: readonly Reveal[],
  tokenizer: Tokenizer | undefined,
  eos: number,
): string[] {
  const cells = Canvas.of(template).cellsOf(response, eos);
  const inOrder = [...reveals].sort((a, b) => a.position - b.position);
  const steps = [...new Set(inOrder.map(({ step }) => step))].sort((a, b) => a - b);
  return steps.map((last) => {
    const tokens: (number | undefined)[] = [];
    inOrder.forEach(({ token, step }, i) => {
      if (step <= last) tokens[cells[i] as number] = token;
    });
    return piecesAt(template, tokens, needed(tokenizer), eos)
      .map(({ name, text, written, drawn }) =>
        (name === undefined && template !== undefined) || drawn > written.length || last === steps.at(-1)
          ? text
          : text + MORE,
      )
      .join("");
  });
}

function needed(tokenizer: Tokenizer | undefined): Tokenizer {
  if (tokenizer === undefined)
    misuse("The model reads no tokens, and the sampler writes text.", { hint: "set sampler.kind=flow" });
  return tokenizer;
}
