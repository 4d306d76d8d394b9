import type { Response } from "playwright";
import type { PostedPair } from "../../forms/posted.js";
import { EnvironmentFault } from "../browser.js";
import { MOST_BYTES } from "./bring.js";
import { isServerFault, type Owner } from "./requests.js";

/** Answer to a request of the page. */
export interface Answer {
  /** NaN where there was none, or none that a script can see. */
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** The address that the answer came from in the end, or that it leads to. */
  readonly url: string;
  /** Tells why there is no answer. */
  readonly failure?: string;
}

/** One request of the page that carries something, from the moment the page was opened. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly how: "navigation" | "script" | "beacon" | "socket";
  readonly owner: Owner;
  readonly posted: readonly PostedPair[];
  /** The page had sent the same (method and path) before anybody touched it. */
  readonly routine: boolean;
  /** `Traffic.phase` when it was sent: after the submit, or after a step towards it. */
  phase: Phase;
  answer: Answer | undefined;
}

/** `open`: until the plan submits. `step`: the way on to a further part of the form. `submit`: from the submit on. */
export type Phase = "open" | "step" | "submit";

/** Characters of an answer that are read. */
export const MOST_TEXT = 2_000_000;

/** Tells what the browser says of an answer. */
export async function answerOf(response: Response | null, url: string): Promise<Answer> {
  const status = response?.status() ?? Number.NaN;
  const contentType = response?.headers()["content-type"] ?? "";
  const readable =
    (response !== null && status < 300) || status >= 400
      ? /json|text|xml|html/.test(contentType) || contentType === ""
      : false;
  const tooLong = Number(response?.headers()["content-length"] ?? 0) > MOST_BYTES;
  const text = readable && !tooLong ? await (response?.text() ?? Promise.resolve("")).catch(() => "") : "";
  return { status, contentType, text: text.slice(0, MOST_TEXT), url: response?.url() ?? url };
}

/** An answer that did not come. */
export const noAnswer = (url: string, failure: string): Answer => ({
  status: Number.NaN,
  contentType: "",
  text: "",
  url,
  failure,
});

/** A request as faults call it, as `POST /send`. */
export const nameOf = ({ method, url }: Exchange): string => `${method} ${new URL(url).pathname}`;

/** @throws EnvironmentFault where an answer says that the server is broken, or there is none. */
export function checkAnswered(exchange: Exchange): void {
  const { answer } = exchange;
  const about = nameOf(exchange);
  if (answer?.failure !== undefined) throw new EnvironmentFault(`no answer to ${about}: ${answer.failure}`);
  if (answer !== undefined && isServerFault(answer.status))
    throw new EnvironmentFault(`HTTP ${answer.status} for ${about}`);
}
