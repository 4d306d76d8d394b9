import { createRequire } from "node:module";
import type { Browser } from "playwright";
import { messageOf, UserError } from "../../core/errors.js";
import type { Logger } from "../../core/log.js";
import { within } from "../../core/within.js";
import type { RunningSite } from "../site.js";
import { endOrphanedBrowsers, recordBrowser } from "./browser-record.js";
import { findBrowser } from "./find-browser.js";
import { HEAP_LIMIT, watchMemory } from "./memory.js";
import { playwright } from "./playwright.js";

/** A failure of the environment, not of the policy: the episode is tried again, never scored. */
export class EnvironmentFault extends Error {
  override readonly name = "EnvironmentFault";
}

/** A form was sent and not answered in time: the episode is not tried again, as that would send it again. */
export class Unanswered extends EnvironmentFault {}

/** The server takes no more requests for a time, with HTTP 429: the episode waits, and is tried again. */
export class TooMany extends EnvironmentFault {
  constructor(
    message: string,
    /** Milliseconds. */
    readonly waitMs: number | undefined,
  ) {
    super(message);
  }
}

/** Signals that the browser was closed because of another page in it: the episode itself caused no failure. */
export class BrowserDiscarded extends EnvironmentFault {}

export interface BrowserOptions {
  readonly site: RunningSite;
  readonly headless: boolean;
  /** Limit of one browser action or answer, in milliseconds. */
  readonly actionTimeoutMs: number;
  /** Set if requests of episodes are recorded. */
  readonly har?: boolean;
  readonly log?: Logger;
}

type Reached = Pick<RunningSite, "baseUrl" | "allowOrigins">;

/** Time that a browser may take to end, before and after it is killed, in milliseconds. */
const CLOSE_PATIENCE_MS = 5000;

/** The features that Playwright turns off by itself: a list of ours replaces its own. */
export const OFF_BY_PLAYWRIGHT = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "TcpPortRandomizationWin",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
  "msForceBrowserSignIn",
  "msEdgeUpdateLaunchServicesPreferredVersion",
];

/** One Chromium process and its relaunches. */
export class BrowserHost {
  private current: Promise<{ browser: Browser; pid: number | undefined }> | undefined;
  private closed = false;
  private readonly discarded = new WeakSet<Browser>();

  /** @param options `site`: the only site that pages can reach; undefined: any. */
  constructor(private readonly options: Pick<BrowserOptions, "headless" | "log"> & { readonly site?: Reached }) {}

  /** Returns the running browser; starts one at first and after a crash. */
  async browser(): Promise<Browser> {
    if (this.closed) throw new UserError("The browser is closed.");
    const running = this.current;
    if (running !== undefined && !(await running).browser.isConnected() && this.current === running)
      this.current = undefined;
    this.current ??= this.launch();
    const launching = this.current;
    launching.catch(() => {
      if (this.current === launching) this.current = undefined;
    });
    return (await launching).browser;
  }

  /** Returns the browser's process id, if it is known. */
  async pid(): Promise<number | undefined> {
    return (await this.current)?.pid;
  }

  /** Ends this browser, if it is still the current one: the next call of `browser()` starts another. */
  async discard(browser: Browser): Promise<void> {
    const running = this.current;
    if (running === undefined || (await running).browser !== browser) return;
    if (this.current === running) this.current = undefined;
    this.discarded.add(browser);
    await endBrowser(await running);
  }

  /** Tells whether this browser was given up here, and did not end by itself. */
  wasDiscarded(browser: Browser): boolean {
    return this.discarded.has(browser);
  }

  async close(): Promise<void> {
    this.closed = true;
    const running = this.current;
    this.current = undefined;
    if (running !== undefined) await running.then(endBrowser, () => undefined);
  }

  private async launch(): Promise<{ browser: Browser; pid: number | undefined }> {
    const found = findBrowser({ headless: this.options.headless });
    if (found === undefined) {
      throw new UserError(`No Chromium${this.options.headless ? "" : " with a window"} was found.`, {
        hint: `run \`npx playwright@${playwrightVersion()} install chromium\` (\`apt-get install chromium\` on Debian), or set REFUSION_BROWSER to one`,
      });
    }
    const orphans = endOrphanedBrowsers();
    if (orphans.length > 0) this.options.log?.warn({ pids: orphans }, "ended browsers whose training was killed");
    const root = process.getuid?.() === 0;
    const start = (sandbox: boolean): Promise<Browser> =>
      playwright().chromium.launch({
        ...(found.path === undefined ? {} : { executablePath: found.path }),
        headless: this.options.headless,
        chromiumSandbox: sandbox,
        // the program handles interrupts itself
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
        // not --disable-threaded-compositing: Chromium then draws no frame at all, and animation frames never come
        args: [
          "--disable-gpu",
          // only one origin can be reached: a process for each site would only cost time
          "--disable-site-isolation-trials",
          "--dns-prefetch-disable",
          "--disable-domain-reliability",
          "--no-pings",
          "--disable-shared-workers",
          // a new frame for each document costs more than a small page
          `--disable-features=${[...OFF_BY_PLAYWRIGHT, "RenderDocument"].join(",")}`,
          HEAP_LIMIT,
          ...wall(this.options.site),
        ],
      });
    let browser: Browser;
    try {
      // Chromium's sandbox does not work as root
      browser = await start(!root).catch((error: unknown) => {
        if (root) throw error;
        this.options.log?.warn(
          { error: messageOf(error) },
          "Chromium does not start in its sandbox here; starting without",
        );
        return start(false);
      });
    } catch (error) {
      throw new UserError(`Chromium (${found.source}) does not start: ${messageOf(error).split("\n")[0]}`, {
        hint: "`refusion-train doctor` shows which browser is used; REFUSION_BROWSER names another.",
        cause: error,
      });
    }
    const pid = await processId(browser);
    if (pid !== undefined) browser.once("disconnected", recordBrowser(pid));
    await watchMemory(browser);
    return { browser, pid };
  }
}

/**
 * Blocks what the request filter does not see: WebSockets, redirects, workers and WebRTC. Everything but the site's own
 * hosts and ports goes through a proxy without an address, and no other name is resolved.
 */
function wall(site: Reached | undefined): string[] {
  if (site === undefined) return [];
  const sites = [site.baseUrl, ...(site.allowOrigins ?? [])].map((address) => new URL(address));
  const hosts = sites.map((site) => `${site.hostname}:${site.port || (site.protocol === "https:" ? "443" : "80")}`);
  const names = [...new Set(sites.map((site) => site.hostname))];
  return [
    "--proxy-server=http://wall.invalid:1",
    `--proxy-bypass-list=${["<-loopback>", ...new Set(hosts)].join(";")}`,
    `--host-resolver-rules=${["MAP * ~NOTFOUND", ...names.map((name) => `EXCLUDE ${name}`)].join(", ")}`,
    // the headless shell and the full browser have different names for this option
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  ];
}

/** Returns Playwright's version: the browsers of other versions are not found. */
const playwrightVersion = (): string =>
  (createRequire(import.meta.url)("playwright/package.json") as { readonly version: string }).version;

async function processId(browser: Browser): Promise<number | undefined> {
  try {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    await session.detach();
    return processInfo.find((info) => info.type === "browser")?.id;
  } catch {
    return undefined;
  }
}

/** Asks the browser to end, and kills it by its process id if it does not. */
async function endBrowser({ browser, pid }: { browser: Browser; pid: number | undefined }): Promise<void> {
  const closing = browser.close();
  if ((await within(closing, CLOSE_PATIENCE_MS)) || pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it is gone already
  }
  // a killed process still takes a moment to end
  await within(closing, CLOSE_PATIENCE_MS);
}
