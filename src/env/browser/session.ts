import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, CDPSession, Page, Response, Route } from "playwright";
import { within } from "../../core/within.js";
import { type BrowserOptions, EnvironmentFault, TooMany, Unanswered } from "./browser.js";
import { HarRecorder } from "./har.js";
import type { InjectedFault } from "./injected-faults.js";
import { crashReason } from "./memory.js";
import { BackgroundRequests } from "./network/background.js";
import { checkAnswered, type Exchange, isAwaited, nameOf, ownerOf, waitOf } from "./network/exchange.js";
import { Traffic } from "./network/traffic.js";
import { PageWorld } from "./page/world.js";
import { playwright } from "./playwright.js";

/** A condition that is tested again and again. */
export type Condition = () => boolean | Promise<boolean>;

const VIEWPORT = { width: 800, height: 600 };
/** Greatest height of a picture of a page, in pixels. */
const PICTURE_HEIGHT = 2000;
/** Episodes that one context serves if the site's pages store nothing; more would only collect history. */
const EPISODES_A_CONTEXT = 100;
/** Most dialogs and windows that a page may open in one episode. */
const NUISANCE_LIMIT = 20;
/** Time to wait for the successor of a document that can no longer be read, in milliseconds. */
const MOVES_MS = 1000;

/**
 * One isolated context with one page, for one episode: all that a page stores, runs or opens ends with its context, and
 * no list of things to clear would be complete. Only the pages of stateless sites share a context (`finish`).
 */
export class Session {
  private episodes = 0;
  private world: PageWorld | undefined;
  /** Number of documents that the page has shown since it was opened. */
  documents = 0;
  /** The status of the newest document. */
  status = Number.NaN;
  /** The charset in which the page writes its forms, as it was last read. */
  charset = "utf-8";
  /** Messages of the page's alerts. */
  readonly alerts: string[] = [];
  private nuisances = 0;
  readonly background: BackgroundRequests;
  readonly traffic: Traffic;
  /** Record of this episode's requests, if it is wanted. */
  readonly har: HarRecorder | undefined;
  fault: InjectedFault | undefined;
  /** Present time limit of an action, or of an answer to the page's own requests, in milliseconds. */
  private patience: number;
  /** Time limit for the answer to a form, in milliseconds: what was sent cannot be sent again. */
  answerTimeoutMs: number;

  /** Rejects when the page or the browser ends. */
  readonly died: Promise<never>;
  private die!: (why: string) => void;
  private readonly onBrowserEnd = (): void => this.die("the browser ended");

  private constructor(
    readonly browser: Browser,
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly devtools: CDPSession,
    private readonly frameId: string,
    private readonly options: BrowserOptions,
  ) {
    const { site } = options;
    this.died = new Promise<never>((_, reject) => {
      this.die = (why) => reject(new EnvironmentFault(why));
    });
    this.died.catch(() => undefined);
    this.background = new BackgroundRequests(page, [site.baseUrl, ...(site.allowOrigins ?? [])]);
    this.patience = options.actionTimeoutMs;
    this.answerTimeoutMs = options.actionTimeoutMs;
    this.traffic = new Traffic({
      page,
      site,
      background: this.background,
      die: this.die,
      charset: () => this.charset,
      // `answered` gives up first
      answerMs: () => 2 * this.answerTimeoutMs,
    });
    if (options.har) this.har = new HarRecorder(context, (request) => this.traffic.exchangeOf(request)?.answer);
    context.setDefaultTimeout(this.patience);
    this.watch();
  }

  static async open(browser: Browser, options: BrowserOptions): Promise<Session> {
    const context = await browser.newContext({
      serviceWorkers: "block",
      acceptDownloads: false,
      viewport: VIEWPORT,
      locale: "en-US",
      timezoneId: "UTC",
      ...(options.site.storageState === undefined ? {} : { storageState: options.site.storageState }),
    });
    let session: Session | undefined;
    // An empty first page, to which a page may go back. Without it that would be about:blank, and a navigation there
    // cannot be blocked.
    const start = new URL(`/${randomUUID()}`, options.site.baseUrl).href;
    const empty = { contentType: "text/html", body: "" };
    await context.route("**", (route) => {
      if (route.request().url() === start) return route.fulfill(session === undefined ? empty : { status: 204 });
      return session?.filter(route) ?? route.abort();
    });
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await page.goto(start);
    const { frameTree } = await devtools.send("Page.getFrameTree");
    // this fails while documents are swapped; a page that then goes back twice counts as leaving
    await devtools.send("Page.resetNavigationHistory").catch(() => undefined);
    session = new Session(browser, context, page, devtools, frameTree.frame.id, options);
    return session;
  }

  /** Follows the page's documents, and ends the episode if the page or the browser ends. */
  private watch(): void {
    const { browser, context, page } = this;
    browser.on("disconnected", this.onBrowserEnd);
    page.on("crash", () => this.die(crashReason(browser)));
    // when the browser ends, its pages close just before: the end of the browser is the better reason
    page.on("close", () => setImmediate(this.die, "the page closed itself"));
    page.on("domcontentloaded", () => {
      this.traffic.loading = false;
      this.documents++;
    });
    page.on("response", (response) => {
      const request = response.request();
      if (request.isNavigationRequest() && ownerOf(request, page) === "page") this.status = response.status();
    });
    // no request precedes this navigation, so that the filter does not see it
    page.on("framenavigated", (frame) => {
      if (this.traffic.loading && frame === page.mainFrame() && frame.url() === "about:blank")
        this.die("the page leaves for about:blank");
    });
    // an open dialog would block the page; a person would confirm it
    page.on("dialog", (dialog) => {
      this.countNuisance();
      if (dialog.type() === "alert") this.alerts.push(dialog.message().slice(0, 500));
      dialog.accept().catch(() => undefined);
    });
    context.on("page", (popup) => {
      this.countNuisance();
      popup.close().catch(() => undefined);
    });
  }

  private async filter(route: Route): Promise<void> {
    await this.fault?.pass(route, this.page);
    await this.traffic.filter(route);
  }

  /** The isolated view of the open page. */
  get view(): PageWorld {
    if (this.world === undefined) throw new Error("no page is open");
    return this.world;
  }

  /** Time limit of one action, in milliseconds. */
  get actionTimeoutMs(): number {
    return this.patience;
  }

  set actionTimeoutMs(ms: number) {
    this.patience = ms;
    this.context.setDefaultTimeout(ms);
  }

  /** Stretches a wait for a quiet machine, in milliseconds, by as much as the time limit of actions has grown. */
  stretched(ms: number): number {
    return Math.min(this.patience, ms * Math.max(1, this.patience / this.options.actionTimeoutMs));
  }

  /**
   * Opens a path of the site. @returns the isolated view of the page.
   * @throws EnvironmentFault if the server does not serve the page completely.
   */
  async goto(path: string): Promise<PageWorld> {
    this.episodes++;
    this.nuisances = 0;
    this.alerts.length = 0;
    const url = new URL(path, this.options.site.baseUrl);
    // the part behind the `#` is not sent to the server
    this.traffic.begin(url.href.split("#")[0] ?? url.href);
    this.background.begin();
    const response = await this.load(url.href);
    this.background.parsed();
    if (response?.status() === 429)
      throw new TooMany(`HTTP 429 for GET ${path}`, waitOf(response.headers()["retry-after"]));
    if (response === null || !response.ok())
      throw new EnvironmentFault(`HTTP ${response?.status() ?? "?"} for GET ${path}`);
    // an incomplete page would be read as a form with fewer fields
    const [cut, world] = await Promise.all([response.finished(), PageWorld.enter(this.devtools, this.frameId)]);
    if (cut !== null) throw new EnvironmentFault(`half an answer to GET ${path}: ${cut.message}`);
    this.world = world;
    return world;
  }

  /** Loads and parses the page at this address. @throws EnvironmentFault if the answer is no page (204, a file). */
  private async load(url: string): Promise<Response | null> {
    this.status = Number.NaN;
    try {
      return await this.page.goto(url, { waitUntil: "domcontentloaded" });
    } catch (error) {
      if (Number.isNaN(this.status) || error instanceof playwright().errors.TimeoutError) throw error;
      const { pathname } = new URL(url);
      throw new EnvironmentFault(`no page in HTTP ${this.status} for GET ${pathname}`, { cause: error });
    }
  }

  /**
   * Waits for the answer to a form, however late it comes. @param sent returns its request.
   * @throws Unanswered if there is none in time; EnvironmentFault if it is lost, or an error of the server.
   */
  async answered(sent: () => Exchange | undefined): Promise<void> {
    const isOpen = (): boolean => {
      const exchange = sent();
      return exchange !== undefined && isAwaited(exchange);
    };
    await this.until(this.answerTimeoutMs, () => !isOpen());
    const exchange = sent();
    if (exchange === undefined) return;
    if (isOpen()) throw new Unanswered(`no answer to ${nameOf(exchange)}: timed out`);
    checkAnswered(exchange);
  }

  /** Waits until a condition holds; tests it after each request or answer. @returns whether it holds in time. */
  async until(ms: number, isSo: Condition): Promise<boolean> {
    for (const end = performance.now() + ms; !(await isSo()); await this.traffic.next(50))
      if (performance.now() > end) return false;
    return true;
  }

  /** Tells whether a document that replaces the page is loading. */
  isLeaving(): boolean {
    return this.traffic.leaving;
  }

  /** Tells whether the page has left its document, or is leaving it. @param documents the count with that document. */
  hasMovedOn(documents: number): boolean {
    return this.isLeaving() || this.documents !== documents;
  }

  /** Waits for the same: a replacement without a request (about:blank) is reported late. */
  movesOn(documents: number): Promise<boolean> {
    return this.until(this.stretched(MOVES_MS), () => this.hasMovedOn(documents));
  }

  /** Enters the document that replaces the page, once it is parsed. @throws EnvironmentFault if none comes. */
  async enter(): Promise<PageWorld> {
    for (const end = performance.now() + this.patience; this.traffic.leaving; ) {
      if (performance.now() > end) throw new EnvironmentFault("the page that the form leads to does not come");
      await this.traffic.next(100);
    }
    await this.page.waitForLoadState("domcontentloaded");
    await this.renewView();
    return this.view;
  }

  /** Enters the current document: a script may have navigated. */
  async renewView(): Promise<void> {
    this.world = await PageWorld.enter(this.devtools, this.frameId);
  }

  /** Takes a small JPEG of the whole page; a very long page is cut. */
  async photograph(): Promise<Uint8Array> {
    const { width } = VIEWPORT;
    const height = (await this.world?.evaluate(() => document.documentElement.scrollHeight)) ?? PICTURE_HEIGHT;
    return this.page.screenshot({
      type: "jpeg",
      quality: 60,
      fullPage: true,
      clip: { x: 0, y: 0, width, height: Math.max(1, Math.min(height, PICTURE_HEIGHT)) },
      scale: "css",
      animations: "disabled",
      timeout: this.patience,
    });
  }

  /**
   * Ends the episode. @returns whether the next one may use this context too: its navigation then ends everything that
   * this page has begun.
   */
  finish(): boolean {
    const { stateless = false, storageState } = this.options.site;
    // only a fresh context has the site's storage state
    return (
      stateless && storageState === undefined && this.episodes < EPISODES_A_CONTEXT && this.context.pages().length === 1
    );
  }

  /** Closes the context. @returns false if that takes too long: the browser cannot be trusted then. */
  async close(patienceMs: number): Promise<boolean> {
    this.browser.off("disconnected", this.onBrowserEnd);
    return within(this.context.close(), patienceMs);
  }

  private countNuisance(): void {
    if (++this.nuisances > NUISANCE_LIMIT) this.die("the page opens dialog after dialog, or window after window");
  }
}
