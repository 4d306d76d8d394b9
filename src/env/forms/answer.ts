import type { PageSigns } from "../browser/page-signs.js";
import type { PostedPair } from "./posted.js";

/** How a server took a post: what it says itself, without the page around it. */
export interface Answered {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly url: string;
}

const ERROR =
  /\b(?:errors?|invalid|required|failed|failure|fail|incorrect|wrong|not (?:valid|accepted|found|allowed|permitted|(?:be )?(?:saved|sent|processed|submitted|completed))|please (?:enter|fill|correct|try|provide|log ?in|sign ?in|check (?:the (?:form|fields|errors|highlighted)|your (?:input|entries|form)))|try again|denied|expired|timed out|could(?: not|n['\u2019]t)|can(?:not|['\u2019]t)|unable|problem|must (?:be|have|contain|not)|missing|already (?:taken|exists?|in use|registered|used)|too (?:short|long|many)|sorry|oops|rejected|forbidden|unauthori[sz]ed|do(?:es)?(?:n['\u2019]t| not) match|unavailable|sold out|declined|under maintenance|can['\u2019]t be blank)\b/i;
const SUCCESS =
  /\b(?:thank(?:s| you)|success(?:ful|fully)?|received|submitted|saved|sent|registered|confirmed|confirmation|welcome|booked|complete[d]?|created|accepted|congratulations|all set|in touch|get back to you|see you|done|subscribed|joined|placed|reserved|approved|recorded|updated|got it)\b/i;

/** A no turns a success into none, and the other way round. */
const saysError = (text: string): boolean =>
  ERROR.test(text.replace(/\b(?:no|0|without(?: any)?|zero) (?:errors?|problems?|failures?)\b/gi, ""));
const saysSuccess = (text: string): boolean =>
  SUCCESS.test(
    text.replace(
      /\b(?:not|no|never|cannot|failed to|unable to|(?:could|was|is|has|have|did|do|does|are|were)n['\u2019]t|can['\u2019]t|to be|before|until|unless|must be)\b[^.!?;]*/gi,
      "",
    ),
  );

/** Whether an address is that of a login. */
export function isLogin(url: string): boolean {
  const path = URL.canParse(url, "http://site.invalid") ? new URL(url, "http://site.invalid").pathname : "";
  return /(?:^|[/_.-])(?:log-?in|log-?on|sign-?in|authenticate|auth|sso|sessions?\/new|session-?expired)(?:$|[/_.-])/i.test(
    path,
  );
}

/**
 * Why a server's answer is a refusal, from its status, its address and its body; undefined where it is none.
 * @param posted what was sent: an answer may give it back, and that says nothing.
 */
export function refusalOf(answer: Answered, posted: readonly PostedPair[]): string | undefined {
  if (answer.status >= 400) return `refused with HTTP ${answer.status}`;
  if (isLogin(answer.url)) return "the answer leads to a login";
  const body = answer.text.trim();
  if (body === "" || /html/.test(answer.contentType)) return undefined;
  if (/^[[{]/.test(body) || answer.contentType.includes("json")) {
    try {
      const why = failureIn(JSON.parse(body) as unknown, echoOf(posted), 0);
      return why === undefined ? undefined : `the answer says ${why}`;
    } catch {
      // no JSON after all
      return undefined;
    }
  }
  if (/^</.test(body)) {
    const pairs = [...body.matchAll(/<([\w:.-]+)[^<>]*>([^<>]*)<\/\1>/g)].map((m) => [m[1] ?? "", m[2] ?? ""] as const);
    const why = failureIn(Object.fromEntries(pairs), echoOf(posted), 0);
    return why === undefined || !answer.contentType.includes("xml") ? undefined : `the answer says ${why}`;
  }
  if (/^(?:0|-1|false|no|ko|nok|err|ng)$/i.test(body)) return `the answer says ${body}`;
  return body.length < 500 && saysError(body) && !saysSuccess(body) ? `the answer says ${short(body)}` : undefined;
}

const echoOf = (posted: readonly PostedPair[]): ReadonlySet<string> =>
  new Set(posted.map(([key, value]) => `${lastOf(key)}=${value}`));
const lastOf = (key: string): string =>
  key
    .split(/[.[\]]+/)
    .filter((part) => part !== "")
    .at(-1) ?? key;
const short = (text: string): string => JSON.stringify(text.replace(/\s+/g, " ").slice(0, 80));

const FAILURES =
  /^(?:errors?|err|exceptions?|fault|(?:user|field|validation|form|client)_?errors?|violations|invalid_?(?:fields|params)|failures|problems)$/i;
const FLAGS = /^(?:success|ok|accepted|valid|is_?valid|is_?success|successful|succeeded)$/i;
const STATES =
  /^(?:status|state|result|outcome|code|type|kind|level|severity|response|status_?code|http_?status|error_?code)$/i;
const BAD_STATE =
  /(?:^|[_\s-])(?:fail(?:ed|ure)?|err(?:or)?|invalid|denied|reject(?:ed)?|refused|unauthori[sz]ed|forbidden|expired|spam|aborted|declined|nok|ko|bad)(?:$|[_\s-])|^not[_\s-]/i;
const MESSAGES = /^(?:message|msg|detail|reason|description|title|text)$/i;
const LEADS = /^(?:redirect(?:_?(?:url|to))?|location|next|url|goto)$/i;

/** Servers that answer 200 with a refusal say so in their JSON, at the top or below. */
function failureIn(value: unknown, echo: ReadonlySet<string>, depth: number): string | undefined {
  if (depth > 5) return undefined;
  if (value === false) return depth === 0 ? "false" : undefined;
  if (typeof value === "string")
    return depth === 0 && saysError(value) && !saysSuccess(value) ? short(value) : undefined;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 100)) {
      const why = typeof item === "object" ? failureIn(item, echo, depth + 1) : undefined;
      if (why !== undefined) return why;
    }
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  let good = false;
  const entries = Object.entries(value).filter(
    ([key, inner]) => typeof inner === "object" || !echo.has(`${key}=${inner}`),
  );
  for (const [key, inner] of entries) {
    const plain = key.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
    if (FAILURES.test(plain) && isFailure(inner)) return `${key}: ${short(JSON.stringify(inner))}`;
    if (FLAGS.test(plain)) {
      if (inner === false || inner === 0 || /^(?:false|no|0)$/i.test(String(inner))) return `${key}: ${String(inner)}`;
      good ||= inner === true || inner === 1;
    }
    if (depth < 3 && STATES.test(plain)) {
      if (typeof inner === "string" && BAD_STATE.test(inner.slice(0, 200))) return `${key}: ${short(inner)}`;
      if (typeof inner === "number" && /code|status/.test(plain) && (inner >= 400 || inner < 0))
        return `${key}: ${inner}`;
      good ||= typeof inner === "string" && /^(?:ok|success|accepted|created|sent|mail_sent|saved|done)$/i.test(inner);
    }
    if (depth < 2 && LEADS.test(plain) && typeof inner === "string" && isLogin(inner)) return `${key}: ${short(inner)}`;
  }
  if (!good && depth < 2)
    for (const [key, inner] of entries)
      if (MESSAGES.test(key) && typeof inner === "string" && saysError(inner) && !saysSuccess(inner))
        return `${key}: ${short(inner)}`;
  for (const [, inner] of entries) {
    const why = typeof inner === "object" ? failureIn(inner, echo, depth + 1) : undefined;
    if (why !== undefined) return why;
  }
  return undefined;
}

function isFailure(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return typeof value === "string"
    ? !/^(?:|none|ok|0|null|false|no)$/i.test(value.trim())
    : typeof value === "number"
      ? value !== 0
      : false;
}

/**
 * Why a page that is shown after a post tells of a refusal; undefined where it does not.
 * @param before what was shown before it: what stood there already says nothing.
 */
export function shownRefusal(
  after: PageSigns,
  before: PageSigns | undefined,
  names: readonly string[],
): string | undefined {
  const isNew = (text: string): boolean =>
    !before?.errors.includes(text) &&
    !before?.notices.some((notice) => notice.text === text) &&
    !before?.headings.includes(text);
  if (
    after.password &&
    before?.password !== true &&
    (isLogin(after.url) || [after.title, ...after.headings].some((text) => /log ?in|sign ?in|session/i.test(text)))
  )
    return "the answer is a login";
  if (isLogin(after.url) && (before === undefined || !isLogin(before.url))) return "the answer is a login";
  const notices = after.notices.filter((notice) => isNew(notice.text));
  const good =
    notices.some(({ text, good }) => (good && !saysError(text)) || saysSuccess(text)) ||
    [after.title, ...after.headings].some((text) => isNew(text) && text !== before?.title && saysSuccess(text));
  const again = names.length > 0 && 2 * names.filter((name) => after.fields.includes(name)).length >= names.length;
  const errors = after.errors.filter((text) => isNew(text) && !saysSuccess(text)).sort((a, b) => b.length - a.length);
  const bad = [
    ...errors,
    ...notices.filter(({ text }) => saysError(text) && !saysSuccess(text)).map(({ text }) => text),
  ];
  if (bad[0] !== undefined && (again || !good)) return `the page says ${short(bad[0])}`;
  if (again && after.invalid > (before?.invalid ?? 0) && !good) return "the page marks fields as invalid";
  if (good) return undefined;
  const changed = before === undefined || before.url !== after.url || before.text !== after.text;
  if (!changed) return undefined;
  const heading = [after.title, ...after.headings].find(
    (text) => isNew(text) && text !== before?.title && saysError(text),
  );
  if (heading !== undefined) return `the page says ${short(heading)}`;
  if (!again && after.text.length < 400 && saysError(after.text) && !saysSuccess(after.text))
    return `the page says ${short(after.text)}`;
  return undefined;
}

/** Whether a new page shows the form once more with what was sent in it, and says nothing: it was not taken. */
export function shownAgain(after: PageSigns, sent: readonly string[], names: readonly string[]): boolean {
  const again = names.length > 0 && 2 * names.filter((name) => after.fields.includes(name)).length >= names.length;
  const texts = sent.filter((text) => text.length > 1);
  const success =
    [after.title, ...after.headings, ...after.notices.map((n) => n.text)].some(saysSuccess) ||
    saysSuccess(after.text.slice(0, 600));
  return (
    again &&
    !success &&
    texts.length > 0 &&
    2 * texts.filter((text) => after.held.includes(text)).length >= texts.length
  );
}
