/**
 * The PyTorch peers of the LoRA step and of the RL step. As installed, PyTorch's MKL takes a generic path on
 * processors of other vendors than Intel; `overridden` and the peers after it run without that check.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fail, log, ROOT } from "../lib/setup.mjs";

const PEERS = {
  eager: { override: false, flags: [] },
  overridden: { override: true, flags: [] },
  compile: { override: true, flags: ["--compile"] },
  bf16: { override: true, flags: ["--bf16"] },
  "bf16-compile": { override: true, flags: ["--bf16", "--compile"] },
};

/**
 * Returns the peers of a list of names, or of `all`: their flags, and the environment of their process. Without a C
 * compiler the peers that need one are left out of `all`.
 */
export function peersOf(names) {
  const chosen = names === "all" ? Object.keys(PEERS) : names.split(",");
  const unknown = chosen.find((name) => !(name in PEERS));
  if (unknown !== undefined) fail(`There is no peer ${unknown}: expected all, or ${Object.keys(PEERS).join(", ")}.`);
  const library = chosen.some((name) => PEERS[name].override) ? buildOverride() : undefined;
  if (library === undefined && names !== "all" && chosen.some((name) => PEERS[name].override))
    fail("Overriding MKL's check needs a C compiler: install cc, or give --peer eager.");
  return chosen
    .filter((name) => library !== undefined || !PEERS[name].override)
    .map((name) => {
      const { override, flags } = PEERS[name];
      return { name, flags, env: override ? { ...process.env, LD_PRELOAD: library } : process.env };
    });
}

/** Builds the library that answers MKL's question for an Intel processor. @returns undefined without a compiler. */
function buildOverride() {
  const dir = mkdtempSync(join(tmpdir(), "bench-mkl-"));
  const library = join(dir, "override.so");
  writeFileSync(join(dir, "override.c"), "int mkl_serv_intel_cpu_true(void) { return 1; }\n");
  try {
    execFileSync("cc", ["-shared", "-fPIC", "-o", library, join(dir, "override.c")], { stdio: "inherit" });
    return library;
  } catch (error) {
    log(`cc does not work, so MKL's check stays in place: ${error.message}`);
    return undefined;
  }
}

/** Names this machine's core with what decides the speed of its matrix products. */
export function coreName() {
  const info = process.platform === "linux" ? readFileSync("/proc/cpuinfo", "utf8") : "";
  const of = (key) => new RegExp(`^${key}\\s*: (.*)$`, "m").exec(info)?.[1];
  const units = ["avx512f", "avx512_bf16", "amx_bf16"].filter((unit) => of("flags")?.split(" ").includes(unit));
  const about = [of("cpu family") && `family ${of("cpu family")}, model ${of("model")}`, ...units].filter(Boolean);
  return `${cpus()[0]?.model.trim()}${about.length > 0 ? ` (${about.join(", ")})` : ""}`;
}

/** Writes the ratios of a result as a Markdown table, a row a peer. */
export function formatPeers(result, runs) {
  const steps = Object.entries({ lora_step: "LoRA step", rl_step: "tiny RL step", rl_step_135m: "RL step, 135 M" });
  const shown = steps.filter(([key]) => result[key] !== undefined);
  const names = [...new Set(shown.flatMap(([key]) => Object.keys(result[key].peers)))];
  const cell = (peer) => (peer === undefined ? "" : `${peer.ratio.toFixed(2)} (${peer.cpu_ms.toFixed(0)} ms)`);
  const total = (key) => `${result[key].total_cpu_ms.toFixed(0)} ms`;
  const rows = [
    ["ours", ...shown.map(([key]) => total(key))],
    ...names.map((name) => [name, ...shown.map(([key]) => cell(result[key].peers[name]))]),
  ];
  return formatTable({ columns: ["ours / PyTorch, CPU time", ...shown.map(([, title]) => title)], rows }, runs);
}

/** Writes a table in Markdown, with how it was measured. */
export function formatTable({ columns, rows }, runs) {
  const lines = [columns, columns.map(() => "---"), ...rows].map((line) => `| ${line.join(" | ")} |`);
  return `${lines.join("\n")}\n\nMedians of ${runs} alternating runs on one thread; ${coreName()}.\n`;
}

/** Keeps a table for `npm run results`, under the title and the note of the one before. */
export function saveTable(part, { columns, rows }, runs) {
  const path = join(ROOT, "docs", "data", `speed-${part}.json`);
  const { title, command, note } = JSON.parse(readFileSync(path, "utf8"));
  const measured = `${coreName()}, medians of ${runs} alternating runs beside other work`;
  writeFileSync(path, `${JSON.stringify({ title, command, measured, note, columns, rows }, undefined, 2)}\n`);
}
