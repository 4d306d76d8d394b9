import { parseDate, parseTime } from "../../forms/normalize.js";
import type { Control, ReadForm } from "../controls.js";
import type { Hands } from "../hands.js";
import { findDay, findMonth, setClock } from "../page/calendar.js";
import { findFresh, focusField, pressOption, remember, setPart } from "../page/hands.js";
import type { PageForm } from "../page/reader.js";
import { clickMember, heldOf, MOST_KEYS, type Operated } from "./common.js";

export async function pickDate(hands: Hands, control: Control, value: string): Promise<Operated> {
  const date = parseDate(value);
  if (date === undefined) return { took: false };
  await hands.handle.evaluate(remember);
  if (control.widget === "picker") {
    await clickMember(hands, control);
    await hands.calm();
  }
  const day = await hands.handle.evaluate(findDay, { date, control: control.index });
  if (day === undefined) return { took: false };
  await hands.click(day, () => hands.handle.evaluate(pressOption, 0));
  await hands.calm();
  // some calendars ask whether that is it
  const confirm = await hands.handle.evaluate(findFresh, "ok|okay|apply|done|set|select|confirm|save|choose");
  if (confirm !== undefined) {
    await hands.click(confirm, () => hands.handle.evaluate(pressOption, 0));
    await hands.calm();
  }
  return { took: true, held: date };
}

/** A date or a time in what a text field opens when it is clicked. @returns whether it was there. */
export async function pickMoment(hands: Hands, control: Control, value: string): Promise<boolean> {
  if (parseDate(value) !== undefined) return (await pickDate(hands, { ...control, widget: "picker" }, value)).took;
  await hands.handle.evaluate(remember);
  await clickMember(hands, control);
  await hands.calm();
  const [hour = 0, minute = 0] = (parseTime(value) ?? "").split(":").map(Number);
  const set = await hands.handle.evaluate(setClock, { hour, minute });
  await hands.leave();
  await hands.calm();
  return set;
}

/** `2025-03`, among the twelve months that a control has opened. */
export async function pickMonth(hands: Hands, item: string): Promise<boolean> {
  const date = parseDate(`${item}-01`) ?? parseDate(`1 ${item}`);
  if (date === undefined) return false;
  const [year = 0, month = 0] = date.split("-").map(Number);
  const place = await hands.handle.evaluate(findMonth, { year, month });
  if (place === undefined) return false;
  await hands.click(place, () => hands.handle.evaluate(pressOption, 0));
  await hands.calm();
  return true;
}

export async function typeSegments(hands: Hands, form: ReadForm, control: Control, value: string): Promise<Operated> {
  const date = control.kind === "date" ? parseDate(value) : parseTime(value);
  if (date === undefined) return { took: false };
  const parts = await hands.handle.evaluate(segmentsOf, control.index);
  const [year = "", month = "", day = ""] = date.split("-");
  const [hour = "", minute = ""] = date.split(":");
  const numbers: Record<string, string> = { year, month, day, hour, minute };
  for (const [member, part] of parts.entries()) {
    let text = numbers[part.what];
    if (text === undefined) {
      if (part.what === "period")
        await hands.handle
          .evaluate(focusField, { control: control.index, member })
          .then(() => hands.type(Number(hour) < 12 ? "a" : "p"));
      continue;
    }
    if (part.what === "hour" && part.twelve)
      text = String(Number(hour) % 12 === 0 ? 12 : Number(hour) % 12).padStart(2, "0");
    await hands.handle.evaluate(focusField, { control: control.index, member });
    await hands.type(text);
    for (let keys = 0; keys < MOST_KEYS; keys++) {
      const now = (await hands.handle.evaluate(segmentsOf, control.index))[member]?.now;
      if (now === undefined || now === Number(text)) break;
      await hands.handle.evaluate(focusField, { control: control.index, member });
      await hands.press(now < Number(text) ? "ArrowUp" : "ArrowDown");
    }
  }
  await hands.leave();
  await hands.calm();
  const { value: is } = await heldOf(form, control);
  const same = control.kind === "date" ? parseDate(is) === date : true;
  return same ? { took: true, held: date } : { took: false };
}

/** Runs IN THE PAGE: what each spin button of a group stands for. */
function segmentsOf(page: PageForm, control: number): { what: string; twelve: boolean; now: number | undefined }[] {
  const members = page.elements[control] ?? [];
  const twelve = members.some((m) =>
    /am\b|pm\b|period/i.test(
      `${m.getAttribute("aria-label")} ${m.getAttribute("aria-valuetext")} ${m.getAttribute("data-type")} ${m.textContent}`,
    ),
  );
  return members.map((member) => {
    const said =
      `${page.kit.ariaName(member)} ${member.getAttribute("data-type") ?? ""} ${member.getAttribute("data-segment") ?? ""}`.toLowerCase();
    const what =
      ["year", "month", "day", "hour", "minute", "second"].find((word) => said.includes(word)) ??
      (/am|pm|period/.test(said) ? "period" : "");
    const now = member.getAttribute("aria-valuenow");
    return { what, twelve, now: now === null ? undefined : Number(now) };
  });
}

export async function setParts(form: ReadForm, control: Control, value: string): Promise<Operated> {
  const date = control.kind === "time" ? parseTime(value) : parseDate(value);
  if (date === undefined) return { took: false };
  for (const [member, part] of date.split(/[-:]/).entries())
    if (!(await form.handle.evaluate(setPart, { control: control.index, member, number: Number(part) })))
      return { took: false };
  return { took: true, held: date };
}
