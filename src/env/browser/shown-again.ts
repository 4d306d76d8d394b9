import { setTimeout as sleep } from "node:timers/promises";
import { visibleLines } from "../forms/answer.js";
import { isError } from "../forms/judge.js";
import type { Exchange } from "./network/exchange.js";
import type { Session } from "./session.js";

/** Time that a script may take to show the result, and a document to replace the page, in milliseconds. */
const SAYS_MS = 200;
const ARRIVES_MS = 2000;
const MOST_LETTERS = 100;

/** Runs IN THE PAGE: reads the fields by name, with the classes and ARIA of each and of the box around it. */
function namedFields() {
  const fields: Record<string, { readonly value: string; readonly marks: string }> = {};
  const found = "input[name]:not([type=hidden]),select[name],textarea[name]";
  for (const e of document.querySelectorAll<HTMLInputElement>(found)) {
    const value = e.type === "checkbox" || e.type === "radio" ? String(e.checked) : e.value;
    const marks = [e, e.parentElement].map((one) => `${one?.className} ${one?.getAttribute("aria-invalid")}`).join();
    fields[e.name] = { value: `${fields[e.name]?.value ?? ""}${value}`, marks };
  }
  return fields;
}

/** The state of a page with a form, before or after it was sent; the number of documents that the session had shown. */
export type Seen = Awaited<ReturnType<typeof look>>;

export async function look(session: Session) {
  const [fields, lines] = await Promise.all([session.view.evaluate(namedFields), visibleLines(session)]);
  return { fields, lines, documents: session.documents };
}

/**
 * Recognises a refused form in any language: the document that answers shows the form again, or a script leaves it
 * filled in and marks it or shows a text.
 * @returns the reason why it counts as refused; undefined if it does not.
 */
export async function shownAgain(session: Session, exchange: Exchange, before: Seen): Promise<string | undefined> {
  const names = [...new Set(exchange.posted.map(([name]) => name))].filter((name) =>
    Object.hasOwn(before.fields, name),
  );
  // an error of HTTP needs no other sign
  if (isError(exchange.answer?.status ?? null) || exchange.method === "GET" || names.length === 0) return undefined;
  const navigates = exchange.how === "navigation";
  if (navigates && !(await hasArrived(session, before.documents))) return undefined;
  for (const end = performance.now() + SAYS_MS; ; await sleep(50)) {
    const after = await lookOnwards(session, before.documents);
    if (!names.every((name) => Object.hasOwn(after.fields, name))) return undefined;
    const [message] = after.lines.filter((line) => !before.lines.includes(line));
    const quoted = message === undefined ? "" : `, with "${message.slice(0, MOST_LETTERS)}"`;
    if (navigates) return `the form is shown again${quoted}`;
    if (!names.every((name) => after.fields[name]?.value === before.fields[name]?.value)) return undefined;
    const isMarked = names.some((name) => after.fields[name]?.marks !== before.fields[name]?.marks);
    if (isMarked || message !== undefined) return `the form is still there${quoted}`;
    if (performance.now() > end) return undefined;
  }
}

/** Reads the page, or the next one if a script navigates meanwhile. */
async function lookOnwards(session: Session, documents: number): Promise<Seen> {
  try {
    return await look(session);
  } catch (error) {
    if (!(await session.movesOn(documents))) throw error;
    await session.enter();
    return look(session);
  }
}

/** Waits for the document of an answer. @returns false if there is none, such as for a download. */
async function hasArrived(session: Session, documents: number): Promise<boolean> {
  if (!(await session.until(session.stretched(ARRIVES_MS), () => session.documents !== documents))) return false;
  await session.enter();
  return true;
}
