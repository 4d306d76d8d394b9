import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, CDPSession, Page, Response, Route } from "playwright";
import { messageOf } from "../../core/errors.js";
import { within } from "../../core/within.js";
import { type BrowserOptions, EnvironmentFault } from "./browser.js";
import type { InjectedFault } from "./injected-faults.js";
import { BackgroundRequests } from "./network/background.js";
import { HarRecorder } from "./network/har.js";
import { ownerOf } from "./network/requests.js";
import { Traffic } from "./network/traffic.js";
import { PageWorld } from "./page/world.js";

const VIEWPORT = { width: 800, height: 600 };
/** Pixels of a page that a picture shows at most. */
const PICTURE_HEIGHT = 2000;
/** Episodes that one context serves where the site's pages keep nothing; more would only gather history. */
const EPISODES_A_CONTEXT = 100;
/** Dialogs and windows that a page may open in one episode; beyond them it does nothing else any more. */
const NUISANCE_LIMIT = 20;
/** Limits how long a document that can no longer be read is waited out. */
const MOVES_MS = 1000;

/**
 * One isolated context with one page, for one episode: what a page stores, runs or opens ends with its context, and no
 * list of things to clear would be complete. Only pages of our own, which keep nothing, share one (`finish`).
 */
export class Session {
  private episodes = 0;
  /** Our own view of the page that is open. */
  private world: PageWorld | undefined;
  /** Documents that the page has shown since it was opened. */
  documents = 0;
  /** The status of the newest document. */
  status = Number.NaN;
  /** Messages of the page's alerts. */
  readonly said: string[] = [];
  /** Dialogs and windows of this episode. */
  private nuisances = 0;
  /** Requests of the page's scripts to the site. */
  readonly background: BackgroundRequests;
  /** Requests that the page sends. */
  readonly traffic: Traffic;
  /** Record of this episode's requests, where it is asked for. */
  readonly har: HarRecorder | undefined;
  /** A fault on purpose that this episode is to meet. */
  fault: InjectedFault | undefined;
  /** Limits how long an action or an answer may take now. */
  private patience: number;

  private constructor(
    readonly browser: Browser,
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly devtools: CDPSession,
    private readonly frameId: string,
    private readonly options: BrowserOptions,
    /** Rejects when the page or the browser dies. */
    readonly died: Promise<never>,
    private readonly die: (why: string) => void,
    private readonly unsubscribe: () => void,
  ) {
    const { site } = options;
    this.background = new BackgroundRequests(page, [site.baseUrl, ...(site.allowOrigins ?? [])]);
    this.patience = options.actionTimeoutMs;
    const patienceMs = (): number => this.patience;
    const inPage = async <A>(work: (argument: A) => void, argument: A): Promise<void> => {
      await this.world?.evaluate(work, argument).catch(() => undefined);
    };
    const tellLeaving = (): Promise<void> =>
      inPage(
        (types) => {
          for (const type of types) window.dispatchEvent(new Event(type));
        },
        ["beforeunload", "pagehide"],
      );
    const leaveFor = (url: string): Promise<void> => inPage((address) => location.assign(address), url);
    this.traffic = new Traffic({ page, site, background: this.background, die, patienceMs, tellLeaving, leaveFor });
    if (options.har === true)
      this.har = new HarRecorder(context, (request) => this.traffic.exchangeOf(request)?.answer);
    context.setDefaultTimeout(this.patience);
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
    // An empty page that only a page's way back leads to. What lay before the first page would else be about:blank, to
    // which nothing can refuse the way.
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
    // refused in the moment of a swap of documents; a page that goes back twice then ends as one that leaves
    await devtools.send("Page.resetNavigationHistory").catch(() => undefined);
    let die = (_: string): void => undefined;
    const died = new Promise<never>((_, reject) => {
      die = (why) => reject(new EnvironmentFault(why));
    });
    died.catch(() => undefined);
    const onEnd = (): void => die("the browser ended");
    browser.on("disconnected", onEnd);
    page.on("crash", () => die("the page crashed"));
    // where the browser ends, its pages close first, and it says so itself in the same breath
    page.on("close", () => setImmediate(die, "the page closed itself"));
    const opened = new Session(browser, context, page, devtools, frameTree.frame.id, options, died, die, () =>
      browser.off("disconnected", onEnd),
    );
    session = opened;
    page.on("domcontentloaded", () => {
      opened.traffic.loading = false;
      opened.documents++;
    });
    page.on("response", (response) => {
      const request = response.request();
      if (request.isNavigationRequest() && ownerOf(request, page) === "page") opened.status = response.status();
    });
    // no request goes before this one, so that the filter does not meet it
    page.on("framenavigated", (frame) => {
      if (opened.traffic.loading && frame === page.mainFrame() && frame.url() === "about:blank")
        die("the page leaves for about:blank");
    });
    // a blocked dialog would hang the page; a person would confirm
    page.on("dialog", (dialog) => {
      opened.countNuisance();
      if (dialog.type() === "alert") opened.said.push(dialog.message().slice(0, 500));
      dialog.accept().catch(() => undefined);
    });
    context.on("page", (popup) => {
      opened.countNuisance();
      popup.close().catch(() => undefined);
    });
    return opened;
  }

  private async filter(route: Route): Promise<void> {
    await this.traffic.filter((await this.fault?.pass(route, this.page)) ?? route);
  }

  /** Our own view of the page that is open. */
  get view(): PageWorld {
    if (this.world === undefined) throw new Error("no page is open");
    return this.world;
  }

  /** Limits how long one action or answer may take, in milliseconds. */
  get actionTimeoutMs(): number {
    return this.patience;
  }

  set actionTimeoutMs(ms: number) {
    this.patience = ms;
    this.context.setDefaultTimeout(ms);
  }

  /** A wait that suits a quiet machine, in milliseconds, as much longer as an action may now take longer. */
  stretched(ms: number): number {
    return Math.min(this.patience, ms * Math.max(1, this.patience / this.options.actionTimeoutMs));
  }

  /**
   * Opens a path of the site. @returns the way to read and change the page.
   * @throws EnvironmentFault where the server does not serve it, or only half of it.
   */
  async goto(path: string): Promise<PageWorld> {
    this.episodes++;
    this.nuisances = 0;
    this.said.length = 0;
    const url = new URL(path, this.options.site.baseUrl);
    // the part behind the `#` is the page's own, and no server's
    this.traffic.begin(url.href.split("#")[0] ?? url.href);
    this.background.begin();
    const response = await this.load(url.href);
    this.background.parsed();
    if (response === null || !response.ok())
      throw new EnvironmentFault(`HTTP ${response?.status() ?? "?"} for GET ${path}`);
    // half a page would be read as a form with fewer fields
    const [cut, world] = await Promise.all([response.finished(), PageWorld.enter(this.devtools, this.frameId)]);
    if (cut !== null) throw new EnvironmentFault(`half an answer to GET ${path}: ${cut.message}`);
    this.world = world;
    return world;
  }

  /** The page at this address, parsed. @throws EnvironmentFault where the answer is none (204, a file). */
  private async load(url: string): Promise<Response | null> {
    this.status = Number.NaN;
    try {
      return await this.page.goto(url, { waitUntil: "domcontentloaded" });
    } catch (error) {
      if (!/ERR_ABORTED|Download is starting/.test(messageOf(error))) throw error;
      const { pathname } = new URL(url);
      throw new EnvironmentFault(
        Number.isNaN(this.status)
          ? `another navigation stopped GET ${pathname}`
          : `no page in HTTP ${this.status} for GET ${pathname}`,
      );
    }
  }

  /** Waits while the page sends, until something is so. @returns whether it came to be in time. */
  async until(ms: number, isSo: () => boolean): Promise<boolean> {
    for (const end = performance.now() + ms; !isSo(); await this.traffic.next(50))
      if (performance.now() > end) return false;
    return true;
  }

  /** Tells whether a document is on its way that takes the page's place. */
  isLeaving(): boolean {
    return this.traffic.leaving;
  }

  /** Tells whether the page has left its document, or is about to. @param documents that it had shown with it. */
  hasMovedOn(documents: number): boolean {
    return this.isLeaving() || this.documents !== documents;
  }

  /** The same where the page cannot be read any more: what takes its place without a request (about:blank) is told of late. */
  movesOn(documents: number): Promise<boolean> {
    return this.until(this.stretched(MOVES_MS), () => this.hasMovedOn(documents));
  }

  /** The document that has taken the page's place, when it is parsed. @throws EnvironmentFault where none comes. */
  async enter(): Promise<PageWorld> {
    for (const end = performance.now() + this.patience; this.traffic.leaving; ) {
      if (performance.now() > end) throw new EnvironmentFault("the page that the form leads to does not come");
      await this.traffic.next(100);
    }
    await this.page.waitForLoadState("domcontentloaded");
    this.world = await PageWorld.enter(this.devtools, this.frameId);
    return this.world;
  }

  /** Looks at the document that is shown now: a script may have taken the page elsewhere. */
  async renewView(): Promise<void> {
    this.world = await PageWorld.enter(this.devtools, this.frameId);
  }

  /** The whole page as a small JPEG; a very long one is cut. */
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
   * Ends the episode. @returns whether the next one may use this context too: a navigation then ends all that this one's
   * page has begun.
   */
  finish(): boolean {
    const { stateless = false, storageState } = this.options.site;
    // a state that the site brings along is there in a fresh context only
    return (
      stateless && storageState === undefined && this.episodes < EPISODES_A_CONTEXT && this.context.pages().length === 1
    );
  }

  /** Closes the context. @returns false where it does not close in time: the browser is then not to be trusted. */
  async close(patienceMs: number): Promise<boolean> {
    this.unsubscribe();
    return within(this.context.close(), patienceMs);
  }

  private countNuisance(): void {
    if (++this.nuisances > NUISANCE_LIMIT) this.die("the page opens dialog after dialog, or window after window");
  }
}
