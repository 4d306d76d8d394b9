import { Canvas, type TemplateStart } from "../../../src/diffusion/template.js";
import type { TokenTrajectory } from "../../../src/diffusion/trajectory.js";
import { TOKENS } from "./unmask/fake-model.js";

/** Options of two blanks, as tokens. */
const CHOICES = { a: [[0], [0, 1], [1, 1, 0]], b: [[1], [0, 0]] };

/** A template with both blanks; b may not stay empty. */
export const CHOOSING: TemplateStart = {
  prompt: [1, 0],
  parts: [
    [1],
    { name: "a", needs: 4, whole: true, choices: CHOICES.a },
    [0, 1],
    { name: "b", needs: 3, whole: true, choices: CHOICES.b, required: true },
  ],
};

/** Reads the values of a response's blanks. */
export function valuesOf({ template, response }: Pick<TokenTrajectory, "template" | "response">): number[][] {
  const canvas = Canvas.of(template);
  const tokens = canvas.byCell(response, TOKENS.eos);
  return canvas.blanks.map(({ first, end }) =>
    tokens.slice(first, end).filter((token): token is number => token !== undefined && token !== TOKENS.eos),
  );
}

export const isOption = (name: "a" | "b", value: readonly number[]): boolean =>
  [...(name === "a" ? [[]] : []), ...CHOICES[name]].some((choice) => String(choice) === String(value));
