import type { Page, Request } from "playwright";
import { isServerFault, ownerOf } from "./requests.js";
import { Signal } from "./signal.js";

/** Kinds of resources that a page needs to work; images and style sheets are none. */
const WORKING_PARTS = ["script", "fetch", "xhr"];
/** Ends of a request that are the server's doing; all others are the page's own (taken back, another host) or the walls'. */
const SERVER_ENDS =
  /ERR_(?:CONNECTION_(?:RESET|REFUSED|CLOSED|ABORTED|FAILED|TIMED_OUT)|EMPTY_RESPONSE|TIMED_OUT|CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED_ENCODING|INVALID_CHUNKED_ENCODING|INVALID_HTTP_RESPONSE|RESPONSE_HEADERS_TRUNCATED)/;

/**
 * Holds what a page's own scripts ask the site for: script files, fetch and XHR. Where the site fails such a request,
 * the page is not the one that the task is about, and what the policy makes of it says nothing.
 */
export class BackgroundRequests {
  private watching = false;
  /** Requests without a full answer, and when they began (`performance.now()`). */
  private readonly running = new Map<Request, number>();
  /** Failures by request; one that is asked again with success has not failed. */
  private readonly failures = new Map<string, string>();
  /** Requests of the page before any action. */
  private readonly early = new Set<string>();
  /** Addresses of requests whose answers come after the page was parsed, or may. */
  private readonly lookups = new Set<string>();
  private isParsed = false;
  private touched = false;
  /** A request has ended, or a failure was made good. */
  private readonly changed = new Signal();
  private readonly origins: ReadonlySet<string>;

  constructor(
    private readonly page: Page,
    addresses: readonly string[],
  ) {
    this.origins = new Set(addresses.map((address) => new URL(address).origin));
    const context = page.context();
    context.on("request", (request) => this.onStart(request));
    context.on("response", (response) => {
      if (isServerFault(response.status())) this.onFailure(response.request(), `HTTP ${response.status()} for`);
    });
    context.on("requestfinished", (request) => {
      if (!this.running.has(request)) return;
      void request.response().then(
        (response) => {
          if (response === null || isServerFault(response.status())) return;
          this.failures.delete(nameOf(request));
          this.changed.fire();
        },
        () => undefined,
      );
      this.onEnd(request);
    });
    context.on("requestfailed", (request) => {
      const why = request.failure()?.errorText ?? "";
      if (SERVER_ENDS.test(why)) this.onFailure(request, "no answer to");
      this.onEnd(request);
    });
  }

  /** A page is about to be opened. */
  begin(): void {
    this.running.clear();
    this.failures.clear();
    this.early.clear();
    this.lookups.clear();
    this.isParsed = false;
    this.touched = false;
    this.watching = true;
    this.changed.fire();
  }

  /** The page is in use from here on: what it asks for now belongs to what is done with it. */
  touch(): void {
    this.touched = true;
  }

  /** Tells whether the page had sent or asked for the same before it was touched: no post of the form then. */
  isRoutine(request: Request): boolean {
    return this.early.has(nameOf(request));
  }

  /** Ends the watch: what the page asks for from here on does not matter any more. */
  end(): void {
    this.watching = false;
    this.running.clear();
    this.changed.fire();
  }

  /** The first failure that nothing makes good within so long, as `HTTP 503 for GET /options`: pages ask again. */
  async lastingFailure(ms: number): Promise<string | undefined> {
    await this.changed.until(() => this.failures.size === 0 || !this.watching, ms);
    const [first] = this.failures.values();
    return first;
  }

  /**
   * The oldest request that the page still waits for: a script file, or what it asked for since it was touched. What it
   * had asked for already before that is not counted: such pages keep a request open on purpose, or repeat it.
   */
  unanswered(): { readonly name: string; readonly ageMs: number } | undefined {
    for (const [request, since] of this.running) {
      const name = nameOf(request);
      if (request.resourceType() === "script" || !this.early.has(name))
        return { name, ageMs: performance.now() - since };
    }
    return undefined;
  }

  /** The page has been parsed: scripts that have ended by now have run. */
  parsed(): void {
    this.isParsed = true;
    for (const request of this.running.keys()) this.lookups.add(request.url());
  }

  /**
   * Waits until no request runs any more, at most so long.
   * @returns the addresses of what was answered, since answers may have changed the page after it was parsed.
   */
  async settle(ms: number): Promise<readonly string[]> {
    await this.changed.until(() => this.running.size === 0, ms);
    const open = new Set([...this.running.keys()].map((request) => request.url()));
    return [...this.lookups].filter((url) => !open.has(url));
  }

  private onStart(request: Request): void {
    if (!this.watching || !WORKING_PARTS.includes(request.resourceType())) return;
    if (ownerOf(request, this.page) === "popup" || !this.origins.has(new URL(request.url()).origin)) return;
    this.running.set(request, performance.now());
    if (!this.touched) this.early.add(nameOf(request));
    if (this.isParsed || request.resourceType() !== "script") this.lookups.add(request.url());
  }

  private onFailure(request: Request, how: string): void {
    if (this.running.has(request)) this.failures.set(nameOf(request), `${how} ${nameOf(request)}`);
  }

  private onEnd(request: Request): void {
    this.running.delete(request);
    this.changed.fire();
  }
}

const nameOf = (request: Request): string => `${request.method()} ${new URL(request.url()).pathname}`;
