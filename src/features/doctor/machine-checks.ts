import { statfs } from "node:fs/promises";
import { freemem, homedir } from "node:os";
import { join } from "node:path";
import type { RunConfig } from "../../config/config.js";
import { fail, messageOf, UserError } from "../../core/errors.js";
import { packageRoot, readJson } from "../../core/files.js";
import { within } from "../../core/within.js";
import type { Policy } from "../../engine/policy.js";
import type { Environment, Split } from "../../env/environment.js";

/**
 * Checks the machine by using what a run needs: the runtime computes, the site answers, the browser opens one of its
 * pages. Modules are imported inside the checks, because they may be missing.
 */

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  /** Advice for a failed check. */
  readonly fix?: string;
}

const GIB = 2 ** 30;
/** Time limit of a site or a browser in milliseconds. */
const PATIENCE_MS = 180_000;

/**
 * Runs all checks for a config, in the order in which a run needs the parts.
 * @param objective of the run that opens the model: what it refuses is a miss.
 */
export async function checkMachine(config: RunConfig, objective: string): Promise<Check[]> {
  let policy: Policy | undefined;
  const openModel = async (): Promise<string> => {
    policy = await openAsRun(config, objective);
    const { dir, config: about, graph } = policy.model;
    return `${dir}: ${about.architecture}, ${graph.nodes.length} operators, ${about.reads_tokens === false ? "no" : about.vocab_size} tokens`;
  };
  const checks = [
    checkNode(),
    await check(
      "runtime",
      () => useRuntime(config),
      "npm ci (it brings onnxruntime-node's binary for this platform), or another runtime.provider",
    ),
    await check("model", openModel, "install the package again: the tiny models are part of it"),
  ];
  let environment: Environment | undefined;
  const open = async (): Promise<string> => {
    const { openEnvironment } = await import("../../env/open.js");
    environment = await limited(openEnvironment(config, () => undefined));
    return splitsIn(environment, config);
  };
  try {
    checks.push(await check("tasks", open));
    checks.push(
      await check(
        "environment",
        () => useEnvironment(config, environment, policy),
        "npx playwright install --with-deps chromium, or install chromium with the system's packages, or set REFUSION_BROWSER to one",
      ),
      ...(await checkLengths(config, environment, policy)),
      ...checkWords(config, environment, policy),
      ...(await checkStart(config, objective, policy)),
    );
  } finally {
    await policy?.close();
    await environment?.close().catch(() => undefined);
  }
  return [...checks, await checkDisk(), checkMemory()];
}

/** Runs a check; an error is a failed check, with its hint as the fix. */
export async function check(name: string, work: () => Promise<string>, fix?: string): Promise<Check> {
  try {
    return { name, ok: true, found: await work() };
  } catch (error) {
    const advice = (error instanceof UserError ? error.hint : undefined) ?? fix;
    return { name, ok: false, found: messageOf(error), ...(advice === undefined ? {} : { fix: advice }) };
  }
}

/** Replaces the home directory by `~`, so that a report can be shared. */
export function withoutHome(text: string, home: string = homedir()): string {
  if (home.length < 2) return text;
  const quoted = home.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.replace(new RegExp(`${quoted}(?![\\w.-])`, "g"), "~");
}

function checkNode(): Check {
  const { node } = process.versions;
  const wanted = (readJson(join(packageRoot(), "package.json")) as { engines: { node: string } }).engines.node;
  return {
    name: "node",
    ok: node.localeCompare(wanted.replace(/^\D+/, ""), "en", { numeric: true }) >= 0,
    found: `${node} (needs ${wanted})`,
    fix: "install Node 20.19 or later from https://nodejs.org",
  };
}

async function useRuntime({ runtime: { provider, binding } }: RunConfig): Promise<string> {
  const { Runtime } = await import("../../onnx/session.js");
  const { gradientChecks } = await import("../../onnx/provider.js");
  const opened = await Runtime.open({ provider, binding, checks: await gradientChecks() });
  const found = `onnxruntime-node on ${opened.provider} (${opened.providerReason})`;
  await opened.close();
  return found;
}

/** Opens model, runtime and sampler as a run of the objective does. @throws UserError where the run would refuse them. */
async function openAsRun(config: RunConfig, kind: string): Promise<Policy> {
  const { openPolicy } = await import("../../engine/policy.js");
  const { objectiveOf } = await import("../../rl/objective-kinds.js");
  const { optimizerOptions } = await import("../../config/optimizer.js");
  const { orClose } = await import("../../core/closing.js");
  const objective = await objectiveOf(kind);
  const full = "trainable" in config.objective && config.objective.trainable === "full";
  const training = { objective, options: config.objective, optimizer: optimizerOptions(config) };
  return orClose(await openPolicy(config, training, full), ({ engine }) => engine.checkTrainable());
}

/** Names the splits of an environment. @throws UserError if the config uses another one. */
function splitsIn({ name, tasks }: Environment, config: RunConfig): string {
  const splits = [...new Set(tasks.map((task) => task.split))];
  if (splits.length === 0) fail(`${name} has no tasks.`);
  const missing = splitsOf(config).filter((split) => !splits.includes(split));
  if (missing.length > 0)
    fail(`${name}: no task is of the split ${missing.join(" or ")}, which this config uses`, {
      hint: `give tasks that split, or leave it out: 'evaluation.splits=[${splits.filter((split) => split !== "train").join(",")}]'`,
    });
  return `${name}: ${tasks.length} tasks (${splits.join(", ")})`;
}

/** Checks that episodes can be played, by opening the first task. */
async function useEnvironment(
  config: RunConfig,
  environment: Environment | undefined,
  policy: Policy | undefined,
): Promise<string> {
  const { kind } = config.environment;
  const { environmentKinds } = await import("../../env/open.js");
  const { checkSpaces } = await import("../../engine/policy.js");
  if (environment === undefined) return `${kind}; not started, as its tasks did not open`;
  if (policy !== undefined) checkSpaces(environment, policy);
  const entry = (await environmentKinds(kind)).get(kind);
  return (await limited(entry?.check?.(config, environment) ?? Promise.resolve(undefined))) ?? kind;
}

/** Lists the splits that a run of the config needs. */
function splitsOf({ evaluation: { splits, every } }: RunConfig): readonly Split[] {
  return [...new Set<Split>(["train", ...splits, ...(every > 0 ? (["val"] as const) : [])])];
}

/** Checks that prompts and the oracle's answers fit the sampler, if they are known without playing. */
async function checkLengths(
  config: RunConfig,
  environment: Environment | undefined,
  policy: Policy | undefined,
): Promise<Check[]> {
  if (environment?.firstObservation === undefined || policy?.sampler.policy.length === undefined) return [];
  const { taskLength } = await import("../../train/supervised/skip-long.js");
  const { options } = policy;
  const lengthsOf = (split: Split) =>
    environment.tasks.filter((task) => task.split === split).map((task) => taskLength(task, environment, policy));
  let used: { readonly split: Split; readonly lengths: ReturnType<typeof lengthsOf> }[] = [];
  const read = await check("prompts", async () => {
    used = splitsOf(config).map((split) => ({ split, lengths: lengthsOf(split) }));
    return "";
  });
  if (!read.ok) return [read];
  const longest = (of: "prompt" | "response"): number =>
    used.flatMap(({ lengths }) => lengths).reduce((most, length) => Math.max(most, length[of]), 0);
  const [prompt, response] = [longest("prompt"), longest("response")];
  const long = used.flatMap(({ split, lengths }) => {
    const { length } = lengths.filter((task) => task.prompt > options.promptLength);
    // a run with skip_long leaves out long tasks, and needs at least one other
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
      fix: `sampler.prompt_length=${prompt}, a shorter prompt.style, or training.skip_long=true; docs/runs.md says which lengths a model is used to`,
    },
  ];
}

/** Checks the adapter that a run begins with, and that a model without one can earn something. */
async function checkStart(config: RunConfig, objective: string, policy: Policy | undefined): Promise<Check[]> {
  if (policy === undefined) return [];
  const { init_adapter: adapter, sampler } = config;
  if (adapter !== null) {
    const { initialAdapter } = await import("../../engine/adapter.js");
    return [await check("adapter", async () => `${adapter}: ${initialAdapter(config, policy).size} matrices`)];
  }
  const { isPlainCausal } = await import("../../nn/model.js");
  const fill = "slot_fill" in sampler ? sampler.slot_fill : "next-token";
  if (objective === "sft" || fill === "next-token" || !isPlainCausal(policy.model)) return [];
  return [
    {
      name: "start",
      ok: false,
      found: `${config.model} is a plain causal language model, and sampler.slot_fill=${fill} reads masks, which it has not seen: rewards stay 0`,
      fix: "sampler.order=blanks sampler.slot_fill=next-token, or train with sft first and set init_adapter",
    },
  ];
}

/** Checks that the tokenizer has tokens for every word of the tasks' first observations, if they are known. */
function checkWords(config: RunConfig, environment: Environment | undefined, policy: Policy | undefined): Check[] {
  const tokenizer = policy?.model.tokenizer;
  if (environment?.firstObservation === undefined || tokenizer === undefined) return [];
  const used = splitsOf(config);
  const seen = environment.tasks.flatMap((task) =>
    used.includes(task.split) ? (environment.firstObservation?.(task).text ?? []) : [],
  );
  const unknown = tokenizer.unknownWords(seen.join("\n"));
  return [
    {
      name: "words",
      ok: unknown.length === 0,
      found:
        unknown.length === 0
          ? "each word of the prompts has tokens"
          : `${unknown.length} words of the prompts have no tokens, so no answer can have them: ${unknown.slice(0, 3).join(", ")}`,
      fix: "use a model whose tokenizer has a token for every byte, or tasks in words that it knows",
    },
  ];
}

/** @param free in bytes. @param least GiB that `user` needs. */
function enough(name: string, free: number, where: string, user: string, least: number, fix: string): Check {
  const found = `${(free / GIB).toFixed(1)} GiB ${where} (${user} needs ${least})`;
  return { name, ok: free >= least * GIB, found, fix };
}

async function checkDisk(): Promise<Check> {
  const { bavail, bsize } = await statfs(".");
  return enough("disk", bavail * bsize, "free here", "a run", 2, "free some space, or work in another directory");
}

function checkMemory(): Check {
  // the kernel's estimate if there is one; freemem() counts the file cache as used on older Nodes
  const free = process.availableMemory?.() ?? freemem();
  const fix = "close other programs, or lower training.micro_batch and evaluation.batch";
  return enough("memory", free, "available", "the tiny model", 1, fix);
}

async function limited<T>(promise: Promise<T>): Promise<T> {
  if (!(await within(promise, PATIENCE_MS))) throw new Error(`no answer within ${PATIENCE_MS / 1000} s`);
  return promise;
}
