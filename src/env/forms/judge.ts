/**
 * What decides about an episode, from what its server received and answered: no browser is needed for it, so that kept
 * episodes can be judged again. Its code is what the checksum of the judge is made of.
 */
import type { Control } from "../browser/controls.js";
import type { Exchange } from "../browser/network/exchange.js";
import { featuresOf } from "../pages/answer.js";
import type { Answers, Contract } from "../pages/contract.js";
import { receivedBy } from "../pages/native.js";
import { received, uploaded } from "../pages/wire.js";
import type { FieldValue, Task } from "../site.js";
import type { PostedPair } from "./posted.js";

/** A request that carried what was filled in, and how it was answered. */
export interface KeptRequest {
  readonly method: string;
  readonly path: string;
  readonly posted: readonly PostedPair[];
  /** Sent elsewhere before it, as a file that was sent as soon as it was chosen. */
  readonly uploads?: readonly PostedPair[];
  /** Null where an answer has none: a socket, a beacon. */
  readonly status: number | null;
  /** Features of the answer, and of the page where its form is accepted by these; at most {@link MOST_FEATURES}. */
  readonly features: readonly string[];
  /** The answer is the form again. */
  readonly again?: true;
  /** Controls that it may hold a value of, by index; absent: all. */
  readonly of?: readonly number[];
}

/** The evidence that an episode is judged by besides its actions. */
export interface Evidence {
  /** In the order in which the server received them. */
  readonly requests: readonly KeptRequest[];
  /** The values that were compared, one a control. */
  readonly values: readonly FieldValue[];
  /** Controls with a file that no plan asked for, by index. */
  readonly unearned?: readonly number[] | undefined;
  /** Tells whether the task's success marker appeared. */
  readonly marked?: boolean | undefined;
  /** Tells why the page that was shown is that of a form which was not accepted. */
  readonly page?: string | undefined;
  /** Used where neither the site nor a contract tells them. */
  readonly controls?: readonly Control[] | undefined;
}

/** A form as far as judging needs it. */
export interface JudgedForm {
  readonly controls: readonly Control[];
  readonly contract?: Answers | undefined;
  /** The learned fields: each tells where its value stands and how it is written. */
  readonly fields?: Contract["fields"] | undefined;
}

export const NO_MARKER = "the success marker did not appear";
const MOST_FEATURES = 100;

/** A request as it is judged and kept. @param shown features of the page. */
export function keptRequest(
  exchange: Exchange,
  contract: Answers | undefined,
  {
    shown = [],
    exchanges = [],
    of,
  }: { shown?: string[]; exchanges?: readonly Exchange[]; of?: readonly number[] } = {},
): KeptRequest {
  const features = [...featuresOf(exchange), ...shown];
  const named = features.filter((f) => contract?.accepted.includes(f) || contract?.refused.includes(f));
  const uploads = uploaded(exchanges, exchange);
  const { status } = exchange.answer ?? { status: Number.NaN };
  return {
    method: exchange.method,
    path: new URL(exchange.url).pathname,
    posted: exchange.posted,
    ...(uploads.length === 0 ? {} : { uploads }),
    status: Number.isNaN(status) ? null : status,
    features: [...new Set([...named, ...features])].slice(0, Math.max(named.length, MOST_FEATURES)),
    ...(isShownAgain(exchange) ? { again: true } : {}),
    ...(of === undefined ? {} : { of }),
  };
}

/** Tells why an answer is none that a form was accepted with; undefined where it is one. */
export function refusalOf(
  { status, features, again }: Pick<KeptRequest, "status" | "features" | "again">,
  contract: Answers | undefined,
  marked: boolean | undefined,
): string | undefined {
  if (marked !== undefined) return marked ? undefined : NO_MARKER;
  const missing = contract?.accepted.filter((feature) => !features.includes(feature)) ?? [];
  if (missing.length === 0 && (contract?.accepted.length ?? 0) > 0) return undefined;
  if (isError(status)) return `refused with HTTP ${status}`;
  if (contract === undefined) return again === true ? "the form is shown again" : undefined;
  return `expected ${missing.join(", ")}; got ${features.slice(0, 3).join(", ")}`;
}

export const isError = (status: number | null): boolean => (status ?? 0) >= 400;

/** Tells whether a page that answers has fields of all the names that were sent. */
function isShownAgain({ answer, posted, how, method }: Exchange): boolean {
  if (how !== "navigation" || method === "GET" || answer === undefined || answer.status >= 300 || posted.length === 0)
    return false;
  return posted.every(([name]) => answer.text.includes(`name="${name}"`) || answer.text.includes(`name=${name}`));
}

/** Tells what the server received by a request, one value a control. */
function valuesOf(
  { controls, fields }: Pick<JudgedForm, "controls" | "fields">,
  { posted, uploads = [] }: Pick<KeptRequest, "posted" | "uploads">,
  task: Pick<Task, "fields" | "keys">,
): FieldValue[] {
  if (fields === undefined) return receivedBy(controls, posted, task);
  return controls.map(({ label }): FieldValue => {
    const field = fields[label];
    if (field?.wire === undefined) return "";
    return received(label, field.wire, field.kind, task.fields[label], [...posted, ...uploads], task.fields);
  });
}

/** A form that was sent: what the server received and answered. */
export interface Submission {
  readonly posted: readonly PostedPair[];
  readonly status?: number | undefined;
  /** Tells why it was not accepted, if it was not. */
  readonly refusal: string | undefined;
  /** One value a control, as the server received it. */
  readonly values: readonly FieldValue[];
  readonly evidence: Omit<Evidence, "values">;
}

/** Judges a form that was sent. @param said what the page says of it. */
export function judgeRequest(
  { contract, ...form }: JudgedForm,
  request: KeptRequest,
  task: Pick<Task, "fields" | "keys">,
  { marked, page }: Pick<Evidence, "marked" | "page">,
): Submission {
  return {
    posted: request.posted,
    status: request.status ?? undefined,
    refusal: page ?? refusalOf(request, contract, marked),
    values: valuesOf(form, request, task),
    evidence: { requests: [request], marked, page },
  };
}

/** Judges kept evidence: why the form was not accepted, if it was not, and one value a control. */
export function judgeEvidence(
  form: JudgedForm,
  { requests, values: compared, unearned = [], marked, page }: Evidence,
  task: Pick<Task, "fields" | "keys">,
): { readonly refusal: string | undefined; readonly values: readonly FieldValue[] } {
  const values = form.controls.map((control, i) => compared[i] ?? control.default);
  for (const request of requests) {
    const said = valuesOf(form, request, task);
    for (const i of request.of ?? said.keys()) values[i] = said[i] ?? "";
  }
  for (const i of unearned) values[i] = "";
  const last = requests.at(-1);
  const refusal = last === undefined ? "nothing was sent" : (page ?? refusalOf(last, form.contract, marked));
  return { refusal, values };
}
