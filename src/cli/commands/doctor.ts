import { existsSync, readdirSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { freemem } from "node:os";
import { join } from "node:path";
import { EXIT, messageOf } from "../../core/errors.js";
import { packageRoot, readJson } from "../../core/files.js";
import { loadConfig } from "../../train/config.js";
import { loadRegistries } from "../../train/config-schema.js";
import type { CliCommand } from "../shared.js";

/** One thing that a run needs. */
interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  /** What to do about a miss. */
  readonly fix?: string;
}

const MIN_DISK_GIB = 2;
const MIN_MEMORY_GIB = 1;
const GIB = 2 ** 30;

/** `refusion-train doctor`: checks what a run needs, and says how to get what is missing. Exit 1 on a miss. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("Check Node, the runtime, the browser, disk and memory; print a fix for what is missing.")
      .option("-c, --config <file>", "also estimate the memory of this run")
      .option("--objective <name>", "the objective that the run trains with", "flow-grpo")
      .option("--json", "print the checks as JSON")
      .action(async (flags: { readonly json?: boolean; readonly config?: string; readonly objective: string }) => {
        const checks = [node(), await runtime(), await browser(), models(), await disk(), memory()];
        if (flags.config !== undefined) checks.push(await runMemory(flags.config, flags.objective));
        if (flags.json === true) context.print(JSON.stringify(checks));
        else context.print(checks.map(formatCheck).join("\n"));
        const misses = checks.filter((check) => !check.ok).length;
        if (misses > 0) {
          context.log(`${misses} of ${checks.length} checks failed`);
          context.exitWith(EXIT.failed);
        }
      });
  },
};

function formatCheck({ name, ok, found, fix }: Check): string {
  return `${ok ? "ok  " : "MISS"}  ${name.padEnd(8)}  ${found}${ok || fix === undefined ? "" : `\n      fix: ${fix}`}`;
}

function node(): Check {
  const wanted = (readJson(join(packageRoot(), "package.json")) as { engines: { node: string } }).engines.node;
  const numbers = (text: string): number[] => text.replace(/^\D+/, "").split(".").map(Number);
  const [have, want] = [numbers(process.versions.node), numbers(wanted)];
  const first = want.findIndex((value, i) => value !== (have[i] ?? 0));
  const ok = first < 0 || (have[first] ?? 0) > (want[first] ?? 0);
  return {
    name: "node",
    ok,
    found: `${process.versions.node} (needs ${wanted})`,
    fix: "install Node 20.19 or later from https://nodejs.org",
  };
}

/** Playwright and the runtime are imported when they are checked: their absence is what is looked for. */
async function runtime(): Promise<Check> {
  try {
    const { Runtime } = await import("../../onnx/session.js");
    const opened = await Runtime.open({ provider: "auto" });
    const found = `onnxruntime-node on ${opened.provider} (${opened.providerReason})`;
    await opened.close();
    return { name: "runtime", ok: true, found };
  } catch (error) {
    return {
      name: "runtime",
      ok: false,
      found: messageOf(error),
      fix: "npm ci (it brings onnxruntime-node's binary for this platform)",
    };
  }
}

async function browser(): Promise<Check> {
  const fix =
    "npx playwright install --with-deps chromium, or install chromium with the system's packages, or set REFUSION_BROWSER to one";
  try {
    const { findBrowser } = await import("../../env/find-browser.js");
    const found = findBrowser();
    if (found === undefined) return { name: "browser", ok: false, found: "no Chromium found", fix };
    return {
      name: "browser",
      ok: true,
      found: found.path === undefined ? found.source : `${found.path} (${found.source})`,
    };
  } catch (error) {
    return { name: "browser", ok: false, found: messageOf(error), fix };
  }
}

function models(): Check {
  const dir = join(packageRoot(), "models");
  const names = existsSync(dir) ? readdirSync(dir).filter((name) => existsSync(join(dir, name, "config.json"))) : [];
  return {
    name: "models",
    ok: names.length > 0,
    found: names.length > 0 ? names.join(", ") : `no model in ${dir}`,
    fix: "install the package again: the tiny models are part of it",
  };
}

async function disk(): Promise<Check> {
  const { bavail, bsize } = await statfs(".");
  const free = (bavail * bsize) / GIB;
  return {
    name: "disk",
    ok: free >= MIN_DISK_GIB,
    found: `${free.toFixed(1)} GiB free here (a run needs ${MIN_DISK_GIB})`,
    fix: "free some space, or work in another directory",
  };
}

function memory(): Check {
  // what the kernel would give, where it says so; freemem() counts the file cache as used on older Nodes
  const free = (process.availableMemory?.() ?? freemem()) / GIB;
  return {
    name: "memory",
    ok: free >= MIN_MEMORY_GIB,
    found: `${free.toFixed(1)} GiB available (the tiny model needs ${MIN_MEMORY_GIB})`,
    fix: "close other programs, or lower training.micro_batch and evaluation.batch",
  };
}

/** Whether a run fits into the machine, by its own graphs. */
async function runMemory(path: string, command: string): Promise<Check> {
  const config = await loadConfig(path, { command, registries: await loadRegistries() });
  const { estimateRun, formatMemory, machineMemory, memoryAdvice } = await import("../../train/memory.js");
  const estimate = await estimateRun(config, command);
  return {
    name: "run",
    ok: estimate.total <= machineMemory(),
    found: `the memory of ${command} with ${path}:\n${formatMemory(estimate).replace(/^/gm, "      ")}`,
    fix: memoryAdvice(config, estimate),
  };
}
