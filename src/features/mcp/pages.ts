import type { Browser, Page } from "playwright";
import { fail, messageOf, misuse } from "../../core/errors.js";
import { BrowserHost } from "../../env/browser/browser.js";
import { playwright } from "../../env/browser/playwright.js";

/** The page that a call is about: an address to open, or a page that another Chromium shows. */
export interface Where {
  readonly url?: string | undefined;
  /** Of a Chromium that was started with --remote-debugging-port, on this machine. */
  readonly endpoint?: string | undefined;
}

/** Limit for opening a page, in milliseconds. */
const OPEN_MS = 30_000;
/** Pages that stay open between calls; the one that was opened first is closed for one more. */
const MOST_PAGES = 8;

/** Stands for a window among the addresses that a page was kept from. */
const WINDOW = "window";

/** Pages of the origins that a server was started with, and of no others. */
export class Pages {
  private readonly host: BrowserHost;
  private readonly opened = new Map<string, Page>();
  private readonly attached = new Map<string, Browser>();

  /** @param origins at least one, as `originOf` gives them. */
  constructor(private readonly origins: readonly string[]) {
    const [baseUrl = "", ...allowOrigins] = origins;
    this.host = new BrowserHost({ site: { baseUrl, allowOrigins }, headless: true });
  }

  /** Tells whether an address is of one of the origins. */
  allows(address: string): boolean {
    return URL.canParse(address) && this.origins.includes(new URL(address).origin);
  }

  /**
   * Works on a page; nothing that it asks for leaves the origins as a document meanwhile.
   * @param fresh a page that is not open yet may be opened.
   * @throws UserError where the page is of another origin, or goes to one.
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
      // what did not open, or was left, is opened again; what is filled in stays where it can be corrected
      if (open === undefined || !this.allows(page.url())) await this.forget(href);
      throw error;
    }
  }

  /** Closes a page that was opened here; the next call opens its address again. */
  async forget(url: string): Promise<void> {
    await this.opened.get(new URL(url).href)?.context().close();
  }

  async close(): Promise<void> {
    // of a browser that was attached to this ends the connection alone
    for (const browser of this.attached.values()) await browser.close();
    await this.host.close();
  }

  private async newPage(href: string): Promise<Page> {
    const page = await (await this.host.browser()).newPage();
    this.opened.set(href, page);
    page.once("close", () => this.opened.delete(href));
    if (this.opened.size > MOST_PAGES) await this.forget(this.opened.keys().next().value as string);
    return page;
  }

  /** The page of an address that a browser shows, or its only one of the origins. */
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

  /** Stops every document of another origin before it is asked for, redirects included, and windows of the page. */
  private async guarded<T>(page: Page, work: (page: Page) => Promise<T>): Promise<T> {
    const stopped: string[] = [];
    const devtools = await page.context().newCDPSession(page);
    const { frameTree } = await devtools.send("Page.getFrameTree");
    devtools.on("Fetch.requestPaused", ({ requestId, request: { url, method }, frameId }) => {
      // a frame may show what it likes, as a map does; it may not be sent a form
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
        // what was stopped is why
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

  /** @throws UserError that names the origins, always. */
  refuse(address: string): never {
    if (address === WINDOW) misuse("The page opened a window of its own, which was closed.");
    const { origin } = new URL(address);
    misuse(`${origin} is none of the origins of this server (${this.origins.join(", ")}): it was not opened.`, {
      hint: `start the server with --origin ${origin} as well, if that is meant`,
    });
  }
}

/** Reads an origin, as `https://shop.example`. @throws UserError where it is none. */
export function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    misuse(`${text} is no origin.`, { hint: "write it as https://shop.example or http://127.0.0.1:8080" });
  return url.origin;
}
