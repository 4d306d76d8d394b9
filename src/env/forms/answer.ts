import type { PageSigns } from "../browser/page/signs.js";
import type { PostedPair } from "./posted.js";

/** How a server took a post: what it says itself, without the page around it. */
export interface Answered {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly url: string;
}

const ERROR =
  /\b(?:errors?|duplicate|invalid|required|failed|failure|fail|incorrect|wrong|not (?:valid|accepted|found|allowed|permitted|(?:be )?(?:saved|sent|processed|submitted|completed))|please (?:enter|fill|correct|try|provide|log ?in|sign ?in|check (?:the (?:form|fields|errors|highlighted)|your (?:input|entries|form)))|try again|denied|expired|timed out|could(?: not|n['\u2019]t)|can(?:not|['\u2019]t)|unable|problem|must (?:be|have|contain|not)|missing|already (?:taken|exists?|in use|registered|used)|too (?:short|long|many)|sorry|oops|rejected|forbidden|unauthori[sz]ed|do(?:es)?(?:n['\u2019]t| not) match|unavailable|sold out|fully booked|(?:is|are) (?:all |already )?taken|verify (?:that )?you are (?:a )?human|security check|declined|under maintenance|can['\u2019]t be blank)\b/i;
const SUCCESS =
  /\b(?:thank(?:s| you)|success(?:ful|fully)?|received|submitted|saved|sent|registered|confirmed|confirmation|welcome|booked|complete[d]?|created|accepted|congratulations|all set|in touch|get back to you|see you|done|subscribed|joined|placed|reserved|approved|recorded|updated|got it)\b/i;

/** A no turns a success into none, and the other way round. */
const saysError = (text: string): boolean =>
  ERROR.test(text.replace(/\b(?:no|0|without(?: any)?|zero) (?:errors?|problems?|failures?)\b/gi, ""));
const saysSuccess = (text: string): boolean =>
  SUCCESS.test(
    text.replace(
      /\b(?:not|no|never|cannot|failed to|unable to|(?:could|was|is|has|have|did|do|does|are|were)n['\u2019]t|can['\u2019]t|to be|before|until|unless|must be|prohibit(?:s|ed)|prevent(?:s|ed)|from being)\b[^.!?;]*/gi,
      "",
    ),
  );

/** Whether an address is that of a login. */
export function isLogin(url: string): boolean {
  const path = URL.canParse(url, "http://site.invalid") ? new URL(url, "http://site.invalid").pathname : "";
  return /(?:^|\/)(?:(?:wp|user|users|account|member|customer|admin)[-_])?(?:(?:log|sign)[-_]?(?:in|on)|authenticate|sso|sessions?\/new|session[-_]?expired)(?:[-_](?:form|page|required))?(?:\.\w+)?(?:$|\/)|\/auth\/?$/i.test(
    path,
  );
}

/**
 * Why a server's answer is a refusal, from its status, its address and its body; undefined where it is none.
 * @param posted what was sent: an answer may give it back, and that says nothing.
 * @param to the address that it was sent to.
 */
export function refusalOf(answer: Answered, posted: readonly PostedPair[], to = ""): string | undefined {
  if (answer.status >= 400) return `refused with HTTP ${answer.status}`;
  // a form may be a login itself
  if (isLogin(answer.url) && !isLogin(to)) return "the answer leads to a login";
  const body = answer.text.trim();
  if (/html/.test(answer.contentType)) {
    const next = /<meta[^>]+http-equiv=["']?refresh[^>]*?url=([^"'>\s]+)/i.exec(body.slice(0, 20_000))?.[1];
    const leads = next !== undefined && URL.canParse(next, answer.url) && isLogin(new URL(next, answer.url).href);
    return leads && !isLogin(to) ? "the answer leads to a login" : undefined;
  }
  if (body === "") return undefined;
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
    if (!answer.contentType.includes("xml")) return undefined;
    const fault =
      /<(?:[\w-]+:)?fault\b|<\w+\b[^<>]*\b(?:stat|status|result|success)="(?:fail(?:ed|ure)?|error|false|ko|nok)"/i.exec(
        body,
      );
    return why === undefined && fault === null ? undefined : `the answer says ${why ?? fault?.[0]}`;
  }
  if (/^(?:0|-1|false|no|ko|nok|err|ng)$/i.test(body)) return `the answer says ${body}`;
  return body.length < 500 && saysError(body) && !saysSuccess(body) ? `the answer says ${short(body)}` : undefined;
}

/** What was sent: under its key, and texts that are long enough to be known anywhere. */
const echoOf = (posted: readonly PostedPair[]): ReadonlySet<string> =>
  new Set(posted.flatMap(([key, value]) => [`${lastOf(key)}=${value}`, ...(value.length > 3 ? [`=${value}`] : [])]));
const lastOf = (key: string): string =>
  key
    .split(/[.[\]]+/)
    .filter((part) => part !== "")
    .at(-1) ?? key;
const short = (text: string): string => JSON.stringify(text.replace(/\s+/g, " ").slice(0, 80));

const FAILURES =
  /^(?:errors?|err|issues|exceptions?|fault|(?:user|field|validation|form|client|non_?field)_?errors?|(?:has|is)_?errors?|err_?no|err_?code|failed|violations|invalid_?(?:fields|params)|failures|problems)$/i;
const FLAGS = /^(?:success|ok|accepted|valid|is_?valid|is_?success|successful|succeeded)$/i;
const STATES = /^(?:status|state|result|outcome|code|type|kind|response|stat|status_?code|http_?status|error_?code)$/i;
const BAD_STATE =
  /^(?:[a-z]+[_\s-]){0,2}(?:fail(?:ed|ure)?|err(?:or)?|invalid|denied|reject(?:ed)?|refused|unauthori[sz]ed|forbidden|expired|spam|aborted|declined|nok|ko|bad|duplicate|time(?:d[_\s-]?)?out|blocked|unprocessable)(?:[_\s-](?:request|input|data|fields?|params?|entity|user|value))?$|^not[_\s-]/i;
/** What an object is says nothing about how it was received where it has an identity of its own. */
const THINGS =
  /^(?:id|_id|uuid|key|slug|number|order|ticket|created_?at|ref(?:erence)?|priority|severity|body|author)$/i;
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
  // a list of messages a field, as many frameworks answer
  const lists = Object.values(value);
  const areMessages = (list: unknown): boolean =>
    Array.isArray(list) && list.length > 0 && list.every((text) => typeof text === "string" && saysError(text));
  if (lists.length > 0 && lists.every(areMessages)) return short(JSON.stringify(value));
  let good = false;
  const isThing = Object.keys(value).some((key) => THINGS.test(key));
  const entries = Object.entries(value).filter(
    ([key, inner]) => typeof inner === "object" || !(echo.has(`${key}=${inner}`) || echo.has(`=${inner}`)),
  );
  for (const [key, inner] of entries) {
    const plain = key.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
    if (FAILURES.test(plain) && isFailure(inner)) return `${key}: ${short(JSON.stringify(inner))}`;
    if (FLAGS.test(plain)) {
      if (inner === false || inner === 0 || /^(?:false|no|0)$/i.test(String(inner))) return `${key}: ${String(inner)}`;
      good ||= inner === true || inner === 1;
    }
    if (depth < 3 && STATES.test(plain) && !(isThing && /^(?:type|kind)$/.test(plain))) {
      if (typeof inner === "string" && BAD_STATE.test(inner.slice(0, 200))) return `${key}: ${short(inner)}`;
      if (typeof inner === "number" && /code|stat/.test(plain) && (inner >= 400 || inner < 0))
        return `${key}: ${inner}`;
      good ||= typeof inner === "string" && /^(?:ok|success|accepted|created|sent|mail_sent|saved|done)$/i.test(inner);
    }
    if (depth < 2 && LEADS.test(plain) && typeof inner === "string" && isLogin(inner)) return `${key}: ${short(inner)}`;
  }
  if (!good && depth < 2 && !isThing)
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
  if (typeof value === "string") return !/^(?:none|ok|0|null|false|no)?$/i.test(value.trim());
  return value === true || (typeof value === "number" && value !== 0);
}

/** What was sent, and to where: a page that gives it back says nothing by it. */
export interface SentTexts {
  /** Names or labels of the form's fields. */
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly address: string;
}

/**
 * Why a page that is shown after a post tells of a refusal; undefined where it does not.
 * @param before what was shown before it: what stood there already says nothing.
 */
export function shownRefusal(after: PageSigns, before: PageSigns | undefined, sent: SentTexts): string | undefined {
  const { names } = sent;
  const echoes = sent.values.filter((value) => value.length > 3);
  const own = (text: string): string =>
    echoes.reduce((rest, value) => (value.startsWith(rest) ? "" : rest.replaceAll(value, "")), text);
  const isNew = (text: string): boolean =>
    !before?.errors.includes(text) &&
    !before?.notices.some((notice) => notice.text === text) &&
    !before?.headings.includes(text) &&
    !before?.texts.includes(text);
  const bads = (text: string): boolean => saysError(own(text)) && !saysSuccess(own(text));
  if (
    after.password &&
    before?.password !== true &&
    (isLogin(after.url) || [after.title, ...after.headings].some((text) => /log ?in|sign ?in|session/i.test(text)))
  )
    return "the answer is a login";
  if (isLogin(after.url) && !isLogin(sent.address) && (before === undefined || !isLogin(before.url)))
    return "the answer is a login";
  const notices = after.notices.filter((notice) => isNew(notice.text));
  const titles = [after.title, ...after.headings].filter((text) => isNew(text) && text !== before?.title);
  const texts = after.texts.filter(isNew);
  const again = names.length > 0 && 2 * names.filter((name) => after.fields.includes(name)).length >= names.length;
  const good =
    notices.some(({ text, good }) => (good && !saysError(own(text))) || saysSuccess(own(text))) ||
    titles.some((text) => saysSuccess(own(text))) ||
    (before !== undefined && before.url === after.url && texts.some((text) => saysSuccess(own(text))));
  const errors = after.errors.filter((text) => isNew(text) && own(text) !== "" && !saysSuccess(own(text)));
  const bad = [
    ...errors.sort((a, b) => b.length - a.length),
    ...notices.map(({ text }) => text).filter(bads),
    // where the form is still there, any text that has come up beside it
    ...(again && before !== undefined ? texts.filter(bads) : []),
  ];
  if (bad[0] !== undefined && (again || !good)) return `the page says ${short(bad[0])}`;
  if (again && after.invalid > (before?.invalid ?? 0) && !good) return "the page marks fields as invalid";
  if (good) return undefined;
  const changed = before === undefined || before.url !== after.url || before.text !== after.text;
  if (!changed) return undefined;
  const heading = titles.find(bads);
  if (heading !== undefined) return `the page says ${short(heading)}`;
  const known = [...(before?.headings ?? []), ...(before?.texts ?? [])].filter((text) => text.length > 3);
  const rest = known.reduce((text, seen) => text.replaceAll(seen, ""), after.text);
  if (!again && after.text.length < 400 && bads(rest)) return `the page says ${short(after.text)}`;
  return undefined;
}

/** Whether a new page shows the form once more with what was sent in it, and says nothing: it was not taken. */
export function shownAgain(
  after: PageSigns,
  sent: readonly string[],
  names: readonly string[],
  secret: boolean,
): boolean {
  const again = names.length > 0 && 2 * names.filter((name) => after.fields.includes(name)).length >= names.length;
  const texts = sent.filter((text) => text.length > 1);
  const success =
    [after.title, ...after.headings, ...after.notices.map((n) => n.text)].some(saysSuccess) ||
    saysSuccess(after.text.slice(0, 600));
  // passwords are not given back
  if (again && !success && secret && after.password) return true;
  return (
    again &&
    !success &&
    texts.length > 0 &&
    2 * texts.filter((text) => after.held.includes(text)).length >= texts.length
  );
}
