import { realpathSync } from "node:fs";
import type { RunConfig } from "../../../config/config.js";
import { sha256 } from "../../../core/files.js";
import { loadedModules } from "../../../core/own-module.js";
import type { Policy } from "../../../engine/policy.js";
import type { PolicyKey } from "../../../engine/trained-parameters.js";
import type { Environment } from "../../../env/environment.js";
import { modelHash } from "../../../nn/model.js";
import type { Tensor } from "../../../onnx/types.js";
import type { StepWorkers } from "../../../runs/metrics.js";
import { type Executor, localExecutor } from "../../../train/executor.js";
import { collectHere } from "../../../train/rollouts/collect.js";
import type { Run } from "../../../train/run.js";
import { redisAddress } from "../queue/connection.js";
import { Dispatcher } from "../queue/dispatcher.js";
import { AheadGroups, type Pinned } from "./ahead.js";
import { encodeParameters, gradientsByWorkers, scoreByWorkers } from "./gradient-job.js";
import { type DistributedOptions, deciding } from "./options.js";
import { remoteEnvironment } from "./remote-environment.js";
import { collectByWorkers } from "./rollout-job.js";

/**
 * Opens the queues of a run that is executed by workers.
 * @param signal when it is aborted, jobs without a worker are no longer awaited.
 * @throws UserError if its Redis cannot be used.
 */
export async function openDistributed(
  config: RunConfig,
  options: DistributedOptions & { readonly redis: string },
  policy: Policy,
  environment: Environment,
  run: Run,
  note: (text: string) => void,
  signal: AbortSignal,
): Promise<Executor> {
  const { redis, jobs, blobs, lease_s: lease, slow, staleness: lag } = options;
  const here = localExecutor(policy, environment);
  const [rollouts, gradients] = [jobs.includes("rollouts"), jobs.includes("gradients")];
  const plays = playsElsewhere(options);
  const config_ = Buffer.from(JSON.stringify(configForWorkers(config)));
  const dispatcher = await Dispatcher.open({
    address: redisAddress(redis),
    announcement: {
      // the directory identifies the run: another machine may have a run of the same name
      run: `${config.name}-${sha256(`${realpathSync(run.directory.dir)} ${run.directory.readEnvironment().started}`).slice(0, 12)}`,
      name: config.name,
      versions: deciding(),
      hashes: { model: await modelHash(policy.model.dir), split: environment.splitHash() },
      modules: loadedModules(),
      // drafts are played as separate episodes
      jobs: [...new Set([...jobs, ...(plays ? (["episodes"] as const) : [])])],
      config: sha256(config_),
      blobs,
      lease,
    },
    slow,
    signal,
    note,
  });
  await dispatcher.keep(config_);
  const published = new Map<PolicyKey, string>();
  /** Stores the current parameters as a blob. @returns its address. */
  const publish = async (key: PolicyKey): Promise<string> => {
    const address = await dispatcher.keep(encodeParameters(await policy.engine.getParameters(key)));
    const before = published.get(key);
    published.set(key, address);
    if (before !== undefined) await dispatcher.drop(before);
    return address;
  };
  const pin = async (parameters: ReadonlyMap<string, Tensor>): Promise<Pinned> => {
    const address = await dispatcher.keep(encodeParameters(parameters));
    const collect = collectByWorkers(dispatcher, policy, environment, async () => address);
    return { collect, release: () => dispatcher.drop(address) };
  };
  if (gradients && config.training.gradient_slots === 1)
    note("training.gradient_slots=1: gradients are computed here; more slots let workers share them");
  const remote = plays ? remoteEnvironment(environment, dispatcher) : environment;
  const shares = gradients && config.training.gradient_slots > 1;
  return {
    environment: remote,
    collect: rollouts
      ? collectByWorkers(dispatcher, policy, environment, () => publish("policy"))
      : collectHere(policy, remote),
    score: shares ? scoreByWorkers(dispatcher, config.training.gradient_slots, publish) : here.score,
    gradients: shares ? gradientsByWorkers(dispatcher, policy.engine.parameters, publish) : here.gradients,
    ...(rollouts && lag > 0
      ? {
          source: (...[played, checkpoint]: Parameters<NonNullable<Executor["source"]>>) => {
            const newest = () => policy.engine.getParameters("policy");
            return new AheadGroups(lag, config.training.steps, played, pin, newest, checkpoint);
          },
        }
      : {}),
    status: () => statusText(dispatcher.meter.sofar),
    figures: () => dispatcher.meter.take(),
    close: () => dispatcher.close(),
  };
}

export function statusText({ workers, waiting, idle }: StepWorkers): string {
  const share = idle === null ? "" : `, ${Math.round(100 * idle)} % idle`;
  return `${workers} ${workers === 1 ? "worker" : "workers"}${share}, ${waiting} waiting`;
}

/**
 * The config for workers: whole, as a part of it may be refused without the rest, but without the coordinator's trackers
 * and their credentials. Its Redis holds no password ({@link redisAddress}).
 */
export const configForWorkers = ({ tracking: _, ...config }: RunConfig): Omit<RunConfig, "tracking"> => config;

/** Tells whether workers play the episodes: then this machine needs no browser. */
export const playsElsewhere = ({ jobs }: DistributedOptions): boolean =>
  jobs.includes("episodes") || jobs.includes("rollouts");
