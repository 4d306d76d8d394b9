import { refusalOf, shownAgain, shownRefusal } from "../forms/answer.js";
import type { PostedPair } from "../forms/posted.js";
import { carriedOf, type HeldValues, receivedValues } from "../forms/received.js";
import type { FieldValue, Task } from "../site.js";
import type { Control } from "./controls.js";
import type { Exchange } from "./network/exchange.js";
import { isServerFault } from "./network/requests.js";
import type { FormTarget } from "./page/actions.js";
import type { PageSigns } from "./page/signs.js";

/** What the server received and answered. */
export interface Submission {
  readonly method: string;
  readonly path: string;
  readonly posted: readonly PostedPair[];
  /** NaN where an answer has none: a socket, a beacon. */
  readonly status: number;
  readonly accepted: boolean;
  /** Why it was not accepted. */
  readonly refusal?: string;
  /** One value a control, as the server received it. */
  readonly values: readonly FieldValue[];
  readonly notes: readonly string[];
}

/** What is known when a form is sent: what its controls hold, and where it says that it goes. */
export interface Sent {
  readonly controls: readonly Control[];
  readonly held: HeldValues;
  readonly target: FormTarget | undefined;
  /** There is no submit button: what is typed is saved as it is typed. */
  readonly autosave: boolean;
  /** The page's own path. */
  readonly path: string;
}

/** Requests that pages send beside their forms say so in their addresses. */
const BESIDE =
  /(?:^|[/_.-])(?:analytics?|track(?:ing|er)?|telemetry|metrics?|log(?:s|ger|ging)?|collect|beacon|pixel|ping|heartbeat|keep-?alive|drafts?|auto-?save|preview|valid(?:ate|ation|ator)|check|suggest(?:ions?)?|auto-?complete|csrf|stats?|rum|replay|mouse|focus|click|impressions?|events?)(?:$|[/_.-])/i;
/** Of these not even one that carries everything is a submission. */
const NEVER =
  /(?:^|[/_.-])(?:analytics?|track(?:ing|er)?|telemetry|metrics?|collect|pixel|heartbeat|drafts?|auto-?save|preview|valid(?:ate|ation|ator)|suggest(?:ions?)?|rum|replay)(?:$|[/_.-])/i;

const pathOf = (exchange: Exchange): string => new URL(exchange.url).pathname;

/** An address without what it has in common with the page's own: the form of a page `/events/new` may well post to `/events`. */
function ownPath(exchange: Exchange, sent: Sent): string {
  const page = new Set(sent.path.split("/"));
  return pathOf(exchange)
    .split("/")
    .filter((part) => !page.has(part))
    .join("/");
}

/** How likely a request is the form's own, and how much of the form it carries. */
interface Ranked {
  readonly exchange: Exchange;
  readonly share: number;
  readonly rank: number;
}

/** What was found out of a request, as long as the form holds the same. */
const ranks = new WeakMap<Exchange, { readonly held: HeldValues; readonly ranked: Ranked }>();

function rankOf(exchange: Exchange, sent: Sent): Ranked {
  const known = ranks.get(exchange);
  if (known !== undefined && known.held === sent.held) return known.ranked;
  const ranked = rankAnew(exchange, sent);
  ranks.set(exchange, { held: sent.held, ranked });
  return ranked;
}

function rankAnew(exchange: Exchange, sent: Sent): Ranked {
  const { carried, of } = carriedOf(sent.controls, [...exchange.posted, ...exchange.inPath], sent.held);
  const share = of === 0 ? 0 : carried / of;
  const { target } = sent;
  const there =
    target !== undefined && exchange.method === target.method && withoutQuery(exchange.url) === target.address;
  const how =
    exchange.how === "navigation"
      ? 3
      : exchange.how === "beacon"
        ? 0.5
        : exchange.how === "socket"
          ? 2
          : exchange.method === "GET"
            ? 1
            : 3;
  return { exchange, share, rank: (BESIDE.test(ownPath(exchange, sent)) && !there ? 0 : 10) + how + (there ? 0.5 : 0) };
}

/**
 * Whether a navigation is the form's: scripts, refreshes and other forms navigate too. It carries at least half of what
 * was filled in; or names of the form's controls, and goes where the form says or carries at least half of what the form
 * always sends (a script may send that elsewhere; a frame has forms of its own). A form of nothing but boxes may send
 * none: it is known by its address.
 */
export function isOfForm(exchange: Pick<Exchange, "method" | "url" | "posted" | "owner">, sent: Sent): boolean {
  const { carried, of } = carriedOf(sent.controls, exchange.posted, sent.held);
  if (of > 0 && 2 * carried >= of && (carried > 1 || of === 1)) return true;
  const form = sent.target;
  if (form === undefined) return false;
  const names = new Set(exchange.posted.map(([name]) => name));
  const having = (wanted: readonly string[]): number => wanted.filter((name) => names.has(name)).length;
  const there = exchange.method === form.method && withoutQuery(exchange.url) === form.address;
  if (having(form.names) === 0) return there && form.always.length === 0;
  return there || (exchange.owner !== "frame" && of === 0 && 2 * having(form.always) >= form.always.length);
}

const withoutQuery = (url: string): string => url.split(/[?#]/)[0] ?? url;

/** Names or labels of the form that stand in a request as keys, as a share. */
function keyShare(exchange: Exchange, sent: Sent): number {
  const keys = new Set(
    exchange.posted.map(
      ([key]) =>
        key
          .split(/[.[\]]+/)
          .filter((part) => part !== "")
          .at(-1)
          ?.toLowerCase() ?? "",
    ),
  );
  const own = sent.controls.filter((control) => control.present && !control.elsewhere && control.name !== "");
  return own.length === 0 ? 0 : own.filter((control) => keys.has(control.name.toLowerCase())).length / own.length;
}

/** What is taken for the form's submission so far, and whether it is plain that nothing better will come. */
export interface Choice {
  readonly exchange: Exchange;
  /** All that the server received of the form with it, in further requests or in steps before it. */
  readonly with: readonly Exchange[];
  readonly plain: boolean;
}

/** Files that a page sends as soon as they are chosen, before the form. */
function uploads(exchanges: readonly Exchange[], sent: Sent): Exchange[] {
  const names = new Set(
    sent.controls.flatMap((control, i) => (control.kind === "file" ? [sent.held.values[i] ?? ""] : [])),
  );
  names.delete("");
  return exchanges.filter(
    ({ phase, method, posted }) =>
      names.size > 0 && phase === "open" && method !== "GET" && posted.some(([, value]) => names.has(value)),
  );
}

/** What is taken for the form's submission, with all that belongs to it; see `choose`. */
export function chooseSubmission(exchanges: readonly Exchange[], sent: Sent, patient: boolean): Choice | undefined {
  const choice = choose(exchanges, sent, patient);
  return choice === undefined ? undefined : { ...choice, with: [...choice.with, ...uploads(exchanges, sent)] };
}

/** What saved all of the form as it was typed, where the button that was clicked sends nothing: it only says that one is done. */
export function savedBefore(exchanges: readonly Exchange[], sent: Sent): Choice | undefined {
  const saves = exchanges.filter((e) => e.method !== "GET" && !NEVER.test(ownPath(e, sent)));
  const choice = chooseSubmission(saves, { ...sent, autosave: true }, true);
  return choice?.plain ? choice : undefined;
}

/**
 * The request, or the set of requests, that carries the form. Of several the one that carries most, and of these the last:
 * a page may validate, or try again after an error.
 * @param patient nothing else is to be expected: what carries little, or nothing that can be recognised, is considered too.
 */
function choose(exchanges: readonly Exchange[], sent: Sent, patient: boolean): Choice | undefined {
  const steps = exchanges.filter(
    (e) => e.phase === "step" && (e.method !== "GET" || e.how === "navigation") && !BESIDE.test(ownPath(e, sent)),
  );
  const late = exchanges.filter((e) => sent.autosave || e.phase === "submit");
  const ranked = late
    .map((exchange) => rankOf(exchange, sent))
    .filter(
      ({ exchange }) => sent.autosave || !NEVER.test(ownPath(exchange, sent)) || !patient || goesThere(exchange, sent),
    );
  const { of } = carriedOf(sent.controls, [], sent.held);
  const carrying = ranked.filter(
    ({ share, rank, exchange }) =>
      share >= 0.5 && (rank >= 1 || exchange.how === "beacon") && (share === 1 || of > 2 || exchange.method !== "GET"),
  );
  const main = carrying.filter(({ rank }) => rank >= 10);
  const pool = main.length > 0 ? main : carrying;
  const top = best(pool);
  const whole = top !== undefined && top.share === 1;
  if (top !== undefined && (whole || patient || top.exchange.how === "navigation")) {
    const parts = whole
      ? []
      : ranked
          .filter(
            ({ exchange, share, rank }) =>
              share > 0 &&
              rank >= 10 &&
              exchange !== top.exchange &&
              (exchange.method !== "GET" || exchange.how === "navigation"),
          )
          .map(({ exchange }) => exchange);
    return { exchange: top.exchange, with: [...steps, ...parts], plain: whole && top.rank >= 10 };
  }
  if (sent.autosave) {
    const saves = ranked
      .filter(({ share, exchange }) => share > 0 && (exchange.method !== "GET" || exchange.phase === "step"))
      .map(({ exchange }) => exchange);
    const last = saves.at(-1);
    if (last === undefined) return undefined;
    const covered = carriedOf(
      sent.controls,
      saves.flatMap((e) => [...e.posted, ...e.inPath]),
      sent.held,
    );
    return { exchange: last, with: saves, plain: covered.carried === covered.of };
  }
  if (top !== undefined) return { exchange: top.exchange, with: steps, plain: false };
  // together they may carry what none does alone
  const sending = ranked.filter(
    ({ exchange, rank }) => rank >= 10 && exchange.method !== "GET" && exchange.how !== "beacon",
  );
  const together = carriedOf(
    sent.controls,
    sending.flatMap(({ exchange }) => exchange.posted),
    sent.held,
  );
  const earlier = carriedOf(
    sent.controls,
    steps.flatMap((e) => e.posted),
    sent.held,
  );
  const navigation = ranked.filter(({ exchange }) => exchange.how === "navigation" && isOfForm(exchange, sent)).at(-1);
  if (navigation !== undefined) return { exchange: navigation.exchange, with: steps, plain: true };
  const last = sending.at(-1)?.exchange;
  if (last === undefined) return undefined;
  // what the page sends all the time says nothing
  const usual = new Set(exchanges.filter((e) => e.phase === "open").map(placeOf));
  const fresh = sending.filter(({ exchange }) => !exchange.routine && !usual.has(placeOf(exchange)));
  if (of === 0 || 2 * earlier.carried >= of) {
    const first = fresh[0]?.exchange;
    if (first === undefined) return undefined;
    // the same once more, after an error
    const again = fresh.findLast(
      ({ exchange }) => exchange.url === first.url && exchange.method === first.method,
    )?.exchange;
    return { exchange: (of === 0 ? again : fresh.at(-1)?.exchange) ?? first, with: steps, plain: of === 0 };
  }
  if (!patient) return undefined;
  if (2 * together.carried >= together.of)
    return { exchange: last, with: sending.map(({ exchange }) => exchange), plain: false };
  const named = fresh.filter(({ exchange }) => keyShare(exchange, sent) >= 0.5).at(-1);
  return named === undefined ? undefined : { exchange: named.exchange, with: steps, plain: false };
}

const placeOf = (exchange: Exchange): string => `${exchange.method} ${withoutQuery(exchange.url)}`;

const goesThere = (exchange: Exchange, sent: Sent): boolean =>
  sent.target !== undefined &&
  withoutQuery(exchange.url) === sent.target.address &&
  exchange.method === sent.target.method;

function best(pool: readonly Ranked[]): Ranked | undefined {
  return pool.reduce<Ranked | undefined>((top, next) => {
    if (top === undefined || next.share > top.share) return next;
    return next.share === top.share && next.rank >= top.rank - 0.6 ? next : top;
  }, undefined);
}

/** Whether an answer tells of a broken server, or there is none: pages try again. */
export const isBroken = (exchange: Exchange): boolean =>
  exchange.answer !== undefined && (exchange.answer.failure !== undefined || isServerFault(exchange.answer.status));

/** Reads out of the requests what the server received, and out of the answer and the page whether it took it. */
export function judge(
  task: Pick<Task, "keys">,
  sent: Sent,
  choice: Choice,
  shown: { readonly before: PageSigns | undefined; readonly after: PageSigns | undefined; readonly status?: number },
): Submission {
  const { exchange } = choice;
  const posted = merged(choice);
  const { values, notes } = receivedValues(sent.controls, [...posted, ...exchange.inPath], sent.held, task.keys);
  const texts = sent.controls.flatMap((c, i) =>
    typeof sent.held.values[i] === "string" &&
    !["select", "radio", "file"].includes(c.kind) &&
    sent.held.values[i] !== c.default
      ? [String(sent.held.values[i])]
      : [],
  );
  const names = sent.controls.filter((c) => c.present && !c.elsewhere).map((c) => c.name || c.label);
  const secret = sent.controls.some((c) => c.kind === "password" && !c.elsewhere);
  const page =
    shown.after === undefined
      ? undefined
      : (shownRefusal(shown.after, shown.before, { names, values: texts, address: exchange.url }) ??
        (shown.before === undefined || shown.before.url !== shown.after.url || exchange.how === "navigation"
          ? again(exchange, shown.after, texts, names, secret)
          : undefined));
  const refused = [exchange, ...choice.with.filter((e) => e.phase === "submit")]
    .map((e) => (e.answer === undefined ? undefined : refusalOf(e.answer, e.posted, e.url)))
    .find((why) => why !== undefined);
  const late = shown.status !== undefined && shown.status >= 400 ? `refused with HTTP ${shown.status}` : undefined;
  const refusal = refused ?? late ?? page;
  return {
    method: exchange.method,
    path: pathOf(exchange),
    posted,
    status: exchange.answer?.status ?? Number.NaN,
    accepted: refusal === undefined,
    ...(refusal === undefined ? {} : { refusal }),
    values,
    notes,
  };
}

const again = (
  exchange: Exchange,
  after: PageSigns,
  texts: readonly string[],
  names: readonly string[],
  secret: boolean,
): string | undefined =>
  exchange.how === "navigation" && exchange.method !== "GET" && shownAgain(after, texts, names, secret)
    ? "the form is shown again"
    : undefined;

/** The pairs of the submission, and of what came before it: of several requests to one address the last says it. */
function merged(choice: Choice): PostedPair[] {
  const posted = [...choice.exchange.posted];
  const known = new Set(choice.exchange.posted.map(([name]) => `${choice.exchange.url} ${name}`));
  for (const exchange of [...choice.with].reverse()) {
    if (exchange === choice.exchange) continue;
    const fresh = exchange.posted.filter(([name]) => !known.has(`${exchange.url} ${name}`));
    for (const [name] of fresh) known.add(`${exchange.url} ${name}`);
    posted.push(...fresh);
  }
  return posted;
}
