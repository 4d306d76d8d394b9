import { Hono } from "hono";
import { html, raw } from "hono/html";
import { secureHeaders } from "hono/secure-headers";
import type { RunConfig } from "../../../config/config.js";
import { messageOf } from "../../../core/errors.js";
import { ownHostOnly, type Served, serveApp } from "../../../core/serve.js";
import type { Evaluation } from "../../../runs/evaluation.js";
import type { StepMetrics } from "../../../runs/metrics.js";
import type { RolloutRecord } from "../../../runs/rollout-record.js";
import { RunDirectory } from "../../../runs/run-directory.js";
import { phaseText } from "../../../watch/live-view.js";
import { formatDuration, percent, timeLeft } from "../../../watch/progress-text.js";
import type { OpenLivePage } from "../../../watch/run-pages.js";
import type { Phase, WatchedRun, Watcher } from "../../../watch/watcher.js";
import { REPORT_SCRIPT } from "../client.js";
import { curves } from "../curves.js";
import { readCourse } from "../data.js";
import { cspHash, type Html, plain } from "../html.js";
import { type Look, lookOf } from "../look.js";
import { type StepInterval, stepInterval, worstOf } from "../rollout-sample.js";
import { COLOURS, rolloutCards } from "../rollouts.js";
import { REPORT_STYLE } from "../style.js";
import { LIVE_SCRIPT, type LiveState } from "./client.js";

/** Most rollouts of the newest step on the page. */
const MOST_ROLLOUTS = 16;

export const openLivePage: OpenLivePage = (port, config) => LivePage.open(port, config);

/**
 * Serves a run's curves and latest rollouts as a read-only page on the loopback interface. Requests under another host
 * name (DNS rebinding) or from another page are refused. Content is made on request, so that an unused page costs
 * nothing.
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
    private readonly look: Look,
  ) {
    this.app = this.routes();
  }

  private served: Served | undefined;

  /** `http://127.0.0.1:43210/` */
  get address(): string {
    return `${this.served?.baseUrl ?? ""}/`;
  }

  /** @throws UserError if the port is taken or not allowed. */
  static async open(
    port: number,
    config: Pick<RunConfig, "name" | "model" | "sampler" | "environment">,
  ): Promise<LivePage> {
    const page = new LivePage(config.name, await lookOf(config));
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

  /** Loads the course of a resumed run up to its checkpoint: curves, validations, the newest rollouts. */
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

  rollouts(records: readonly RolloutRecord[]): void {
    const step = records[0]?.step;
    if (step === undefined) return;
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

  /** Returns the page's state; charts and rollouts only if `seen` is older. */
  state(seen: number): LiveState {
    const last = this.metrics.at(-1);
    const { name = this.name, command = "", steps = 0, done = 0 } = this.run ?? {};
    const step = last?.step ?? done;
    const own = this.metrics.flatMap((m) => (m.step > done ? [m.time.total] : []));
    const figure = (value: number | null | undefined, format: (value: number) => string): string =>
      value === null || value === undefined ? "–" : format(value);
    return {
      version: this.version,
      title: `${step}/${steps} ${name}`,
      progress: steps === 0 ? 0 : step / steps,
      texts: {
        name,
        phase: `${command} · ${this.current === undefined ? "starting" : phaseText(this.current)}`,
        at: `${step} of ${steps}`,
        reward: figure(last?.reward, (value) => value.toFixed(3)),
        success: figure(last?.success_rate, percent),
        kl: figure(last?.kl, (value) => value.toPrecision(2)),
        loss: figure(last?.loss, (value) => value.toPrecision(3)),
        eta: figure(own.length === 0 ? null : timeLeft(own, steps - step), formatDuration),
      },
      notes: this.notes,
      ...(seen === this.version ? {} : this.parts()),
    };
  }

  private parts(): { charts: string; rollouts: string } {
    if (this.made?.version !== this.version) {
      const { metrics, validations, intervals } = this;
      const charts = String(plain(curves({ metrics, validations, rollouts: { intervals } })));
      this.made = { version: this.version, charts, rollouts: String(plain(this.cards())) };
    }
    const { charts, rollouts } = this.made;
    return { charts, rollouts };
  }

  private cards(): Html {
    if (this.latest === undefined) return html`<p>No rollout yet.</p>`;
    const { step, records } = this.latest;
    const shown = worstOf(records, MOST_ROLLOUTS);
    return html`<p class="dim">Step ${step}: the ${shown.length} worst of ${records.length}.</p>${[...rolloutCards(shown, this.look)]}`;
  }

  private routes(): Hono {
    const app = new Hono();
    app.use(ownHostOnly((host) => this.hosts.has(host)));
    app.use(secureHeaders({ xFrameOptions: "DENY" }), async (c, next) => {
      if (c.req.method !== "GET" && c.req.method !== "HEAD")
        return c.text("This page can only be read.\n", 405, { allow: "GET, HEAD" });
      c.header("cache-control", "no-store");
      return next();
    });
    app.get("/", (c) => c.html(String(livePage(this.name)), 200, { "content-security-policy": LIVE_POLICY }));
    app.get("/state.json", (c) => c.json(this.state(Number(c.req.query("seen") ?? 0))));
    app.get("/favicon.ico", (c) => c.body(null, 204));
    app.notFound((c) => c.text("Not found.\n", 404));
    app.onError((error, c) => c.text(`${messageOf(error)}\n`, 500));
    return app;
  }
}

const LIVE_STYLE = `
progress{width:100%;height:10px;accent-color:var(--s0)}#gone{font-weight:600}#fresh{margin:8px 0}
`.trim();

/** Content security policy: the page's own style and scripts, and requests to its own server. */
const LIVE_POLICY = [
  "default-src 'none'",
  `style-src ${cspHash(REPORT_STYLE)} ${cspHash(LIVE_STYLE)}`,
  `script-src ${cspHash(REPORT_SCRIPT)} ${cspHash(LIVE_SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const TILES = { at: "step", reward: "reward", success: "success", kl: "KL", loss: "loss", eta: "time left" };

/** Makes the page; its script fetches the content. */
function livePage(name: string): Html {
  const tiles = Object.entries(TILES).map(([id, label]) => html`<div><dt>${label}</dt><dd id="${id}">–</dd></div>`);
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${name}</title><style>${raw(REPORT_STYLE)}</style><style>${raw(LIVE_STYLE)}</style></head><body>
<header><h1 id="name">${name}</h1><p id="phase">Connecting…</p></header>
<progress id="progress" max="1" value="0" aria-label="Steps done"></progress>
<p id="gone" class="bad" role="status" hidden>The run has ended, or its process is gone. Its report.html has everything.</p>
<dl class="tiles">${tiles}</dl>
<section><h2>Training</h2><div id="charts"><p>No step is recorded yet.</p></div></section>
<section id="rollouts"><h2>Latest rollouts, worst first</h2><div class="filters" hidden>${COLOURS}</div>
<button id="fresh" type="button" hidden>Show the newest step's</button><div id="latest"></div></section>
<section><h2>Notes</h2><ul id="notes"></ul></section>
<noscript><p class="bad">This page needs its script to follow the run.</p></noscript>
<script>${raw(REPORT_SCRIPT)}</script><script>${raw(LIVE_SCRIPT)}</script></body></html>`;
}
