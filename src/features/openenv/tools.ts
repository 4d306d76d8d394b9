/** Named tools for one turn of an episode: they fill in the blanks of its template one by one. */
import { z } from "zod";
import { type Action, type Blank, fillTemplate, type Observation } from "../../core/interaction.js";
import { listItems } from "../../env/forms/normalize.js";

const tool = z.discriminatedUnion("name", [
  z.strictObject({ name: z.literal("read_form") }).describe("Shows the page and its fields, and what was entered."),
  z
    .strictObject({
      name: z.literal("fill_field"),
      label: z.string().describe("the field's label, as read_form shows it"),
      value: z.string().describe("one of its options, if it has some (several: with commas); yes or no for a box"),
    })
    .describe("Enters a value into a field. Nothing is sent."),
  z.strictObject({ name: z.literal("submit") }).describe("Sends the form as it is filled in, and shows what follows."),
]);

/** The tools in OpenEnv's form. */
export const TOOLS = tool.options.map((option) => {
  const { name, ...given } = option.shape;
  return {
    name: name.value,
    description: option.description,
    input_schema: z.toJSONSchema(z.strictObject(given)),
  };
});

/** An invalid call of a tool (unknown tool, arguments or field); the caller may try another. */
export class ToolError extends Error {}

/** The values that tools have entered in one turn. */
export class Draft {
  private readonly values: Record<string, string> = {};

  constructor(readonly observation: Observation) {}

  /** Calls a tool. @returns a result for the caller, or the answer of `submit`. @throws ToolError */
  call(name: string, given: object): { readonly result?: unknown; readonly answer?: Action } {
    const { data: called, error } = tool.safeParse({ ...given, name });
    if (called === undefined) throw new ToolError(z.prettifyError(error));
    const { text, template } = this.observation;
    const blanks = template?.parts.filter((part): part is Blank => typeof part !== "string") ?? [];
    if (called.name === "read_form") {
      const fields = blanks.map(({ name: label, ...blank }) => ({ label, ...blank, value: this.values[label] ?? "" }));
      return { result: { text, fields } };
    }
    if (template === undefined) throw new ToolError("The fields of this page are not known: answer by step({text}).");
    if (called.name === "submit")
      return { answer: { text: fillTemplate(template, this.values).text, values: this.values } };
    const { label, value } = called;
    const blank = blanks.find((one) => one.name === label);
    if (blank === undefined)
      throw new ToolError(`There is no field ${label}, but ${blanks.map((one) => one.name).join(", ")}.`);
    const options = blank.options?.map((option) => ({ text: option, value: option }));
    const items = blank.kind === "list" ? listItems(options ?? [], value) : [value];
    const wrong = items.find((item) => item !== "" && blank.options?.includes(item) === false);
    if (wrong !== undefined) throw new ToolError(`${label} has no option ${wrong}, but ${blank.options?.join(", ")}.`);
    this.values[label] = value;
    return { result: `${label}: ${value}` };
  }
}
