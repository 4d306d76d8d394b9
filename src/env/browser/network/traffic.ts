import type { Page, Request, Route, WebSocket } from "playwright";
import { messageOf } from "../../../core/errors.js";
import { isCoded, limitPairs, type PostedPair, readPosted, readQuery, readText } from "../../forms/posted.js";
import type { RunningSite } from "../../site.js";
import { Unanswered } from "../browser.js";
import { isDropped } from "../injected-faults.js";
import type { BackgroundRequests } from "./background.js";
import { BrokenOff, bring } from "./bring.js";
import {
  answerOf,
  checkAnswered,
  type Exchange,
  isAwaited,
  isServerFault,
  MOST_TEXT,
  nameOf,
  noAnswer,
  type Owner,
  ownerOf,
  type Phase,
  type ServerAnswer,
  textIn,
} from "./exchange.js";
import { Signal } from "./signal.js";

/** Sends a request on to the site. */
const send = (route: Route): Promise<void> => (isDropped(route) ? route.abort("connectionreset") : route.continue());

export interface TrafficOptions {
  readonly page: Page;
  readonly site: RunningSite;
  readonly background: BackgroundRequests;
  /** Ends the episode if the page becomes unreadable. */
  readonly die: (why: string) => void;
  /** Returns the charset in which the open page writes its forms. */
  readonly charset: () => string;
  /** Time limit for the answer to a post, in milliseconds. */
  readonly answerMs: () => number;
}

/**
 * Records all requests of a page and decides on each: send it to the site, answer it from local copies, or block it.
 * The page keeps its document until its form is sent.
 */
export class Traffic {
  readonly exchanges: Exchange[] = [];
  phase: Phase = "open";
  loading = false;
  /** Set while a document that replaces the page is loading. */
  leaving = false;
  /** The address that `goto` is opening. */
  opening: string | undefined;
  /** Posts to other hosts that were stopped, by origin. */
  readonly stopped: { origin: string; posted: readonly PostedPair[] }[] = [];
  private isForm: ((exchange: Exchange) => boolean) | undefined;
  private readonly allowed: ReadonlySet<string>;
  private readonly happened = new Signal();
  private readonly byRequest = new WeakMap<Request, Exchange>();
  /** Posts that are forwarded to the server here: the end of the browser's request does not matter for these. */
  private readonly forwarded = new Set<Exchange>();

  constructor(private readonly options: TrafficOptions) {
    const { page, site } = options;
    this.allowed = new Set([site.baseUrl, ...(site.allowOrigins ?? [])].map((address) => new URL(address).origin));
    const context = page.context();
    context.on("requestfinished", (request) => void this.onFinished(request));
    context.on("requestfailed", (request) => this.onFailed(request));
    page.on("domcontentloaded", () => {
      this.leaving = false;
      this.happened.fire();
    });
    page.on("websocket", (socket) => this.onSocket(socket));
  }

  exchangeOf(request: Request): Exchange | undefined {
    return this.byRequest.get(request);
  }

  begin(address: string): void {
    this.exchanges.length = 0;
    this.stopped.length = 0;
    this.disarm();
    this.opening = address;
    this.loading = true;
    this.leaving = false;
  }

  /** Lets the page send its form, and go where that leads, from here on. */
  arm(phase: "step" | "submit", isForm: (exchange: Exchange) => boolean): void {
    this.phase = phase;
    this.isForm = isForm;
  }

  disarm(): void {
    this.phase = "open";
    this.isForm = undefined;
  }

  /** Returns a possible post of the form whose answer is still missing. */
  awaited(): Exchange | undefined {
    const isPost = ({ method, how }: Exchange): boolean => method !== "GET" || how === "navigation";
    const [forwarded] = this.forwarded;
    return forwarded ?? this.exchanges.find((e) => e.phase === "submit" && isPost(e) && isAwaited(e));
  }

  /**
   * Checks the answers of a phase; of repeated requests the last one counts.
   * @throws EnvironmentFault if the server failed a request; Unanswered if it has not answered a forwarded one.
   */
  checkAnswers(phase: Phase): void {
    // a page may break off its own GETs when it has what it needs
    const sent = this.exchanges.filter(
      (e) => e.phase === phase && (e.how === "navigation" || (e.how === "script" && e.method !== "GET")),
    );
    sent.forEach((exchange, i) => {
      const isRepeated = sent.slice(i + 1).some((e) => e.method === exchange.method && e.url === exchange.url);
      if (isRepeated) return;
      checkAnswered(exchange);
      if (this.forwarded.has(exchange)) throw new Unanswered(`no answer to ${nameOf(exchange)}`);
    });
  }

  /** Resolves with the next request, answer or navigation, or after `ms` milliseconds. */
  next(ms: number): Promise<void> {
    return this.happened.next(ms);
  }

  /** Decides on every request. */
  async filter(route: Route): Promise<void> {
    const request = route.request();
    const { site, page } = this.options;
    try {
      const owner = ownerOf(request, page);
      const { origin } = new URL(request.url());
      const own = this.allowed.has(origin);
      const leaves = owner === "page" && request.isNavigationRequest();
      if (leaves && own && this.isOpening(request)) return await send(route);
      const exchange = await this.log(request, owner, own);
      if (!own && exchange !== undefined && exchange.how !== "beacon" && this.phase !== "open")
        this.stopped.push({ origin, posted: exchange.posted });
      if (request.isNavigationRequest() && owner !== "frame") return await this.navigate(route, owner, own, exchange);
      if (!own) {
        const asset = site.assets?.get(request.url());
        return await (asset === undefined
          ? route.abort("blockedbyclient")
          : route.fulfill({
              contentType: asset.contentType,
              body: Buffer.from(asset.body),
              headers: { "access-control-allow-origin": "*" },
            }));
      }
      if (
        exchange?.how === "script" &&
        exchange.phase !== "open" &&
        request.method() !== "GET" &&
        origin === new URL(site.baseUrl).origin
      )
        return await this.forward(route, exchange, false);
      // a form may post into a new window; all other requests of a window are blocked
      await (owner === "popup" ? route.abort("blockedbyclient") : send(route));
    } catch {
      // the page or the context was closed during the request
    }
  }

  /** Decides on a navigation of the page or of a window: it goes on only after the press of a button. */
  private async navigate(route: Route, owner: Owner, own: boolean, exchange: Exchange | undefined): Promise<void> {
    const request = route.request();
    const isForm = exchange !== undefined && this.isForm?.(exchange) === true;
    const mayGo = own && !this.loading && this.phase !== "open" && (owner === "page" || isForm);
    if (!mayGo || exchange === undefined) {
      // a page that leaves while it is loading is never loaded completely
      if (this.loading && owner === "page") this.options.die("the page leaves before it is loaded");
      // no link, script or refresh may replace the page: with a 204 the browser keeps the document
      return owner === "popup" ? route.abort("blockedbyclient") : route.fulfill({ status: 204 });
    }
    if (isForm || request.method() !== "GET") return this.forward(route, exchange, true);
    this.leaving = true;
    return send(route);
  }

  private async log(request: Request, owner: Owner, own: boolean): Promise<Exchange | undefined> {
    const method = request.method();
    const type = request.resourceType();
    const navigation = request.isNavigationRequest();
    const bare = method === "GET" || method === "HEAD";
    if (method === "OPTIONS" || type === "cspreport") return undefined;
    // after the press the answer to a script's GET may be the site's verdict
    const isPoll = this.phase !== "open" && ["fetch", "xhr"].includes(type);
    if (bare && !request.url().includes("?") && !(navigation && owner === "page") && !isPoll) return undefined;
    // old scripts send a form as the address of a script or a picture
    if (
      bare &&
      !navigation &&
      !["fetch", "xhr", ...(this.phase === "submit" ? ["script", "image"] : [])].includes(type)
    )
      return undefined;
    const phase = this.phase;
    const decoded = bare ? undefined : this.decoded(request);
    const data = bare ? null : request.postDataBuffer();
    // scripts write UTF-8, a form what its page is written in
    const asks = navigation && (isCoded(request.url()) || (data !== null && isCoded(data.toString("latin1"))));
    const charset = asks ? this.options.charset() : undefined;
    const body = bare ? [] : (decoded ?? (await readPosted(data, request.headers()["content-type"] ?? "", charset)));
    const exchange: Exchange = {
      method,
      url: request.url(),
      how: navigation ? "navigation" : ["ping", "beacon", "image"].includes(type) ? "beacon" : "script",
      owner,
      posted: limitPairs([...body, ...readQuery(request.url(), charset)]),
      routine: this.options.background.isRoutine(request),
      phase,
      answer: undefined,
    };
    if (!own) return exchange;
    this.exchanges.push(exchange);
    this.byRequest.set(request, exchange);
    // later failures of background requests do not concern the form
    if (phase === "submit" && this.isForm?.(exchange)) this.options.background.end();
    this.happened.fire();
    return exchange;
  }

  /** Reads a coded body by the site's own function. */
  private decoded(request: Request): PostedPair[] | undefined {
    const { site, die } = this.options;
    if (site.decode === undefined) return undefined;
    try {
      const { pathname: path } = new URL(request.url());
      const data = site.decode({
        method: request.method(),
        path,
        body: request.postDataBuffer()?.toString("utf8") ?? "",
      });
      return data === undefined ? undefined : readText(JSON.stringify(data));
    } catch (error) {
      die(`site.decode failed: ${messageOf(error)}`);
      return undefined;
    }
  }

  /**
   * Forwards a post unchanged to the server, and the answer to the page. A document that answers a navigation replaces
   * the page; for any other answer the page gets 204, so that it stays.
   */
  private async forward(route: Route, exchange: Exchange, navigation: boolean): Promise<void> {
    const request = route.request();
    this.forwarded.add(exchange);
    try {
      if (isDropped(route)) throw new Error("injected: drop");
      const { page: ours, site, answerMs } = this.options;
      // a stateless site has none, and asking for them costs a message
      const hasNone = site.stateless === true && site.storageState === undefined;
      const cookies = hasNone ? [] : await ours.context().cookies(request.url());
      const brought = await bring(request, cookies, answerMs());
      const { status, headers } = brought;
      const contentType = headers["content-type"] ?? "";
      const text = textIn(brought.body, contentType).slice(0, MOST_TEXT);
      const { location } = headers;
      const url =
        location === undefined || !URL.canParse(location, request.url())
          ? request.url()
          : new URL(location, request.url()).href;
      const page = contentType.includes("html") || (contentType === "" && /^\s*</.test(text));
      const follows =
        navigation &&
        exchange.owner === "page" &&
        ((status >= 300 && status < 400 && this.allowed.has(new URL(url).origin)) ||
          (page && status !== 204 && text.length > 0)) &&
        !isServerFault(status);
      const answer: ServerAnswer = { status, contentType, text, url };
      // a script's redirect is followed by the browser: its last answer counts
      if (navigation || status < 300 || status >= 400) exchange.answer = answer;
      if (follows) {
        this.leaving = true;
        this.options.background.end();
      }
      await (navigation && !follows ? route.fulfill({ status: 204 }) : route.fulfill(brought)).catch(() => undefined);
    } catch (error) {
      exchange.answer = noAnswer(request.url(), messageOf(error).split("\n")[0] ?? "", error instanceof BrokenOff);
      // a failed navigation would replace the page, and reading the page would hide this error
      await (navigation ? route.fulfill({ status: 204 }) : route.abort("failed")).catch(() => undefined);
    } finally {
      this.forwarded.delete(exchange);
      this.happened.fire();
    }
  }

  private async onFinished(request: Request): Promise<void> {
    const leaves = this.leaving && request.isNavigationRequest();
    // the answers to the page's own files are not needed
    if (!leaves && this.openExchange(request) === undefined) return;
    const response = await request.response().catch(() => null);
    if (leaves && response?.status() === 204) this.leaving = false;
    const exchange = this.openExchange(request);
    if (exchange === undefined) return;
    exchange.answer = await answerOf(response, request.url());
    this.happened.fire();
  }

  private onFailed(request: Request): void {
    if (this.leaving && request.isNavigationRequest() && ownerOf(request, this.options.page) === "page")
      this.leaving = false;
    const exchange = this.openExchange(request);
    if (exchange === undefined || this.forwarded.has(exchange)) return;
    exchange.answer = noAnswer(request.url(), request.failure()?.errorText ?? "failed");
    this.happened.fire();
  }

  /** Finds the record of an ended request or of the one that it was redirected from; undefined if it has its answer. */
  private openExchange(request: Request): Exchange | undefined {
    let first = request;
    for (let before = request.redirectedFrom(); before !== null; before = before.redirectedFrom()) first = before;
    const exchange = this.byRequest.get(first);
    return exchange?.answer === undefined ? exchange : undefined;
  }

  private onSocket(socket: WebSocket): void {
    const url = socket.url();
    let last: Exchange | undefined;
    socket.on("framesent", ({ payload }) => {
      last = {
        method: "SEND",
        url,
        how: "socket",
        owner: "page",
        posted: readText(
          typeof payload === "string" ? payload.slice(0, 1_000_000) : payload.subarray(0, 1_000_000).toString("utf8"),
        ),
        routine: false,
        phase: this.phase,
        answer: undefined,
      };
      this.exchanges.push(last);
      this.happened.fire();
    });
    socket.on("framereceived", ({ payload }) => {
      if (last === undefined || last.answer !== undefined) return;
      const text = typeof payload === "string" ? payload : payload.toString("utf8");
      last.answer = {
        status: 200,
        contentType: "application/json",
        text: text.replace(/^\d+(?=[[{])/, "").slice(0, 1_000_000),
        url,
      };
      this.happened.fire();
    });
  }

  private isOpening(request: Request): boolean {
    if (request.method() !== "GET" || request.url().split("#")[0] !== this.opening) return false;
    this.opening = undefined;
    return true;
  }
}
