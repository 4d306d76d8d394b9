import type { Browser, CDPSession, Page, Route } from "playwright";
import { fail, misuse, UserError } from "../../core/errors.js";
import { within } from "../../core/within.js";
import { BrowserHost } from "../../env/browser/browser.js";
import { askedOf, decide, routeAll } from "../../env/browser/network/policy.js";
import { playwright } from "../../env/browser/playwright.js";

/** The page of a call: an address to open, or an open page in another Chromium. */
export interface Where {
  readonly url?: string | undefined;
  /** One of the server's endpoints: a Chromium on this machine, started with --remote-debugging-port. */
  readonly endpoint?: string | undefined;
}

/** Time limit for opening a page, in milliseconds. */
const OPEN_MS = 30_000;
/** Time limits of a call, of a page's sign of life during it, and for closing a page, in milliseconds. */
const CALL_MS = 300_000;
const ALIVE_MS = 15_000;
const CLOSE_MS = 5000;
/** Most pages that stay open between calls; beyond it, the oldest is closed. */
const MOST_PAGES = 8;

/** Entry of a window among the blocked addresses. */
const WINDOW = "window";

/** Work on a page; `stopped`: addresses that the page tried to reach meanwhile, and that were blocked. */
type Work<T> = (page: Page, stopped: readonly string[]) => Promise<T>;

/** The page does not answer any more. */
class Lost extends UserError {}

/** Opens pages of the server's origins, and no others. */
export class Pages {
  private readonly host: BrowserHost;
  private readonly opened = new Map<string, Page>();
  private readonly attached = new Map<string, Browser>();
  private readonly reached: ReadonlySet<string>;

  /**
   * @param origins at least one, in the form of `originOf`.
   * @param endpoints browsers that may be used, in the form of `endpointOf`.
   */
  constructor(
    private readonly origins: readonly string[],
    private readonly endpoints: readonly string[],
  ) {
    this.reached = new Set(origins);
    const [baseUrl = "", ...allowOrigins] = origins;
    this.host = new BrowserHost({ site: { baseUrl, allowOrigins }, headless: true });
  }

  /** Tells whether an address belongs to one of the origins. */
  allows(address: string): boolean {
    return URL.canParse(address) && this.origins.includes(new URL(address).origin);
  }

  /**
   * Runs `work` on a page; meanwhile its documents cannot leave the origins. A page that gives no sign of life, or takes
   * too long, is closed.
   * @param fresh true if a new page may be opened.
   * @param judges true if `work` itself decides what a blocked address means.
   * @throws UserError if the page belongs to another origin, navigates to one, or does not answer.
   */
  async on<T>(where: Where, { fresh = false, judges = false }, work: Work<T>): Promise<T> {
    if (where.url !== undefined && !URL.canParse(where.url)) misuse(`${where.url} is no address.`);
    if (where.url !== undefined && !this.allows(where.url)) this.refuse(where.url);
    const { endpoint } = where;
    if (endpoint !== undefined) {
      const page = await this.shown(endpoint, where.url);
      return this.guarded(page, judges, work).catch(async (error: unknown) => {
        if (error instanceof Lost) await this.disconnect(endpoint);
        throw error;
      });
    }
    if (where.url === undefined) misuse("Neither url nor endpoint says which page is meant.");
    const { href } = new URL(where.url);
    const open = this.opened.get(href);
    if (open === undefined && !fresh) misuse(`No page of ${href} is open.`, { hint: "call fill_form with it first" });
    const page = open ?? (await this.newPage(href));
    try {
      return await this.guarded(page, judges, async (_, stopped) => {
        const response = open === undefined ? await page.goto(href, { timeout: OPEN_MS }) : null;
        if ((response?.status() ?? 0) >= 400) fail(`${href} answered HTTP ${response?.status()}.`);
        return work(page, stopped);
      });
    } catch (error) {
      // failed pages and those that left the origins are opened again; filled-in pages stay open for corrections
      if (open === undefined || error instanceof Lost || !this.allows(page.url())) await this.forget(href);
      throw error;
    }
  }

  /** Closes a page opened here, if need be with its browser; the next call opens its address again. */
  async forget(url: string): Promise<void> {
    const { href } = new URL(url);
    const page = this.opened.get(href);
    if (page === undefined) return;
    this.opened.delete(href);
    const browser = page.context().browser();
    if ((await within(page.context().close(), CLOSE_MS)) || browser === null) return;
    await this.host.discard(browser);
  }

  async close(): Promise<void> {
    // for an attached browser, this ends only the connection
    for (const browser of this.attached.values()) await browser.close();
    await this.host.close();
  }

  private async newPage(href: string): Promise<Page> {
    const page = await (await this.host.browser()).newPage({ serviceWorkers: "block" });
    this.opened.set(href, page);
    page.once("close", () => this.opened.delete(href));
    if (this.opened.size > MOST_PAGES) await this.forget(this.opened.keys().next().value as string);
    return page;
  }

  private async disconnect(endpoint: string): Promise<void> {
    const browser = this.attached.get(endpoint);
    this.attached.delete(endpoint);
    if (browser !== undefined) await within(browser.close(), CLOSE_MS);
  }

  /** Finds the page with an address in a browser, or its only page of the origins. */
  private async shown(named: string, url: string | undefined): Promise<Page> {
    const endpoint = this.endpoints.find((one) => URL.canParse(named) && one === new URL(named).origin);
    if (endpoint === undefined)
      misuse(`${named} is none of the endpoints of this server.`, {
        hint: `start the server with --endpoint ${ENDPOINT}, or name a url alone`,
      });
    let browser = this.attached.get(endpoint);
    if (browser?.isConnected() !== true) {
      browser = await debuggerOf(endpoint)
        .then((address) => playwright().chromium.connectOverCDP(address, { timeout: OPEN_MS }))
        // what answered instead is not repeated: it may be anything on this machine
        .catch(() =>
          fail(`No Chromium answers at ${endpoint}.`, { hint: "start Chromium with --remote-debugging-port" }),
        );
      this.attached.set(endpoint, browser);
    }
    const all = browser.contexts().flatMap((context) => context.pages());
    const pages = all.filter((page) => this.allows(page.url()));
    const fitting = url === undefined ? pages : pages.filter((page) => page.url() === new URL(url).href);
    const [only, ...more] = fitting;
    if (only !== undefined && more.length === 0) return only;
    const shown = pages.map((page) => page.url()).join(", ");
    misuse(`The browser at ${endpoint} shows ${fitting.length} pages of ${url ?? "the allowed origins"}.`, {
      hint: shown === "" ? `open one of ${this.origins.join(", ")}` : `it shows ${shown}`,
    });
  }

  /** Runs `work`, and blocks documents of other origins, redirects included, and new windows of the page. */
  private async guarded<T>(page: Page, judges: boolean, work: Work<T>): Promise<T> {
    const stopped: string[] = [];
    const devtools = await page.context().newCDPSession(page);
    const close = (popup: Page): void => {
      stopped.push(WINDOW);
      void popup.close().catch(() => undefined);
    };
    // the first request of a window precedes it; documents of other origins are refused below, redirects included
    const filter = async (route: Route): Promise<void> => {
      const asked = askedOf(route.request(), page);
      const isRefused = asked.owner === "popup" && decide(asked, "guarded", this.reached) === "refuse";
      if (isRefused) stopped.push(WINDOW);
      await (isRefused ? route.abort("blockedbyclient") : route.fallback()).catch(() => undefined);
    };
    let unroute: () => Promise<unknown> = async () => undefined;
    const working = async (): Promise<T> => {
      await this.blockDocuments(devtools, stopped);
      unroute = await routeAll(page, filter);
      page.on("popup", close);
      const done = await work(page, stopped).catch((error: unknown) => {
        // the blocked document is the cause
        if (stopped[0] === undefined || judges) throw error;
        return undefined as T;
      });
      const [off = this.allows(page.url()) ? undefined : page.url()] = stopped;
      if (off !== undefined && !judges) this.refuse(off);
      return done;
    };
    const watch = watched(devtools);
    try {
      return await Promise.race([working(), watch.lost]);
    } finally {
      watch.end();
      page.off("popup", close);
      await within(Promise.all([unroute(), devtools.detach()]), CLOSE_MS);
    }
  }

  private async blockDocuments(devtools: CDPSession, stopped: string[]): Promise<void> {
    const { frameTree } = await devtools.send("Page.getFrameTree");
    devtools.on("Fetch.requestPaused", ({ requestId, request: { url, method, hasPostData = false }, frameId }) => {
      const owner = frameId === frameTree.frame.id ? "page" : "frame";
      const asked = { url, method, type: "document", owner, navigates: true, hasBody: hasPostData } as const;
      const fine = decide(asked, "guarded", this.reached) === "let";
      if (!fine) stopped.push(url);
      const answer = fine
        ? devtools.send("Fetch.continueRequest", { requestId })
        : devtools.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
      // the page may have closed meanwhile
      void answer.catch(() => undefined);
    });
    await devtools.send("Fetch.enable", { patterns: [{ resourceType: "Document" }] });
  }

  /** Refuses an address. @throws UserError that names the origins, always. */
  refuse(address: string): never {
    if (address === WINDOW) misuse("The page opened a window of its own, which was closed.");
    const { origin } = new URL(address);
    misuse(`${origin} is none of the origins of this server (${this.origins.join(", ")}): it was not opened.`, {
      hint: `start the server with --origin ${origin} as well, if that is meant`,
    });
  }
}

/** Reads an origin such as `https://shop.example`. @throws UserError for any other text. */
export function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    misuse(`${text} is no origin.`, { hint: "write it as https://shop.example or http://127.0.0.1:8080" });
  return url.origin;
}

const ENDPOINT = "http://127.0.0.1:9222";

/** Reads the address of a browser on this machine. @throws UserError for any other. */
export function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHere = url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (!isHere || url.href !== `${url.origin}/`)
    misuse(`${text} is no browser of this machine.`, { hint: `write it as ${ENDPOINT}` });
  return url.origin;
}

/** Returns the debugger's address at an endpoint; never one of another host or port. */
async function debuggerOf(endpoint: string): Promise<string> {
  const options = { redirect: "error", signal: AbortSignal.timeout(OPEN_MS) } as const;
  const answer = (await (await fetch(`${endpoint}/json/version`, options)).json()) as { webSocketDebuggerUrl: string };
  return `ws://${new URL(endpoint).host}${new URL(answer.webSocketDebuggerUrl).pathname}`;
}

/** Watches a page for signs of life. `lost` rejects where none comes, or the call takes too long. */
function watched(devtools: CDPSession): { readonly lost: Promise<never>; end(): void } {
  let isOver = false;
  const watch = async (): Promise<never> => {
    for (const end = performance.now() + CALL_MS; performance.now() < end; ) {
      const alive = devtools.send("Runtime.evaluate", { expression: "1" });
      if (!(await within(alive, ALIVE_MS)))
        throw new Lost(`The page has not answered for ${ALIVE_MS / 1000} s, and was given up.`, { hint: AGAIN });
      await new Promise((done) => setTimeout(done, 500));
      if (isOver) break;
    }
    throw new Lost(`The call took more than ${CALL_MS / 1000} s, and was given up.`, { hint: AGAIN });
  };
  const lost = watch();
  lost.catch(() => undefined);
  return { lost, end: () => (isOver = true) };
}
const AGAIN = "fill_form opens it again";
