/**
 * Judges an episode by the requests that its server received and its answers. That needs no browser, so that recorded
 * episodes can be judged again. The checksum of the judge is made of this code.
 */
import type { Control } from "../browser/controls.js";
import { type Exchange, pathOf } from "../browser/network/exchange.js";
import type { FieldValue, Task } from "../site.js";
import { AGAIN, featuresOf, ownFeatures, writtenIn } from "./answer.js";
import type { Answers, Contract } from "./contract.js";
import { receivedBy } from "./native.js";
import { isEqual, matchValue, UNREAD } from "./normalize.js";
import type { PostedPair } from "./posted.js";
import { received, uploaded } from "./wire.js";

/** A request with the form's values, and its answer. */
export interface KeptRequest {
  readonly method: string;
  readonly path: string;
  readonly posted: readonly PostedPair[];
  /** Pairs that were sent elsewhere before it, such as a file that was uploaded once it was chosen. */
  readonly uploads?: readonly PostedPair[];
  /** Null if the answer has no status, as for a socket or a beacon. */
  readonly status: number | null;
  /** Features of the answer, and of the page if the contract needs them; about {@link MOST_FEATURES} at most. */
  readonly features: readonly string[];
  /** Set in records of earlier versions if the answer was the form again; now a feature says so. */
  readonly again?: true;
  /** Indices of the controls that it may hold values of; absent: all. */
  readonly of?: readonly number[];
}

/** The evidence for judging an episode, besides its actions. */
export interface Evidence {
  /** The requests in the order in which the server received them. */
  readonly requests: readonly KeptRequest[];
  /** The values that were compared, one for each control. */
  readonly values: readonly FieldValue[];
  /** Indices of controls with a file that no plan asked for. */
  readonly unearned?: readonly number[] | undefined;
  /** Tells whether the task's success marker appeared. */
  readonly marked?: boolean | undefined;
  /** The reason why the page shows that the form was not accepted. */
  readonly page?: string | undefined;
  /** The controls, if neither the site nor a contract defines them. */
  readonly controls?: readonly Control[] | undefined;
}

/** The parts of a form that judging needs. */
export interface JudgedForm {
  readonly controls: readonly Control[];
  readonly contract?: Answers | undefined;
  /** The learned fields, with the key and the notation of each value. */
  readonly fields?: Contract["fields"] | undefined;
}

export const NO_MARKER = "the success marker did not appear";
const MOST_FEATURES = 100;

/**
 * Returns a request as it is judged and recorded.
 * @param written texts of the plan: what only repeats them is no evidence, and is left out.
 * @param shown features of the page.
 */
export function keptRequest(
  exchange: Exchange,
  contract: Answers | undefined,
  written: readonly string[],
  { shown = [], exchanges = [] }: { readonly shown?: string[]; readonly exchanges?: readonly Exchange[] } = {},
): KeptRequest {
  const { posted } = exchange;
  const features = ownFeatures([...featuresOf(exchange), ...shown], writtenIn(written, posted), posted);
  const named = features.filter((f) => contract?.accepted.includes(f) || contract?.refused.includes(f));
  const uploads = uploaded(exchanges, exchange, contract?.saves);
  const { status } = exchange.answer ?? { status: Number.NaN };
  return {
    method: exchange.method,
    path: pathOf(exchange),
    posted,
    ...(uploads.length === 0 ? {} : { uploads }),
    status: Number.isNaN(status) ? null : status,
    features: [...new Set([...named, ...features])].slice(0, Math.max(named.length, MOST_FEATURES)),
  };
}

/**
 * Returns the reason why an answer does not accept the form; undefined if it does. This is the only place that decides
 * so, for declared, learned and read forms: an error of HTTP and evidence of a refusal come before all else, then the
 * task's own signs, then those of the form's contract. Where no sign of a refusal is known, the form again is one.
 */
export function refusalOf(
  { status, features, again }: Pick<KeptRequest, "status" | "features" | "again">,
  contract: Answers | undefined,
  { marked, page }: Pick<Evidence, "marked" | "page">,
): string | undefined {
  if (isError(status)) return `refused with HTTP ${status}`;
  const { accepted = [], refused = [] } = contract ?? {};
  const refusal = refused.find((feature) => features.includes(feature));
  if (refusal !== undefined) return `refused: ${refusal}`;
  if (page !== undefined) return page;
  if (marked !== undefined) return marked ? undefined : NO_MARKER;
  const missing = accepted.filter((feature) => !features.includes(feature));
  if (missing.length > 0 || (contract !== undefined && accepted.length === 0))
    return `expected ${missing.join(", ") || "a known answer"}; got ${features.slice(0, 3).join(", ")}`;
  const isAgain = again === true || features.includes(AGAIN);
  return isAgain && refused.length === 0 && !accepted.includes(AGAIN) ? "the form is shown again" : undefined;
}

export const isError = (status: number | null): boolean => (status ?? 0) >= 400;

/** Reads the values of a request, one for each control. */
function valuesOf(
  { controls, fields }: Pick<JudgedForm, "controls" | "fields">,
  { posted, uploads = [] }: Pick<KeptRequest, "posted" | "uploads">,
  task: Pick<Task, "fields" | "keys">,
): FieldValue[] {
  if (fields === undefined) return receivedBy(controls, posted, task);
  return controls.map((control): FieldValue => {
    const { label } = control;
    const field = fields[label];
    const truth = task.fields[label];
    if (field?.wire === undefined) return "";
    const value = received(label, field.wire, field.kind, truth, [...posted, ...uploads], task.fields);
    // only the notation decides: a text that it does not read as the true value may not match it by another rule
    const isOther = truth !== undefined && value !== truth && !isEqual(UNREAD, value, truth);
    return isOther && matchValue(control, truth, value) === 1 ? `${value} (in another notation)` : value;
  });
}

/** Judges evidence, as it comes or as it is recorded. @returns why the form was not accepted, if so, and one value for each control. */
export function judgeEvidence(
  form: JudgedForm,
  { requests, values: compared, unearned = [], marked, page }: Evidence,
  task: Pick<Task, "fields" | "keys">,
): { readonly refusal: string | undefined; readonly values: readonly FieldValue[] } {
  const values = form.controls.map((control, i) => compared[i] ?? control.default);
  for (const request of requests) {
    const received = valuesOf(form, request, task);
    for (const i of request.of ?? received.keys()) values[i] = received[i] ?? "";
  }
  for (const i of unearned) values[i] = "";
  const last = requests.at(-1);
  const refusal = last === undefined ? "nothing was sent" : refusalOf(last, form.contract, { marked, page });
  return { refusal, values };
}
