import type { FieldValue } from "../../site.js";
import type { Control, ReadForm } from "../controls.js";
import type { Hands } from "../hands.js";
import { placeOfControl, placeOfOption, pressControl, pressOption } from "../page/hands.js";
import { readValues } from "../page/reader.js";

/** What a plan asks of a control: a value as text, or on and off. */
export type Wanted = { readonly value: string } | { readonly on: boolean } | { readonly toggle: true };

/** What became of it. `held`: what the control came to, where the page does not tell by itself. */
export interface Operated {
  readonly took: boolean;
  readonly held?: FieldValue;
  readonly noOption?: true;
}

/** Keys and clicks that one number may take. */
export const MOST_KEYS = 400;

export const clickMember = async (hands: Hands, control: Control, member = 0, holding?: "Control"): Promise<boolean> =>
  hands.click(
    await hands.handle.evaluate(placeOfControl, { control: control.index, member }),
    () => hands.handle.evaluate(pressControl, { control: control.index, member }),
    holding,
  );

export const clickOption = async (hands: Hands, index: number): Promise<boolean> =>
  hands.click(await hands.handle.evaluate(placeOfOption, index), () => hands.handle.evaluate(pressOption, index));

export async function heldOf(form: ReadForm, control: Control): Promise<ReturnType<typeof readValues>[number]> {
  const all = await form.handle.evaluate(readValues);
  return all[control.index] ?? { value: "", checked: false, options: [] };
}
