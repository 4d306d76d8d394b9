import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepMetrics } from "../../src/runs/metrics.js";
import { Progress, type ProgressStream } from "../../src/watch/progress.js";
import { formatDuration, formatStep } from "../../src/watch/progress-text.js";
import { stepMetrics } from "../support/step-metrics.js";

const metrics: StepMetrics = stepMetrics(3, {
  ...{ reward: 0.4123, reward_std: 0.11, success_rate: 0.125, faults: 2, loss: -0.0123, kl: 0.00123, grad_norm: 0.77 },
  time: { rollout: 1, score: 1, update: 2, total: 4.06 },
});
const run = { name: "quickstart", command: "flow-grpo", dir: "runs/quickstart", steps: 20, done: 0 };

/** A terminal of this size that understands what progress writes: text, line feeds, cursor up, clear below. */
function terminal(columns = 80, rows = 24): ProgressStream & { text: string; screen(): string[] } {
  return {
    isTTY: true,
    columns,
    rows,
    text: "",
    write(text: string) {
      this.text += text;
    },
    screen() {
      const lines = [""];
      let [row, column] = [0, 0];
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are what is interpreted
      for (const [token] of this.text.matchAll(/\u001b\[\d*[A-Za-z]|[\s\S]/g)) {
        if (token === "\n") [row, column] = [row + 1, 0];
        else if (token === "\r") column = 0;
        else if (token.endsWith("A") && token.length > 1) row -= Number(token.slice(2, -1) || 1);
        else if (token === "\u001b[J") {
          lines.length = row + 1;
          lines[row] = (lines[row] ?? "").slice(0, column);
        } else if (!token.startsWith("\u001b")) {
          const line = (lines[row] ?? "").padEnd(column);
          lines[row] = line.slice(0, column) + token + line.slice(column + 1);
          column++;
        }
        lines[row] ??= "";
        assert.ok(row >= 0, "the cursor stays on the screen");
      }
      return lines;
    },
  };
}

const pipe = () => ({ ...terminal(), isTTY: false });

/** Shows a run that begins, without colour. */
function begun(stream: ProgressStream, more: object = {}): Progress {
  const progress = new Progress({ stream, env: { NO_COLOR: "1" }, ...more });
  progress.begin(run);
  return progress;
}

test("off a terminal: one plain line a step, no phases", () => {
  const out = pipe();
  const progress = begun(out);
  progress.phase({ doing: "episodes", done: 1, all: 16 });
  progress.step(metrics);
  progress.note("done");
  progress.end();
  const values = "reward 0.412 ±0.11  success 13 %  loss -0.0123  kl 0.0012  grad 0.77  faults 2  4.1 s";
  assert.equal(out.text, `step  3/20  ${values}  eta 1:09\ndone\n`);
});

test("on a terminal: one view that is redrawn in place, and what was going on is not left standing", () => {
  const out = terminal();
  const progress = begun(out);
  progress.phase({ doing: "evaluating val", done: 3, all: 160 });
  assert.deepEqual(out.screen(), ["quickstart  step 0/20  ░░░░░░░░░░░░░░░░", "now      evaluating val 3/160"]);
  progress.note("before: val reward 0.856");
  for (const [step, reward] of [0.4, 0.55, 0.48, 0.8].entries()) {
    progress.phase({ doing: "episodes", done: 12, all: 64, now: "garden/plant-order 0.75" });
    progress.step({ ...metrics, step: step + 1, reward });
  }
  assert.deepEqual(out.screen(), [
    "before: val reward 0.856",
    "quickstart  step 4/20  ███░░░░░░░░░░░░░  eta 1:05",
    "reward   0.800 ±0.11    ▁▄▂█",
    "success  13 %           ▅▅▅▅",
    "kl       0.0012         ▅▅▅▅",
    "time     4.1 s          rollout 1.0 s  score 1.0 s  update 2.0 s  faults 2",
    "now      episodes 12/64  garden/plant-order 0.75",
  ]);
  progress.end();
  progress.end();
  assert.equal(out.screen().at(-1), "");
  assert.match(out.screen().at(-2) ?? "", /^time/);
});

test("the view fits the terminal, also after it was made narrower, and steers nothing", () => {
  const out = terminal(30, 4);
  const progress = new Progress({ stream: out, env: { NO_COLOR: "1" } });
  progress.begin({ ...run, name: "a name that is longer than a line" });
  progress.step(metrics);
  progress.phase({ doing: "episodes", now: "evil\u001b[2J\r\nform\u202e" });
  const lines = out.screen();
  assert.equal(lines.length, 3);
  assert.ok(lines.every((line) => line.length < 30));
  assert.equal(lines[0], "a name that is longer than a…");
  assert.equal(lines[2], "now      episodes  evil·[2J …");
  const narrow = Object.assign(out, { columns: 15 });
  const before = narrow.text.length;
  progress.phase({ doing: "updating" });
  // 29, 27 and 29 columns wrap to two lines of 15 each
  assert.ok(narrow.text.slice(before).startsWith("\r\u001b[5A\u001b[J"));
});

test("a message printed on an interrupt stays: the view starts again below it", () => {
  const out = terminal();
  const interrupt = new AbortController();
  const progress = begun(out, { signal: interrupt.signal });
  progress.phase({ doing: "updating" });
  out.write("\ninterrupted: finishing this step\n");
  interrupt.abort();
  progress.phase({ doing: "saving" });
  assert.deepEqual(out.screen().slice(1), [
    "now      updating",
    "interrupted: finishing this step",
    "quickstart  step 0/20  ░░░░░░░░░░░░░░░░",
    "now      saving",
  ]);
});

test("colour on a terminal only, and not where it is not wanted", () => {
  const show = (isTTY: boolean, env: Record<string, string>): boolean => {
    const out = isTTY ? terminal() : pipe();
    begun(out, { env }).step(metrics);
    return out.text.includes("\u001b[1m");
  };
  assert.equal(show(true, {}), true);
  assert.equal(show(true, { NO_COLOR: "1" }), false);
  assert.equal(show(true, { TERM: "dumb" }), false);
  assert.equal(show(false, {}), false);
});

test("quiet writes nothing, with or without json", () => {
  for (const json of [false, true]) {
    const out = terminal();
    const progress = begun(out, { quiet: true, json });
    progress.phase({ doing: "x" });
    progress.step(metrics);
    progress.note("y");
    progress.end();
    assert.equal(out.text, "");
  }
});

test("json writes an object a line, on a terminal too", () => {
  const out = terminal();
  const progress = begun(out, { json: true });
  progress.phase({ doing: "x" });
  progress.step(metrics);
  progress.note("before: val");
  progress.end();
  const [step, note, ...rest] = out.text.split("\n");
  const { extra, ...plain } = metrics;
  assert.deepEqual(JSON.parse(step ?? ""), { event: "step", ...plain, ...extra });
  assert.deepEqual(JSON.parse(note ?? ""), { event: "note", text: "before: val" });
  assert.deepEqual(rest, [""]);
});

test("what a step does not have is left out", () => {
  const { step, loss, grad_norm, lr, tokens, time } = metrics;
  const sft = { step, loss, grad_norm, lr, tokens, time, faults: 0 };
  const rate = Math.round(metrics.tokens / metrics.time.total);
  assert.equal(formatStep(sft, 5), `step 3/5  loss -0.0123  grad 0.77  4.1 s  ${rate} tokens/s`);
  const out = terminal();
  begun(out).step(sft);
  const actual = out.screen().map((line) => line.split(" ")[0]);
  assert.deepEqual(actual, ["quickstart", "loss", "time"]);
});

test("durations", () => {
  const shown = [0.04, 59.94, 59.96, 60, 3599.6, 7384].map(formatDuration);
  assert.deepEqual(shown, ["0.0 s", "59.9 s", "1:00", "1:00", "1:00:00", "2:03:04"]);
});
