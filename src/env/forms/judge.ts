/**
 * Judges an episode by the requests that its server received and its answers. That needs no browser, so that recorded
 * episodes can be judged again. The checksum of the judge is made of this code.
 */
import type { Control } from "../browser/controls.js";
import { type Exchange, pathOf } from "../browser/network/exchange.js";
import type { FieldValue, Task } from "../site.js";
import type { Answers, Contract } from "./contract.js";
import { receivedBy } from "./native.js";
import { isEqual, matchValue, UNREAD } from "./normalize.js";
import type { PostedPair } from "./posted.js";
import { received, uploaded } from "./wire.js";

/** A request with the form's values. */
export interface KeptRequest {
  readonly method: string;
  readonly path: string;
  readonly posted: readonly PostedPair[];
  /** Pairs that were sent elsewhere before it, such as a file that was uploaded once it was chosen. */
  readonly uploads?: readonly PostedPair[];
  /** Null if the answer has no status, as for a socket or a beacon. */
  readonly status: number | null;
  /** Indices of the controls that it may hold values of; absent: all. */
  readonly of?: readonly number[];
}

/** The site's answer to a form, by the declared signs. */
export interface Verdict {
  readonly accepted: boolean;
  /** The reason why it was not accepted. */
  readonly why?: string;
  /** The texts in which the site names the fields that it refuses. */
  readonly named?: readonly string[];
}

/** The evidence for judging an episode, besides its actions. */
export interface Evidence {
  /** The requests in the order in which the server received them. */
  readonly requests: readonly KeptRequest[];
  /** Absent if nothing was sent, or no success is declared. */
  readonly verdict?: Verdict | undefined;
  /** Indices of controls with a file that no plan asked for. */
  readonly unearned?: readonly number[] | undefined;
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

export const UNDECLARED = "no success is declared";

/** Returns a request as it is judged and recorded. @param exchanges all requests of the page. */
export function keptRequest(
  exchange: Exchange,
  contract: Answers | undefined,
  exchanges: readonly Exchange[] = [],
): KeptRequest {
  const uploads = uploaded(exchanges, exchange, contract?.saves);
  const { status } = exchange.answer ?? { status: Number.NaN };
  return {
    method: exchange.method,
    path: pathOf(exchange),
    posted: exchange.posted,
    ...(uploads.length === 0 ? {} : { uploads }),
    status: Number.isNaN(status) ? null : status,
  };
}

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

/**
 * Judges evidence, as it comes or as it is recorded. What the server did not receive counts as untouched.
 * @returns why the form was not accepted, if so, and one value for each control.
 */
export function judgeEvidence(
  form: JudgedForm,
  { requests, unearned = [], verdict }: Evidence,
  task: Pick<Task, "fields" | "keys">,
): { readonly refusal: string | undefined; readonly values: readonly FieldValue[] } {
  const values = form.controls.map((control) => control.default);
  for (const request of requests) {
    const received = valuesOf(form, request, task);
    for (const i of request.of ?? received.keys()) values[i] = received[i] ?? "";
  }
  for (const i of unearned) values[i] = "";
  const refusal =
    requests.length === 0
      ? "nothing was sent"
      : verdict === undefined
        ? UNDECLARED
        : verdict.accepted
          ? undefined
          : (verdict.why ?? "not accepted");
  return { refusal, values };
}
