import { statfs } from "node:fs/promises";
import { freemem, homedir } from "node:os";
import { join } from "node:path";
import type { RunConfig } from "../../config/config.js";
import { fail, messageOf, UserError } from "../../core/errors.js";
import { packageRoot, readJson } from "../../core/files.js";
import { within } from "../../core/within.js";
import type { Decoding, Policy } from "../../engine/policy.js";
import type { Environment, Split } from "../../env/environment.js";
import type { Model } from "../../nn/model.js";

/**
 * Checks what a run needs of its machine by using it: the runtime computes, the site answers, the browser opens
 * a page of it. Modules are imported where they are checked: their absence is one of the things that are looked for.
 */

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  /** Advice for a miss. */
  readonly fix?: string;
}

const MIN_DISK_GIB = 2;
const MIN_MEMORY_GIB = 1;
const GIB = 2 ** 30;
/** A site or a browser that says nothing for so long will not do. */
const PATIENCE_MS = 180_000;

/** All checks for a config, in the order in which a run would meet them. */
export async function checkMachine(config: RunConfig): Promise<Check[]> {
  const checks = [checkNode(), await checkRuntime(config), await checkModel(config)];
  let environment: Environment | undefined;
  const tasks = await check("tasks", async () => {
    const { openEnvironment } = await import("../../env/open.js");
    environment = await limited(openEnvironment(config, () => undefined));
    const splits = [...new Set(environment.tasks.map((task) => task.split))];
    if (splits.length === 0) fail(`${environment.name} has no tasks.`);
    const missing = splitsOf(config).filter((split) => !splits.some((s) => s === split));
    if (missing.length > 0)
      fail(`${environment.name}: no task is of the split ${missing.join(" or ")}, which this config uses`, {
        hint: `give tasks that split, or leave it out: 'evaluation.splits=[${splits.filter((split) => split !== "train").join(",")}]'`,
      });
    return `${environment.name}: ${environment.tasks.length} tasks (${splits.join(", ")})`;
  });
  try {
    checks.push(tasks, await checkEnvironment(config, environment));
    checks.push(...(await checkLengths(config, environment)));
  } finally {
    await environment?.close().catch(() => undefined);
  }
  return [...checks, await checkDisk(), checkMemory()];
}

/** Runs a check; an error is a miss, its hint the fix. */
export async function check(name: string, work: () => Promise<string>, fix?: string): Promise<Check> {
  try {
    return { name, ok: true, found: await work() };
  } catch (error) {
    const advice = (error instanceof UserError ? error.hint : undefined) ?? fix;
    return { name, ok: false, found: messageOf(error), ...(advice === undefined ? {} : { fix: advice }) };
  }
}

/** The home directory as `~`, so that a report can be shown to others. */
export function withoutHome(text: string, home: string = homedir()): string {
  if (home.length < 2) return text;
  const quoted = home.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.replace(new RegExp(`${quoted}(?![\\w.-])`, "g"), "~");
}

function checkNode(): Check {
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

function checkRuntime(config: RunConfig): Promise<Check> {
  return check(
    "runtime",
    async () => {
      const [{ Runtime }, { packedGradientCheck }, { gradientCheck }] = await Promise.all([
        import("../../onnx/session.js"),
        import("../../onnx/nf4-check.js"),
        import("../../engine/gradient-check.js"),
      ]);
      const { provider, binding } = config.runtime;
      const opened = await Runtime.open({ provider, binding, checks: [gradientCheck(), packedGradientCheck()] });
      const found = `onnxruntime-node on ${opened.provider} (${opened.providerReason})`;
      await opened.close();
      return found;
    },
    "npm ci (it brings onnxruntime-node's binary for this platform), or another runtime.provider",
  );
}

function checkModel(config: RunConfig): Promise<Check> {
  return check(
    "model",
    async () => {
      const [{ resolvePath }, { loadModel }, { Runtime }, { checkGraph }] = await Promise.all([
        import("../../config/config.js"),
        import("../../nn/model.js"),
        import("../../onnx/session.js"),
        import("../../engine/graph-check.js"),
      ]);
      const model = await loadModel(resolvePath(config.model, "model"));
      const { dir, config: about, graph } = model;
      const runtime = await Runtime.open({ provider: "cpu" });
      await checkGraph(runtime, model).finally(() => runtime.close());
      return `${dir}: ${about.architecture}, ${graph.nodes.length} operators, ${about.reads_tokens === false ? "no" : about.vocab_size} tokens`;
    },
    "install the package again: the tiny models are part of it",
  );
}

/** Tells whether what plays the episodes is there: it opens the first task. */
function checkEnvironment(config: RunConfig, environment: Environment | undefined): Promise<Check> {
  return check(
    "environment",
    async () => {
      const { environmentKinds } = await import("../../env/open.js");
      const { kind } = config.environment;
      const entry = (await environmentKinds(kind)).get(kind);
      if (environment === undefined) return `${kind}; not started, as its tasks did not open`;
      await checkFit(config, environment);
      return (await limited(entry?.check?.(config, environment) ?? Promise.resolve(undefined))) ?? kind;
    },
    "npx playwright install --with-deps chromium, or install chromium with the system's packages, or set REFUSION_BROWSER to one",
  );
}

/** The splits that a run of the config needs. */
function splitsOf({ evaluation: { splits, every } }: RunConfig): readonly Split[] {
  return [...new Set<Split>(["train", ...splits, ...(every > 0 ? (["val"] as const) : [])])];
}

/** The config's sampler on its model; undefined where there is no such model, which is a miss of its own. */
async function decodingOf(
  config: RunConfig,
): Promise<(Pick<Decoding, "sampler" | "options"> & { readonly model: Model }) | undefined> {
  const [{ resolvePath }, { loadModel }, { sampledModel }, { samplerOf }] = await Promise.all([
    import("../../config/config.js"),
    import("../../nn/model.js"),
    import("../../engine/policy.js"),
    import("../../diffusion/kinds.js"),
  ]);
  const load = async (): ReturnType<typeof loadModel> => loadModel(resolvePath(config.model, "model"));
  const model = await load().catch(() => undefined);
  if (model === undefined) return undefined;
  const sampler = await samplerOf(config.sampler.kind);
  return { model, sampler, options: sampler.options(config.sampler, sampledModel(model.config)) };
}

/** @throws UserError where the config's model cannot act in its environment. */
async function checkFit(config: RunConfig, environment: Environment): Promise<void> {
  const decoding = await decodingOf(config);
  const { checkSpaces } = await import("../../engine/policy.js");
  if (decoding !== undefined) checkSpaces(environment, decoding);
}

/** Checks that prompts and the oracle's answers fit the sampler, as far as they are known without playing. */
async function checkLengths(config: RunConfig, environment: Environment | undefined): Promise<Check[]> {
  const decoding = await decodingOf(config);
  if (environment?.firstObservation === undefined || decoding?.sampler.policy.length === undefined) return [];
  const [{ taskLength }, { sampledModel }] = await Promise.all([
    import("../../train/supervised/skip-long.js"),
    import("../../engine/policy.js"),
  ]);
  const { sampler, model, options } = decoding;
  const about = sampledModel(model.config);
  const startOf: Policy["startOf"] = ({ template, ...seen }) =>
    sampler.policy.begin(
      config.plan === "free" ? seen : { ...seen, ...(template && { template }) },
      model.tokenizer,
      about,
    );
  const used = splitsOf(config).map((split) => ({
    split,
    lengths: environment.tasks
      .filter((task) => task.split === split)
      .map((task) => taskLength(task, environment, { sampler, options, model, startOf })),
  }));
  const longest = (of: "prompt" | "response"): number =>
    used.flatMap(({ lengths }) => lengths).reduce((most, length) => Math.max(most, length[of]), 0);
  const [prompt, response] = [longest("prompt"), longest("response")];
  const long = used.flatMap(({ split, lengths }) => {
    const { length } = lengths.filter((task) => task.prompt > options.promptLength);
    // a run leaves out what is too long, and needs what is left
    return length === 0 || (config.training.skip_long && length < lengths.length)
      ? []
      : [`, and ${length} of ${lengths.length} prompts of ${split} are too long`];
  });
  const answers =
    response === 0 ? "" : `; answers: up to ${response} of sampler.response_length=${options.responseLength}`;
  return [
    {
      name: "prompts",
      ok: long.length === 0,
      found: `up to ${prompt} tokens of ${config.model}, sampler.prompt_length=${options.promptLength}${long.join("")}${answers}`,
      fix: `sampler.prompt_length=${prompt}, a shorter prompt.style, or training.skip_long=true; docs/reward-stays-0.md says which lengths a model is used to`,
    },
  ];
}

async function checkDisk(): Promise<Check> {
  const { bavail, bsize } = await statfs(".");
  const free = (bavail * bsize) / GIB;
  return {
    name: "disk",
    ok: free >= MIN_DISK_GIB,
    found: `${free.toFixed(1)} GiB free here (a run needs ${MIN_DISK_GIB})`,
    fix: "free some space, or work in another directory",
  };
}

function checkMemory(): Check {
  // what the kernel would give, where it says so; freemem() counts the file cache as used on older Nodes
  const free = (process.availableMemory?.() ?? freemem()) / GIB;
  return {
    name: "memory",
    ok: free >= MIN_MEMORY_GIB,
    found: `${free.toFixed(1)} GiB available (the tiny model needs ${MIN_MEMORY_GIB})`,
    fix: "close other programs, or lower training.micro_batch and evaluation.batch",
  };
}

async function limited<T>(promise: Promise<T>): Promise<T> {
  if (!(await within(promise, PATIENCE_MS))) throw new Error(`no answer within ${PATIENCE_MS / 1000} s`);
  return promise;
}
