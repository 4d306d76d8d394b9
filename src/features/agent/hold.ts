import type { CDPSession, Frame, JSHandle, Page, Request, Route, WebSocket, Worker } from "playwright";
import { visible } from "../../core/shown.js";
import { within } from "../../core/within.js";
import { ownerOf } from "../../env/browser/network/exchange.js";
import { askedOf, decide, routeAll } from "../../env/browser/network/policy.js";
import { type PageHandle, PageWorld } from "../../env/browser/page/world.js";
import { type HeldPage, holdBack, holdChannels, NOWHERE } from "./page/held-back.js";

/** Requests of a page since it is held: those that left the page, and those that were held; as `GET https://...`. */
export interface Departures {
  readonly sent: readonly string[];
  readonly held: readonly string[];
}

/** Most requests that wait; further ones fail. */
const MOST_WAITING = 200;
/** Time limits for the page to answer, and for the server to answer what was held, in milliseconds. */
const ALIVE_MS = 1500;
const ANSWER_MS = 2000;
/** Most characters of an address in a report. */
const MOST_NAME = 300;

const HOLDS = new WeakMap<Page, Hold>();

/**
 * Holds what a page sends while it is filled in, and after that until somebody touches it, or it is released. Held
 * requests wait and leave in their order then. While the page is filled in, only its lookups leave (GET without a body,
 * to servers that have had a request before), and each of them is reported: what is not reported as sent has not left.
 */
export class Hold {
  private isFilling = true;
  /** Set if held requests wait; else they fail. */
  private isKeeping = true;
  /** Requests of the page in their order, and those of them that were held. */
  private readonly requests: Request[] = [];
  private readonly held = new Set<Request>();
  private readonly waiting: Route[] = [];
  private readonly messages: string[] = [];
  /** Requests that the browser makes by itself for a link; those among them that were routed are held. */
  private readonly unrouted: string[] = [];
  private readonly origins = new Set<string>();
  private readonly channels: JSHandle<ReturnType<typeof holdChannels>>[] = [];
  private readonly cleanUp: (() => unknown)[] = [];
  private released: Promise<void> | undefined;

  private constructor(
    private readonly page: Page,
    private readonly devtools: CDPSession,
    private readonly inPage: PageHandle<HeldPage>,
  ) {}

  /** Begins or continues to hold a page. Call `filled` at the end. */
  static async begin(page: Page): Promise<Hold> {
    const known = HOLDS.get(page);
    const isSame = await known?.inPage
      .evaluate((held) => held.fill(true))
      .then(
        () => true,
        () => false,
      );
    if (known !== undefined && isSame === true && known.released === undefined) {
      known.isFilling = true;
      known.isKeeping = true;
      await known.wall(false);
      return known;
    }
    await known?.release();
    const devtools = await page.context().newCDPSession(page);
    const { frameTree } = await devtools.send("Page.getFrameTree");
    const world = await PageWorld.enter(devtools, frameTree.frame.id);
    const hold = new Hold(page, devtools, await world.hold(holdBack, undefined));
    HOLDS.set(page, hold);
    await hold.watch();
    return hold;
  }

  /** Lets a page send again. Requests that were held leave first. */
  static async release(page: Page): Promise<void> {
    await HOLDS.get(page)?.release();
  }

  /** Drops the requests of a page from now on. */
  static async drop(page: Page): Promise<void> {
    const hold = await Hold.begin(page);
    hold.isKeeping = false;
    await hold.filled();
  }

  /** Ends the filling in: from here on nothing leaves until the page is touched or released. */
  async filled(): Promise<Departures> {
    const inPage = await this.inPage
      .evaluate((held) => {
        held.fill(false);
        return held.stopped;
      })
      .catch(() => []);
    this.isFilling = false;
    const channels = await Promise.all(
      this.channels.map((one) => one.evaluate(({ held }) => held).catch((): string[] => [])),
    );
    const named = (request: Request): string => `${request.method()} ${request.url()}`;
    const leaves = this.requests.filter((request) => !this.held.has(request));
    // the wall would end what is on its way
    await within(Promise.all(leaves.map((request) => request.response())), ANSWER_MS);
    await this.wall(true);
    const routed = new Set(this.requests.map(named));
    const unrouted = this.unrouted.filter((one) => !routed.has(one));
    return {
      sent: listed([...leaves.map(named), ...unrouted, ...this.messages]),
      held: listed([...[...this.held].map(named), ...inPage.map((url) => `navigation ${url}`), ...channels.flat()]),
    };
  }

  /** Cuts the page off from the network, or ends that: what is routed waits before it. Older browsers do not know it. */
  private async wall(isUp: boolean): Promise<void> {
    const all = { urlPattern: "", latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    const rules = { offline: isUp, matchedNetworkConditions: isUp ? [all] : [] };
    await this.devtools.send("Network.emulateNetworkConditionsByRule" as never, rules as never).catch(() => undefined);
  }

  private async watch(): Promise<void> {
    const { page, devtools } = this;
    const context = page.context();
    const { requested } = await this.inPage.evaluate(({ requested }) => ({ requested }));
    for (const url of requested) if (/^https?:/.test(url)) this.origins.add(new URL(url).origin);
    const onRequest = (request: Request): void => {
      if (/^https?:/.test(request.url()) && this.isOurs(request)) this.requests.push(request);
    };
    const onConnection = (kind: string, url: string): void => {
      if (!url.includes(NOWHERE)) this.messages.push(`${kind} ${url}`);
    };
    const onSocket = (socket: WebSocket): void => onConnection("WebSocket", socket.url());
    const onPopup = (popup: Page): void => {
      if (this.isFilling) popup.close().catch(() => undefined);
    };
    const onFrame = (frame: Frame): void => void this.holdIn(frame);
    const onWorker = (worker: Worker): void => void this.holdIn(worker);
    const isThere = (): Promise<unknown> => this.inPage.evaluate(() => undefined);
    const end = (): void => void isThere().catch(() => this.release());
    context.on("request", onRequest);
    page.on("websocket", onSocket).on("popup", onPopup).on("framenavigated", onFrame).on("worker", onWorker);
    page.on("domcontentloaded", end).on("close", end);
    devtools.on("Network.webSocketFrameSent", () => this.messages.push("WebSocket message"));
    devtools.on("Network.webTransportCreated", ({ url }) => onConnection("WebTransport", url));
    // what a link prefetches passes no route
    devtools.on("Network.requestWillBeSent", ({ type, request: { method, url } }) => {
      if (type === "Other" && /^https?:/.test(url)) this.unrouted.push(`${method} ${url}`);
    });
    devtools.on("Preload.prefetchStatusUpdated", ({ prefetchUrl }) => onConnection("GET", prefetchUrl));
    devtools.on("Preload.prerenderStatusUpdated", ({ key }) => onConnection("GET", key.url));
    this.cleanUp.push(
      () => context.off("request", onRequest),
      () =>
        page.off("websocket", onSocket).off("popup", onPopup).off("framenavigated", onFrame).off("worker", onWorker),
      () => page.off("domcontentloaded", end).off("close", end),
    );
    await Promise.all([devtools.send("Network.enable"), devtools.send("Preload.enable")]);
    this.cleanUp.push(await routeAll(page, this.filter));
    await Promise.all([...page.frames(), ...page.workers()].map((scope) => this.holdIn(scope)));
  }

  /** Holds the channels that no request precedes. What evades this is reported by the browser. */
  private async holdIn(scope: Frame | Worker): Promise<void> {
    const handle = (scope as Frame).evaluateHandle(holdChannels, NOWHERE);
    await within(
      handle.then((one) => this.channels.push(one)),
      ALIVE_MS,
    );
  }

  private isOurs(request: Request): boolean {
    if (request.serviceWorker() !== null) return true;
    if (ownerOf(request, this.page) !== "popup") return true;
    try {
      return request.frame().page() === this.page;
    } catch {
      // a new window
      return true;
    }
  }

  private readonly filter = async (route: Route): Promise<void> => {
    const request = route.request();
    try {
      const phase = this.isFilling ? "fill" : "filled";
      const isFree = this.released !== undefined || !this.isOurs(request);
      if (isFree || decide(askedOf(request, this.page), phase, this.origins) === "let") return await route.fallback();
      if (!this.isFilling && request.isNavigationRequest() && ownerOf(request, this.page) === "page") {
        // scripts cannot leave an untouched page: somebody does
        await this.wall(false);
        void this.release();
        return await route.fallback();
      }
      if (!this.isFilling && (await this.isTouched())) {
        await this.release();
        return await route.fallback();
      }
      this.held.add(request);
      const mayWait = this.isKeeping && this.waiting.length < MOST_WAITING;
      if (!mayWait || !["fetch", "xhr"].includes(request.resourceType()))
        return await (request.isNavigationRequest() ? route.fulfill({ status: 204 }) : route.abort("blockedbyclient"));
      this.waiting.push(route);
      // a script that waits for the answer would block the page
      if ((await this.isTouched()) !== undefined) return;
      this.waiting.splice(this.waiting.indexOf(route), 1);
      await route.abort("blockedbyclient");
    } catch {
      // the page was closed meanwhile
    }
  };

  /** Tells whether the page was touched after it was filled in; undefined if it does not answer. */
  private async isTouched(): Promise<boolean | undefined> {
    const touched = this.inPage.evaluate((held) => held.touched());
    return (await within(touched, ALIVE_MS)) ? touched : undefined;
  }

  /** Lets all requests leave, those that were held first. */
  private release(): Promise<void> {
    this.released ??= this.letGo();
    return this.released;
  }

  private async letGo(): Promise<void> {
    HOLDS.delete(this.page);
    await within(this.wall(false), ALIVE_MS);
    const leave = async (route: Route): Promise<void> => {
      await route.fallback();
      await within(route.request().response(), ANSWER_MS);
    };
    const steps = [
      ...this.waiting.map((route) => () => leave(route)),
      ...this.channels.map((one) => () => one.evaluate(({ letGo }) => letGo())),
      () => this.inPage.evaluate(({ letGo }) => letGo()),
      ...this.cleanUp,
      () => this.devtools.detach(),
    ];
    // a page that was left holds nothing back any more
    await Promise.all(steps.map((step) => within((async () => step())(), ANSWER_MS)));
  }
}

/** Makes a list of names for people: each once, none too long. */
const listed = (names: readonly string[]): string[] => [
  ...new Set(names.map((name) => visible(name).trim().slice(0, MOST_NAME))),
];
