import type { Browser, Page } from "playwright";
import { fail, messageOf, misuse } from "../../core/errors.js";
import { BrowserHost } from "../../env/browser/browser.js";
import { playwright } from "../../env/browser/playwright.js";

/** The page of a call: an address to open, or an open page in another Chromium. */
export interface Where {
  readonly url?: string | undefined;
  /** Address of a Chromium on this machine, started with --remote-debugging-port. */
  readonly endpoint?: string | undefined;
}

/** Time limit for opening a page, in milliseconds. */
const OPEN_MS = 30_000;
/** Most pages that stay open between calls; beyond it, the oldest is closed. */
const MOST_PAGES = 8;

/** Entry of a window among the blocked addresses. */
const WINDOW = "window";

/** Opens pages of the server's origins, and no others. */
export class Pages {
  private readonly host: BrowserHost;
  private readonly opened = new Map<string, Page>();
  private readonly attached = new Map<string, Browser>();

  /** @param origins at least one, in the form of `originOf`. */
  constructor(private readonly origins: readonly string[]) {
    const [baseUrl = "", ...allowOrigins] = origins;
    this.host = new BrowserHost({ site: { baseUrl, allowOrigins }, headless: true });
  }

  /** Tells whether an address belongs to one of the origins. */
  allows(address: string): boolean {
    return URL.canParse(address) && this.origins.includes(new URL(address).origin);
  }

  /**
   * Runs `work` on a page; meanwhile its documents cannot leave the origins.
   * @param fresh true if a new page may be opened.
   * @throws UserError if the page belongs to another origin, or navigates to one.
   */
  async on<T>(where: Where, fresh: boolean, work: (page: Page) => Promise<T>): Promise<T> {
    if (where.url !== undefined && !URL.canParse(where.url)) misuse(`${where.url} is no address.`);
    if (where.url !== undefined && !this.allows(where.url)) this.refuse(where.url);
    if (where.endpoint !== undefined) return this.guarded(await this.shown(where.endpoint, where.url), work);
    if (where.url === undefined) misuse("Neither url nor endpoint says which page is meant.");
    const { href } = new URL(where.url);
    const open = this.opened.get(href);
    if (open === undefined && !fresh) misuse(`No page of ${href} is open.`, { hint: "call fill_form with it first" });
    const page = open ?? (await this.newPage(href));
    try {
      return await this.guarded(page, async () => {
        const response = open === undefined ? await page.goto(href, { timeout: OPEN_MS }) : null;
        if ((response?.status() ?? 0) >= 400) fail(`${href} answered HTTP ${response?.status()}.`);
        return work(page);
      });
    } catch (error) {
      // failed pages and those that left the origins are opened again; filled-in pages stay open for corrections
      if (open === undefined || !this.allows(page.url())) await this.forget(href);
      throw error;
    }
  }

  /** Closes a page opened here; the next call opens its address again. */
  async forget(url: string): Promise<void> {
    await this.opened.get(new URL(url).href)?.context().close();
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

  /** Finds the page with an address in a browser, or its only page of the origins. */
  private async shown(endpoint: string, url: string | undefined): Promise<Page> {
    const { protocol = "", hostname = "" } = URL.canParse(endpoint) ? new URL(endpoint) : {};
    if (!/^(?:http|ws):$/.test(protocol) || !["127.0.0.1", "localhost", "[::1]"].includes(hostname))
      misuse(`${endpoint} is no browser of this machine.`, { hint: "as http://127.0.0.1:9222" });
    let browser = this.attached.get(endpoint);
    if (browser?.isConnected() !== true) {
      browser = await playwright()
        .chromium.connectOverCDP(endpoint, { timeout: OPEN_MS })
        .catch((error: unknown) =>
          fail(`No browser answers at ${endpoint}: ${messageOf(error).split("\n")[0]}`, {
            hint: "start Chromium with --remote-debugging-port",
          }),
        );
      this.attached.set(endpoint, browser);
    }
    const all = browser.contexts().flatMap((context) => context.pages());
    const pages = all.filter((page) => this.allows(page.url()));
    const named = url === undefined ? pages : pages.filter((page) => page.url() === new URL(url).href);
    const [only, ...more] = named;
    if (only !== undefined && more.length === 0) return only;
    const shown = pages.map((page) => page.url()).join(", ");
    misuse(`The browser at ${endpoint} shows ${named.length} pages of ${url ?? "the allowed origins"}.`, {
      hint: shown === "" ? `open one of ${this.origins.join(", ")}` : `it shows ${shown}`,
    });
  }

  /** Runs `work`, and blocks documents of other origins, redirects included, and new windows of the page. */
  private async guarded<T>(page: Page, work: (page: Page) => Promise<T>): Promise<T> {
    const stopped: string[] = [];
    const devtools = await page.context().newCDPSession(page);
    const { frameTree } = await devtools.send("Page.getFrameTree");
    devtools.on("Fetch.requestPaused", ({ requestId, request: { url, method }, frameId }) => {
      // a frame may load any document, such as a map, but not receive a form
      const fine = this.allows(url) || (frameId !== frameTree.frame.id && method === "GET");
      if (!fine) stopped.push(url);
      const answer = fine
        ? devtools.send("Fetch.continueRequest", { requestId })
        : devtools.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
      // the page may have closed meanwhile
      void answer.catch(() => undefined);
    });
    const close = (popup: Page): void => {
      stopped.push(WINDOW);
      void popup.close().catch(() => undefined);
    };
    page.on("popup", close);
    try {
      await devtools.send("Fetch.enable", { patterns: [{ resourceType: "Document" }] });
      const done = await work(page).catch((error: unknown) => {
        // the blocked document is the cause
        if (stopped[0] === undefined) throw error;
        return undefined as T;
      });
      const [off = this.allows(page.url()) ? undefined : page.url()] = stopped;
      if (off !== undefined) this.refuse(off);
      return done;
    } finally {
      page.off("popup", close);
      await devtools.detach().catch(() => undefined);
    }
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
