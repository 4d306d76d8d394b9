import { Hono } from "hono";
import type { RunConfig } from "../../../config/config.js";
import { messageOf } from "../../../core/errors.js";
import { cspHash, escapeHtml } from "../../../core/html.js";
import { ownHostOnly, type Served, serveApp } from "../../../core/serve.js";
import type { EnvironmentKind } from "../../../env/environment.js";
import type { Evaluation } from "../../../runs/evaluation.js";
import type { StepMetrics } from "../../../runs/metrics.js";
import type { RolloutRecord } from "../../../runs/rollout-record.js";
import { RunDirectory } from "../../../runs/run-directory.js";
import type { Speller } from "../../../text/token-text.js";
import { timeLeft } from "../../../watch/progress-text.js";
import type { Phase, WatchedRun, Watcher } from "../../../watch/watcher.js";
import { REPORT_SCRIPT } from "../client.js";
import { curves } from "../curves.js";
import { environmentOf, readCourse, tokenizerOf } from "../data.js";
import { type RevealReader, revealReader } from "../reveal-order.js";
import { type StepInterval, stepInterval, worstOf } from "../rollout-sample.js";
import { orderSteps, ordersOf, rolloutCard } from "../rollouts.js";
import { REPORT_STYLE } from "../style.js";
import { LIVE_SCRIPT, type LiveState } from "./client.js";

/** Rollouts of the newest step that the page shows. */
const MOST_ROLLOUTS = 16;

/**
 * A run's curves and latest rollouts as a page on the loopback interface: read-only, for this machine alone. Requests
 * under another host name (DNS rebinding) or from another page are refused. What it serves is made when it is asked
 * for, so that a page nobody looks at costs nothing.
 */
export class LivePage implements Watcher {
  private run: WatchedRun | undefined;
  private readonly metrics: StepMetrics[] = [];
  private readonly validations: { step: number; evaluation: Evaluation }[] = [];
  private readonly intervals: StepInterval[] = [];
  private readonly notes: string[] = [];
  private current: Phase | undefined;
  private latest: { step: number; records: readonly RolloutRecord[] } | undefined;
  private version = 1;
  private made: { version: number; charts: string; rollouts: string } | undefined;
  private readonly app: Hono;
  private hosts = new Set<string>();

  private constructor(
    private readonly name: string,
    private readonly tokenizer: Speller | null,
    private readonly reveals: RevealReader,
    private readonly kind: EnvironmentKind | undefined,
  ) {
    this.app = this.routes();
  }

  private served: Served | undefined;

  /** `http://127.0.0.1:43210/` */
  get address(): string {
    return `${this.served?.baseUrl ?? ""}/`;
  }

  /** @throws UserError where the port is taken or may not be used. */
  static async open(
    port: number,
    config: Pick<RunConfig, "name" | "model" | "sampler" | "environment">,
  ): Promise<LivePage> {
    const page = new LivePage(
      config.name,
      tokenizerOf(config.model),
      await revealReader(config.sampler.kind),
      await environmentOf(config.environment.kind),
    );
    page.served = await serveApp(page.app, port, "--ui");
    const { port: chosen } = new URL(page.served.baseUrl);
    page.hosts = new Set(["127.0.0.1", "localhost", "[::1]"].map((host) => `${host}:${chosen}`));
    return page;
  }

  begin(run: WatchedRun): void {
    this.run = run;
    if (run.done > 0) this.showEarlier(RunDirectory.open(run.dir), run.done);
    this.version++;
  }

  /** A resumed run shows its course up to the step that it goes on from: curves, validations, the newest rollouts. */
  private showEarlier(directory: RunDirectory, done: number): void {
    const { metrics, validations, rollouts } = readCourse(directory, MOST_ROLLOUTS, (text) => this.note(text));
    this.metrics.push(...metrics.filter(({ step }) => step <= done));
    this.validations.push(...validations.filter(({ step }) => step <= done));
    this.intervals.push(...rollouts.intervals.filter(({ step }) => step <= done));
    const step = rollouts.steps.findLast((read) => read <= done);
    const records = rollouts.shown.map(({ record }) => record).filter((record) => record.step === step);
    if (step !== undefined) this.latest = { step, records };
  }

  phase(phase: Phase): void {
    this.current = phase;
  }

  rollouts(step: number, records: readonly RolloutRecord[]): void {
    this.latest = { step, records };
    const interval = stepInterval(step, records);
    if (interval !== undefined) this.intervals.push(interval);
    this.version++;
  }

  step(metrics: StepMetrics): void {
    this.metrics.push(metrics);
    this.version++;
  }

  evaluation(step: number, evaluation: Evaluation): void {
    this.validations.push({ step, evaluation });
    this.version++;
  }

  note(text: string): void {
    this.notes.push(text);
    if (this.notes.length > 20) this.notes.shift();
  }

  async end(): Promise<void> {
    await this.served?.stop();
  }

  /** The page's state; the heavy parts only where `seen` is older. */
  state(seen: number): LiveState {
    const last = this.metrics.at(-1);
    const steps = this.run?.steps ?? 0;
    const own = this.metrics.filter((m) => m.step > (this.run?.done ?? 0));
    const eta = timeLeft(
      own.map((m) => m.time.total),
      steps - (last?.step ?? 0),
    );
    return {
      version: this.version,
      name: this.run?.name ?? this.name,
      command: this.run?.command ?? "",
      step: last?.step ?? this.run?.done ?? 0,
      steps,
      reward: last?.reward ?? null,
      success: last?.success_rate ?? null,
      kl: last?.kl ?? null,
      loss: last?.loss ?? null,
      eta: own.length === 0 ? null : eta,
      phase: this.current ?? null,
      notes: this.notes,
      ...(seen === this.version ? {} : this.parts()),
    };
  }

  private parts(): { charts: string; rollouts: string } {
    if (this.made?.version !== this.version) {
      const { metrics, validations, intervals } = this;
      const charts = curves({ metrics, validations, rollouts: { intervals } });
      this.made = { version: this.version, charts, rollouts: this.cards() };
    }
    const { charts, rollouts } = this.made;
    return { charts, rollouts };
  }

  private cards(): string {
    if (this.latest === undefined) return "<p>No rollout yet.</p>";
    const { step, records } = this.latest;
    const shown = worstOf(records, MOST_ROLLOUTS);
    const orders = shown.map(({ record }) => ordersOf(record, this.reveals));
    const steps = orderSteps(orders);
    const { tokenizer } = this;
    const cards = shown.map((rollout, i) =>
      rolloutCard(rollout, {
        open: false,
        orders: orders[i] ?? [],
        steps,
        tokenizer,
        image: undefined,
        kind: this.kind,
      }),
    );
    return `<p class="dim">Step ${step}: the ${shown.length} worst of ${records.length}.</p>${cards.join("")}`;
  }

  private routes(): Hono {
    const app = new Hono();
    app.use(ownHostOnly((host) => this.hosts.has(host)));
    app.use(async (c, next) => {
      if (c.req.method !== "GET" && c.req.method !== "HEAD") {
        return c.text("This page can only be read.\n", 405, { allow: "GET, HEAD" });
      }
      await next();
      for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value);
      return undefined;
    });
    app.get("/", (c) => c.html(livePage(this.name), 200, { "content-security-policy": LIVE_POLICY }));
    app.get("/state.json", (c) => c.json(this.state(Number(c.req.query("seen") ?? 0))));
    app.get("/favicon.ico", (c) => c.body(null, 204));
    app.notFound((c) => c.text("Not found.\n", 404));
    app.onError((error, c) => c.text(`${messageOf(error)}\n`, 500));
    return app;
  }
}

const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

const LIVE_STYLE = `
progress{width:100%;height:10px;accent-color:var(--s0)}#gone{font-weight:600}#fresh{margin:8px 0}
`.trim();

/** Content policy of the page: its own style and scripts, and its own server's answers. */
const LIVE_POLICY = [
  "default-src 'none'",
  `style-src ${cspHash(REPORT_STYLE)} ${cspHash(LIVE_STYLE)}`,
  `script-src ${cspHash(REPORT_SCRIPT)} ${cspHash(LIVE_SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page around what the script fetches. */
function livePage(name: string): string {
  const tile = (id: string, label: string): string => `<div><dt>${label}</dt><dd id="${id}">–</dd></div>`;
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">`,
    `<title>${escapeHtml(name)}</title><style>${REPORT_STYLE}</style><style>${LIVE_STYLE}</style></head><body>`,
    `<header><h1 id="name">${escapeHtml(name)}</h1><p id="phase">Connecting…</p></header>`,
    `<progress id="progress" max="1" value="0" aria-label="Steps done"></progress>`,
    `<p id="gone" class="bad" role="status" hidden>The run has ended, or its process is gone. Its report.html has everything.</p>`,
    `<dl class="tiles">${tile("at", "step")}${tile("reward", "reward")}${tile("success", "success")}${tile("kl", "KL")}${tile("loss", "loss")}${tile("eta", "time left")}</dl>`,
    `<section><h2>Training</h2><div id="charts"><p>No step is recorded yet.</p></div></section>`,
    `<section id="rollouts"><h2>Latest rollouts, worst first</h2><div class="filters" hidden><fieldset><legend>Colour</legend>`,
    `<label><input type="radio" name="colour" value="order" checked> order</label><label><input type="radio" name="colour" value="probability"> probability</label></fieldset></div>`,
    `<button id="fresh" type="button" hidden>Show the newest step's</button><div id="latest"></div></section>`,
    `<section><h2>Notes</h2><ul id="notes"></ul></section>`,
    `<noscript><p class="bad">This page needs its script to follow the run.</p></noscript>`,
    `<script>${REPORT_SCRIPT}</script><script>${LIVE_SCRIPT}</script></body></html>`,
  ].join("\n");
}
