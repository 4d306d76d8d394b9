import type { Page, Request } from "playwright";
import { isServerFault, ownerOf } from "./exchange.js";
import { Signal } from "./signal.js";

/** Kinds of resources that a page needs to work; images and style sheets are not among them. */
const WORKING_PARTS = ["script", "fetch", "xhr"];
/** Errors of a request that the server causes; others come from the page (cancelled, another host) or the blocking. */
const SERVER_ENDS =
  /ERR_(?:CONNECTION_(?:RESET|REFUSED|CLOSED|ABORTED|FAILED|TIMED_OUT)|EMPTY_RESPONSE|TIMED_OUT|CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED_ENCODING|INVALID_CHUNKED_ENCODING|INVALID_HTTP_RESPONSE|RESPONSE_HEADERS_TRUNCATED)/;

/**
 * Tracks the requests of a page's own scripts to the site: script files, fetch and XHR. If the site fails one, the page
 * is not the task's page, and the episode must not be scored.
 */
export class BackgroundRequests {
  private watching = false;
  /** Requests without a full answer, with their start (`performance.now()`). */
  private readonly running = new Map<Request, number>();
  /** Failures by request; a successful repetition deletes the failure. */
  private readonly failures = new Map<string, string>();
  /** Requests of the page before any action. */
  private readonly early = new Set<string>();
  /** Set once a request has ended whose answer may have changed the page after it was parsed. */
  private lookedUp = false;
  private isParsed = false;
  private touched = false;
  /** Fires when a request has ended, or a failure is deleted. */
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

  begin(): void {
    this.running.clear();
    this.failures.clear();
    this.early.clear();
    this.lookedUp = false;
    this.isParsed = false;
    this.touched = false;
    this.watching = true;
    this.changed.fire();
  }

  /** Marks the page as in use: later requests may be due to actions. */
  touch(): void {
    this.touched = true;
  }

  /** Tells whether the page sent the same request before any action: then it is no post of the form. */
  isRoutine(request: Request): boolean {
    return this.early.has(nameOf(request));
  }

  /** Ends the watch: later requests do not matter any more. */
  end(): void {
    this.watching = false;
    this.running.clear();
    this.changed.fire();
  }

  /** Returns the first failure that no repetition fixes within `ms`, as `HTTP 503 for GET /options`. */
  async lastingFailure(ms: number): Promise<string | undefined> {
    await this.changed.until(() => this.failures.size === 0 || !this.watching, ms);
    const [first] = this.failures.values();
    return first;
  }

  /**
   * Returns the oldest request that the page still waits for: a script file, or a request since the first action.
   * Earlier requests are not counted: pages keep such requests open on purpose, or repeat them.
   */
  unanswered(): { readonly name: string; readonly ageMs: number } | undefined {
    for (const [request, since] of this.running) {
      const name = nameOf(request);
      if (request.resourceType() === "script" || !this.early.has(name))
        return { name, ageMs: performance.now() - since };
    }
    return undefined;
  }

  /** Marks the page as parsed: scripts that are loaded by now have run. */
  parsed(): void {
    this.isParsed = true;
  }

  /**
   * Waits until no request is running, at most `ms` milliseconds.
   * @returns whether an answer may have changed the page after it was parsed.
   */
  async settle(ms: number): Promise<boolean> {
    await this.changed.until(() => this.running.size === 0, ms);
    return this.lookedUp;
  }

  private onStart(request: Request): void {
    if (!this.watching || !WORKING_PARTS.includes(request.resourceType())) return;
    if (ownerOf(request, this.page) === "popup" || !this.origins.has(new URL(request.url()).origin)) return;
    this.running.set(request, performance.now());
    if (!this.touched) this.early.add(nameOf(request));
  }

  private onFailure(request: Request, how: string): void {
    if (this.running.has(request)) this.failures.set(nameOf(request), `${how} ${nameOf(request)}`);
  }

  private onEnd(request: Request): void {
    if (this.running.delete(request)) this.lookedUp ||= this.isParsed || request.resourceType() !== "script";
    this.changed.fire();
  }
}

const nameOf = (request: Request): string => `${request.method()} ${new URL(request.url()).pathname}`;
