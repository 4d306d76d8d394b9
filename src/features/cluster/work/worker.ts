import { hostname } from "node:os";
import { z } from "zod";
import { configOf, type RunConfig, resolvePath } from "../../../config/config.js";
import { optimizerOptions } from "../../../config/optimizer.js";
import { messageOf, UserError } from "../../../core/errors.js";
import { guardCode } from "../../../core/own-module.js";
import { Semaphore } from "../../../core/semaphore.js";
import { openPolicy, type Policy } from "../../../engine/policy.js";
import { openEnvironment } from "../../../env/open.js";
import { modelHash } from "../../../nn/model.js";
import { objectiveOf } from "../../../rl/objective-kinds.js";
import { redisAddress } from "../queue/connection.js";
import { type JobRunner, NotYet, serve } from "../queue/member.js";
import { type Announcement, differences, JOB_KINDS, type JobKind, received, receivedBytes } from "../queue/protocol.js";
import { adapterLoader, computeGradients, gradientPayload } from "./gradient-job.js";
import { deciding } from "./options.js";
import { playEpisode } from "./remote-environment.js";
import { playRollouts, rolloutPayload, taskOf } from "./rollout-job.js";

export interface WorkerOptions {
  /** URL, or `env:NAME`. */
  readonly redis: string;
  readonly jobs: readonly JobKind[];
  /** Undefined: this machine's name and process. */
  readonly name?: string | undefined;
  /** Directory of the model on this machine, if it differs from the run's config. */
  readonly model?: string | undefined;
  readonly overrides: readonly string[];
  /** True if modules of this machine may be loaded when a run's config names them. */
  readonly allowModules?: boolean | undefined;
  /** True if the worker's output shows why something cannot be opened; this may quote files of this machine. */
  readonly debug?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

/** Runs a worker for the runs announced on a Redis, until it is stopped. */
export function work(options: WorkerOptions): Promise<void> {
  const { jobs, signal, say } = options;
  const agreed = new Map<string, Set<string>>();
  guardCode(async (path, hash) => {
    if (options.allowModules !== true)
      throw new Refused(`its config names code of this machine (${path}): start the worker with --allow-modules`);
    const differs = `the module ${path} here is not the coordinator's`;
    if (agreed.get(path)?.has(await hash().catch(() => "")) !== true) throw new Refused(differs);
  });
  return serve({
    address: redisAddress(options.redis),
    name: options.name ?? `${hostname()}-${process.pid}`,
    jobs: JOB_KINDS.filter((kind) => jobs.includes(kind)),
    signal,
    say,
    open: (announcement, blob) => {
      for (const [path, hash] of Object.entries(announcement.modules))
        agreed.set(path, (agreed.get(path) ?? new Set()).add(hash));
      return openRunner(options, announcement, blob);
    },
  });
}

/** An error whose message quotes nothing from this machine except values that the run itself sent. */
class Refused extends UserError {}

/**
 * Opens a part of a run. Its error may quote a file of this machine that the run's announcement names, and is therefore
 * not sent to the coordinator; --debug shows it in this worker's output.
 */
async function opened<T>(what: string, { say, debug }: WorkerOptions, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof Refused) throw error;
    if (debug === true) say(`${what}: ${messageOf(error)}`);
    throw new Refused(`${what} cannot be opened on this machine; with --debug the worker's own output says why`);
  }
}

type Facts = Readonly<Record<string, string>>;

/** The part of a config that is read before its full schema is known. */
const sentConfig = z.looseObject({ model: z.string(), objective: z.looseObject({ kind: z.string() }) });

/** @throws UserError if this worker would compute different results than the coordinator. */
async function openRunner(
  options: WorkerOptions,
  announcement: Announcement,
  blob: (address: string) => Promise<Buffer | undefined>,
): Promise<JobRunner> {
  const agree = (what: string, run: Facts, mine: Facts, hint: string): void => {
    const wrong = differences(what, run, mine);
    if (wrong !== undefined) throw new Refused(wrong, { hint });
  };
  agree("other versions", announcement.versions, deciding(), "install the coordinator's version on this machine");
  const { model: runsModel = "", split: runsSplit = "" } = announcement.hashes;
  const bytes = await blob(announcement.config);
  if (bytes === undefined) throw new NotYet("its config is not there yet");
  const values = receivedBytes("its config", bytes, (text) => sentConfig.parse(JSON.parse(text.toString("utf8"))));
  const config = await opened("its config", options, () =>
    configOf({ ...values, model: options.model ?? values.model }, announcement.name, {
      command: values.objective.kind,
      overrides: options.overrides,
    }),
  );
  const needsModel = announcement.jobs.some((kind) => kind !== "episodes" && options.jobs.includes(kind));
  const needsTasks = announcement.jobs.some((kind) => kind !== "gradients" && options.jobs.includes(kind));
  if (needsModel) {
    const model = await opened("its model", options, () => modelHash(resolvePath(config.model, "model")));
    agree("another model", { model: runsModel }, { model }, "give the run's model with --model DIR");
  }
  const environment = needsTasks
    ? await opened("its environment", options, () => openEnvironment(config, options.say))
    : undefined;
  let policy: Policy | undefined;
  try {
    if (environment !== undefined) {
      const split = environment.splitHash();
      agree("other tasks", { split: runsSplit }, { split }, "give this machine the run's site and tasks");
      await opened("its environment", options, () => environment.start());
    }
    if (needsModel) policy = await opened("its model", options, () => openTrainable(config));
  } catch (error) {
    await policy?.close();
    await environment?.close();
    throw error;
  }
  const tasks = new Map(environment?.tasks.map((task) => [task.id, task]));
  /** Jobs that use the model run one at a time, because each loads its own parameters. */
  const turns = new Semaphore(1);
  const load = policy && adapterLoader(policy.engine);
  const { browser } = config as RunConfig & { readonly browser?: { readonly contexts?: number } };
  return {
    concurrency: { episodes: environment?.capacity ?? browser?.contexts ?? 1 },
    work: {
      ...(environment && {
        episodes: (payload, _, ask) => playEpisode(payload, environment, (id) => taskOf(id, tasks), ask),
      }),
      ...(environment &&
        policy && {
          rollouts: (payload, blob) =>
            turns.run(async () => {
              const wanted = received("a job of rollouts", rolloutPayload, payload);
              await load?.(wanted.adapter, blob);
              return playRollouts(wanted, policy, environment, tasks);
            }),
        }),
      ...(policy && {
        gradients: (payload, blob) =>
          turns.run(async () => {
            const wanted = received("a job of gradients", gradientPayload, payload);
            await load?.(wanted.adapter, blob);
            return computeGradients(wanted.what, blob(wanted.batches), policy);
          }),
      }),
    },
    async close() {
      await policy?.close();
      await environment?.close();
    },
  };
}

/** Opens the policy of a run, prepared for gradients too. */
async function openTrainable(config: RunConfig): Promise<Policy> {
  const objective = await objectiveOf(config.objective.kind);
  const policy = await openPolicy(config, {
    objective,
    options: config.objective,
    optimizer: optimizerOptions(config),
  });
  await policy.engine.startGradients();
  return policy;
}
