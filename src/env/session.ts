import type { Browser, BrowserContext, CDPSession, Page, Request, Route } from "playwright";
import { messageOf } from "../core/errors.js";
import { type BrowserOptions, EnvironmentFault, within } from "./browser.js";
import { type PostedPair, readPosted } from "./posted.js";

/** What the server received and answered. */
export interface Submission {
  readonly method: string;
  readonly path: string;
  readonly posted: readonly PostedPair[];
  readonly status: number;
  /** 2xx or 3xx, and no JSON answer that says it failed. */
  readonly accepted: boolean;
}

const VIEWPORT = { width: 800, height: 600 };
/** Pixels of a page that a picture shows at most. */
const PICTURE_HEIGHT = 2000;
/** How long a context may take to close before its browser is given up. */
const CLOSE_PATIENCE_MS = 3000;
/** Episodes that one context serves; a fresh one now and then bounds whatever a page may leak. */
const EPISODES_A_CONTEXT = 100;

/**
 * One isolated context with one page. It serves episodes one after another; between two, everything a page can store is
 * cleared and the old page's script is stopped (`reset`), which a test proves; a new context a time would cost five
 * times the CPU of the episode itself.
 */
export class Session {
  private episodes = 0;
  private devtools: CDPSession | undefined;
  private posting = false;
  private waiting: { resolve(submission: Submission): void; reject(error: Error): void } | undefined;

  private constructor(
    readonly browser: Browser,
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly options: BrowserOptions,
    /** Rejects when the page or the browser dies. */
    readonly died: Promise<never>,
    private readonly unsubscribe: () => void,
  ) {}

  static async open(browser: Browser, options: BrowserOptions): Promise<Session> {
    const context = await browser.newContext({
      serviceWorkers: "block",
      acceptDownloads: false,
      viewport: VIEWPORT,
      locale: "en-US",
      timezoneId: "UTC",
    });
    context.setDefaultTimeout(options.actionTimeoutMs);
    let session: Session | undefined;
    await context.route("**", (route) => session?.filter(route) ?? route.abort());
    const page = await context.newPage();
    let onEnd = (): void => undefined;
    const died = new Promise<never>((_, reject) => {
      onEnd = () => reject(new EnvironmentFault("the browser ended"));
      page.on("crash", () => reject(new EnvironmentFault("the page crashed")));
      browser.on("disconnected", onEnd);
    });
    died.catch(() => undefined);
    session = new Session(browser, context, page, options, died, () => browser.off("disconnected", onEnd));
    // a blocked dialog would hang the page; a person would confirm
    page.on("dialog", (dialog) => void dialog.accept().catch(() => undefined));
    context.on("page", (popup) => void popup.close().catch(() => undefined));
    return session;
  }

  /** Opens a path of the site. @throws EnvironmentFault where the server does not serve it. */
  async goto(path: string): Promise<void> {
    this.episodes++;
    const url = new URL(path, this.options.site.baseUrl).href;
    const response = await this.page.goto(url, { waitUntil: "domcontentloaded" });
    if (response === null || !response.ok())
      throw new EnvironmentFault(`HTTP ${response?.status() ?? "?"} for GET ${path}`);
  }

  /**
   * Catches the next form post. It reaches the server as it is, but the page stays: a navigation is answered with 204.
   * @returns the submission; rejected with an EnvironmentFault on 5xx or no answer. `cancel` ends the wait.
   */
  catchSubmission(): { submission: Promise<Submission>; cancel(): void } {
    const submission = new Promise<Submission>((resolve, reject) => {
      this.waiting = { resolve, reject };
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
  async photograph(timeoutMs: number): Promise<Uint8Array> {
    const { width } = VIEWPORT;
    const height = await this.page.evaluate(() => document.documentElement.scrollHeight);
    return this.page.screenshot({
      type: "jpeg",
      quality: 60,
      fullPage: true,
      clip: { x: 0, y: 0, width, height: Math.max(1, Math.min(height, PICTURE_HEIGHT)) },
      scale: "css",
      animations: "disabled",
      timeout: timeoutMs,
    });
  }

  /** Clears whatever the last episode left. @returns false where the context is used up and has to be replaced. */
  async reset(): Promise<boolean> {
    this.waiting = undefined;
    if (this.episodes >= EPISODES_A_CONTEXT) return false;
    const origin = new URL(this.options.site.baseUrl).origin;
    // drops the old document's listeners (pagehide would save drafts) and timers before its storage is cleared
    await this.page.evaluate(() => {
      window.stop();
      document.open();
      const last = Number(setTimeout(() => undefined, 0));
      for (let id = Math.max(0, last - 10_000); id <= last; id++) clearTimeout(id);
      window.name = "";
      sessionStorage.clear();
      localStorage.clear();
    });
    this.devtools ??= await this.context.newCDPSession(this.page);
    await Promise.all([
      this.context.clearCookies(),
      this.devtools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" }),
    ]);
    return true;
  }

  /** Closes the context. @returns false where it does not close: the browser is then not to be trusted. */
  async close(): Promise<boolean> {
    this.unsubscribe();
    return within(this.context.close(), CLOSE_PATIENCE_MS);
  }

  private async filter(route: Route): Promise<void> {
    const request = route.request();
    const { site } = this.options;
    try {
      const owner = ownerOf(request, this.page);
      if (new URL(request.url()).origin !== new URL(site.baseUrl).origin) {
        const asset = site.assets?.get(request.url());
        await (asset === undefined
          ? route.abort("blockedbyclient")
          : route.fulfill({
              contentType: asset.contentType,
              body: Buffer.from(asset.body),
              headers: { "access-control-allow-origin": "*" },
            }));
      } else if (this.waiting !== undefined && isSubmission(request, owner)) {
        const { resolve, reject } = this.waiting;
        this.waiting = undefined;
        this.posting = true;
        await this.forward(route).then(resolve, reject);
        this.posting = false;
      } else {
        // a form may post into a new window; anything else that a window asks for goes nowhere
        await (owner === "popup" ? route.abort("blockedbyclient") : route.continue());
      }
    } catch {
      // the page or the context went away while the request was in the air
    }
  }

  private async forward(route: Route): Promise<Submission> {
    const request = route.request();
    const path = new URL(request.url()).pathname;
    const response = await route
      .fetch({ maxRedirects: 0, timeout: this.options.actionTimeoutMs })
      .catch(async (error: unknown) => {
        await route.abort("failed").catch(() => undefined);
        throw new EnvironmentFault(`no answer to ${request.method()} ${path}: ${messageOf(error).split("\n")[0]}`);
      });
    const status = response.status();
    const text = await response.text();
    await (request.isNavigationRequest() ? route.fulfill({ status: 204 }) : route.fulfill({ response })).catch(
      () => undefined,
    );
    if (status >= 500) throw new EnvironmentFault(`HTTP ${status} for ${request.method()} ${path}`);
    const posted: PostedPair[] =
      request.method() === "GET"
        ? [...new URL(request.url()).searchParams]
        : await readPosted(request.postDataBuffer(), (await request.headerValue("content-type")) ?? "");
    return { method: request.method(), path, posted, status, accepted: status < 400 && !saysFailed(text) };
  }
}

/** Whose request it is: of the page itself, of a frame in it, or of a window it opened. */
function ownerOf(request: Request, page: Page): "page" | "frame" | "popup" {
  try {
    const frame = request.frame();
    return frame === page.mainFrame() ? "page" : frame.page() === page ? "frame" : "popup";
  } catch {
    // a new window's first request comes before its frame
    return "popup";
  }
}

/** A form post: any request that changes something, or a navigation of the page itself (a form with method GET). */
function isSubmission(request: Request, owner: "page" | "frame" | "popup"): boolean {
  return !["GET", "HEAD", "OPTIONS"].includes(request.method()) || (request.isNavigationRequest() && owner === "page");
}

/** Servers that answer 200 with a refusal say so in their JSON. */
function saysFailed(text: string): boolean {
  if (!text.startsWith("{")) return false;
  try {
    const answer = JSON.parse(text) as Record<string, unknown>;
    const errors = answer.errors;
    const listed = Array.isArray(errors)
      ? errors.length > 0
      : typeof errors === "object" && errors !== null && Object.keys(errors).length > 0;
    return (
      listed ||
      answer.success === false ||
      answer.ok === false ||
      answer.accepted === false ||
      typeof answer.error === "string"
    );
  } catch {
    return false;
  }
}
