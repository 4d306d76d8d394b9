import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, CDPSession, Page, Request, Response, Route } from "playwright";
import { messageOf } from "../../core/errors.js";
import { BackgroundRequests } from "./background.js";
import { type BrowserOptions, EnvironmentFault, within } from "./browser.js";
import type { FormTarget } from "./page-actions.js";
import { PageWorld } from "./page-world.js";
import { forwardSubmission, isOfForm, isSubmission, type Owner, ownerOf, type Submission } from "./submission.js";

const VIEWPORT = { width: 800, height: 600 };
/** Pixels of a page that a picture shows at most. */
const PICTURE_HEIGHT = 2000;
/** Episodes that one context serves where the site's pages keep nothing; more would only gather history. */
const EPISODES_A_CONTEXT = 100;
/** Dialogs and windows that a page may open in one episode; beyond them it does nothing else any more. */
const NUISANCE_LIMIT = 20;

/**
 * One isolated context with one page, for one episode: what a page stores, runs or opens ends with its context, and no
 * list of things to clear would be complete. Only pages of our own, which keep nothing, share one (`finish`).
 */
export class Session {
  private episodes = 0;
  /** Our own view of the page that is open. */
  private world: PageWorld | undefined;
  private posting = false;
  /** The address that `goto` is opening: the one navigation that may leave the page. */
  private opening: string | undefined;
  private loading = false;
  /** Dialogs and windows of this episode. */
  private nuisances = 0;
  private waiting: { form: FormTarget; resolve(submission: Submission): void; reject(error: Error): void } | undefined;
  /** What the page's scripts ask the site for. */
  readonly background: BackgroundRequests;
  /** How long an action or an answer may take now. */
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
    this.background = new BackgroundRequests(page, new URL(options.site.baseUrl).origin);
    this.patience = options.actionTimeoutMs;
    context.setDefaultTimeout(this.patience);
  }

  static async open(browser: Browser, options: BrowserOptions): Promise<Session> {
    const context = await browser.newContext({
      serviceWorkers: "block",
      acceptDownloads: false,
      viewport: VIEWPORT,
      locale: "en-US",
      timezoneId: "UTC",
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
      opened.loading = false;
    });
    // no request goes before this one, so that the filter does not meet it
    page.on("framenavigated", (frame) => {
      if (opened.loading && frame === page.mainFrame() && frame.url() === "about:blank")
        die("the page leaves for about:blank");
    });
    // a blocked dialog would hang the page; a person would confirm
    page.on("dialog", (dialog) => {
      opened.countNuisance();
      dialog.accept().catch(() => undefined);
    });
    context.on("page", (popup) => {
      opened.countNuisance();
      popup.close().catch(() => undefined);
    });
    return opened;
  }

  /** How long one action or answer may take, in milliseconds. */
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
    const url = new URL(path, this.options.site.baseUrl);
    url.hash = "";
    this.opening = url.href;
    this.loading = true;
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
    let status: number | undefined;
    const note = (response: Response): void => {
      const request = response.request();
      if (request.isNavigationRequest() && ownerOf(request, this.page) === "page") status = response.status();
    };
    this.page.on("response", note);
    try {
      return await this.page.goto(url, { waitUntil: "domcontentloaded" });
    } catch (error) {
      if (!/ERR_ABORTED|Download is starting/.test(messageOf(error))) throw error;
      const { pathname } = new URL(url);
      throw new EnvironmentFault(
        status === undefined
          ? `another navigation stopped GET ${pathname}`
          : `no page in HTTP ${status} for GET ${pathname}`,
      );
    } finally {
      this.page.off("response", note);
    }
  }

  /**
   * Catches the next form post. It reaches the server as it is, but the page stays: a navigation is answered with 204.
   * @param form whose navigation counts; what scripts post by fetch and XHR has its own shape, and counts as it is.
   * @returns the submission; rejected with an EnvironmentFault on 5xx or no answer. `cancel` ends the wait.
   */
  catchSubmission(form: FormTarget): { submission: Promise<Submission>; cancel(): void } {
    const submission = new Promise<Submission>((resolve, reject) => {
      this.waiting = { form, resolve, reject };
    });
    submission.catch(() => undefined);
    return {
      submission,
      cancel: () => {
        this.waiting = undefined;
      },
    };
  }

  /** Whether a caught post still waits for its answer. */
  isPosting(): boolean {
    return this.posting;
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
    this.waiting = undefined;
    const { stateless = false } = this.options.site;
    return stateless && this.episodes < EPISODES_A_CONTEXT && this.context.pages().length === 1;
  }

  /** Closes the context. @returns false where it does not close in time: the browser is then not to be trusted. */
  async close(patienceMs: number): Promise<boolean> {
    this.unsubscribe();
    return within(this.context.close(), patienceMs);
  }

  private countNuisance(): void {
    if (++this.nuisances > NUISANCE_LIMIT) this.die("the page opens dialog after dialog, or window after window");
  }

  /** Decides on every request: to the site, from the site's own copies, into a form post, or nowhere. */
  private async filter(route: Route): Promise<void> {
    const request = route.request();
    const { site } = this.options;
    try {
      const owner = ownerOf(request, this.page);
      const own = new URL(request.url()).origin === new URL(site.baseUrl).origin;
      const leaves = owner === "page" && request.isNavigationRequest();
      if (this.waiting !== undefined && (own || leaves) && (await this.isPost(request, owner, this.waiting.form))) {
        const { resolve, reject } = this.waiting;
        this.waiting = undefined;
        if (!own) {
          reject(new EnvironmentFault(`the form posts to another host: ${new URL(request.url()).origin}`));
          await route.fulfill({ status: 204 });
          return;
        }
        this.posting = true;
        this.background.end();
        await forwardSubmission(route, this.patience).then(resolve, reject);
        this.posting = false;
      } else if (leaves && !(own && this.isOpening(request))) {
        // a browser reads a page no further that has left while it was loading
        if (this.loading) this.die("the page leaves before it is loaded");
        // neither a link, a script nor a refresh takes the page away: to this answer a browser stays where it is
        await route.fulfill({ status: 204 });
      } else if (!own) {
        const asset = site.assets?.get(request.url());
        await (asset === undefined
          ? route.abort("blockedbyclient")
          : route.fulfill({
              contentType: asset.contentType,
              body: Buffer.from(asset.body),
              headers: { "access-control-allow-origin": "*" },
            }));
      } else {
        // a form may post into a new window; anything else that a window asks for goes nowhere
        await (owner === "popup" ? route.abort("blockedbyclient") : route.continue());
      }
    } catch {
      // the page or the context went away while the request was in the air
    }
  }

  private async isPost(request: Request, owner: Owner, form: FormTarget): Promise<boolean> {
    if (!isSubmission(request, owner)) return false;
    const counts = request.isNavigationRequest()
      ? await isOfForm(request, owner, form)
      : !this.background.isRoutine(request);
    // another may have come first in the meantime
    return counts && this.waiting?.form === form;
  }

  private isOpening(request: Request): boolean {
    if (request.method() !== "GET" || request.url().split("#")[0] !== this.opening) return false;
    this.opening = undefined;
    return true;
  }
}
