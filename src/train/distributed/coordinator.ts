import { realpathSync } from "node:fs";
import { redisAddress } from "../../cluster/connection.js";
import { Dispatcher } from "../../cluster/dispatcher.js";
import type { WorkerFigures } from "../../cluster/meter.js";
import type { RunConfig } from "../../config/config.js";
import { UserError } from "../../core/errors.js";
import { sha256 } from "../../core/files.js";
import type { PolicyKey } from "../../engine/engine.js";
import type { Policy } from "../../engine/policy.js";
import type { Environment } from "../../env/environment.js";
import { modelHash } from "../../nn/model.js";
import type { Tensor } from "../../onnx/types.js";
import type { Pinned } from "../rollouts/ahead.js";
import type { Collect } from "../rollouts/collect.js";
import { collectHere } from "../rollouts/collect.js";
import { type SlotGradients, slotsHere } from "../rollouts/slots.js";
import type { Run } from "../run.js";
import { type ScoreAll, scoreHere } from "../update.js";
import { deciding } from "./facts.js";
import { encodeParameters, gradientsByWorkers, scoreByWorkers } from "./gradient-job.js";
import { remoteEnvironment } from "./remote-environment.js";
import { collectByWorkers } from "./rollout-job.js";

/** Who does the work of a run: this process, or workers. */
export interface Crew {
  readonly environment: Environment;
  readonly collect: Collect;
  readonly score: ScoreAll;
  readonly gradients: SlotGradients;
  /** Absent where this process samples: it has one policy at a time. */
  readonly pin?: (parameters: ReadonlyMap<string, Tensor>) => Promise<Pinned>;
  /** Who works and what waits, in a few words; undefined in one process. */
  status(): string | undefined;
  /** What workers did since it was asked before; absent in one process. */
  readonly figures?: () => WorkerFigures;
  close(): Promise<void>;
}

/** Everything in this process. */
export function crewHere(policy: Policy, environment: Environment): Crew {
  return {
    environment,
    collect: collectHere(policy, environment),
    score: scoreHere(policy.engine),
    gradients: slotsHere(policy.engine),
    status: () => undefined,
    close: async () => undefined,
  };
}

/**
 * The crew that a config asks for.
 * @throws UserError where its Redis cannot be used.
 */
export async function openCrew(
  config: RunConfig,
  policy: Policy,
  environment: Environment,
  run: Run,
  note: (text: string) => void,
): Promise<Crew> {
  const { redis, jobs, blobs, lease_s: lease, slow } = config.distributed;
  const here = crewHere(policy, environment);
  if (redis === null) return here;
  const [rollouts, gradients] = [jobs.includes("rollouts"), jobs.includes("gradients")];
  const plays = workersPlay(config);
  const config_ = Buffer.from(JSON.stringify(shared(config)));
  const dispatcher = await Dispatcher.open({
    address: redisAddress(redis),
    announcement: {
      // the directory is the run: its name may be that of another one elsewhere
      run: `${config.name}-${sha256(`${realpathSync(run.directory.dir)} ${run.directory.readEnvironment().started}`).slice(0, 12)}`,
      name: config.name,
      versions: deciding(),
      hashes: { model: await modelHash(policy.model.dir), split: environment.splitHash() },
      // drafts are played one by one
      jobs: [...new Set([...jobs, ...(plays ? (["episodes"] as const) : [])])],
      config: sha256(config_),
      blobs,
      lease,
    },
    slow,
    note,
  });
  await dispatcher.keep(config_);
  const kept = new Map<PolicyKey, string>();
  const pins: string[] = [];
  const dropUnused = async (address: string | undefined): Promise<void> => {
    if (address !== undefined && ![...kept.values(), ...pins].includes(address)) await dispatcher.drop(address);
  };
  const publish = async (key: PolicyKey): Promise<string> => {
    const address = await dispatcher.keep(encodeParameters(await policy.engine.getParameters(key)));
    const before = kept.get(key);
    kept.set(key, address);
    await dropUnused(before);
    return address;
  };
  const pin = async (parameters: ReadonlyMap<string, Tensor>): Promise<Pinned> => {
    const address = await dispatcher.keep(encodeParameters(parameters));
    pins.push(address);
    return {
      collect: collectByWorkers(dispatcher, policy, environment, async () => address),
      release: () => {
        pins.splice(pins.indexOf(address), 1);
        return dropUnused(address);
      },
    };
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
    gradients: shares ? gradientsByWorkers(dispatcher, publish) : here.gradients,
    ...(rollouts ? { pin } : {}),
    status: () => statusText(dispatcher.meter.sofar),
    figures: () => dispatcher.meter.take(),
    close: () => dispatcher.close(),
  };
}

export function statusText({ workers, waiting, idle }: WorkerFigures): string {
  const share = idle === null ? "" : `, ${Math.round(100 * idle)} % idle`;
  return `${workers} ${workers === 1 ? "worker" : "workers"}${share}, ${waiting} waiting`;
}

/** What workers get of a config: nothing that lets anyone in anywhere, nor what only the coordinator does. */
function shared({ tracking: _, distributed, ...config }: RunConfig): unknown {
  return { ...config, distributed: { ...distributed, redis: null, staleness: 0 } };
}

/** Whether episodes are played elsewhere: then this machine needs no browser. */
export function workersPlay({ distributed: { redis, jobs } }: RunConfig): boolean {
  return redis !== null && (jobs.includes("episodes") || jobs.includes("rollouts"));
}

/** @throws UserError where what a config asks for cannot be shared out. */
export function checkDistributed(config: RunConfig): void {
  if (config.distributed.redis === null) return;
  redisAddress(config.distributed.redis);
  if (config.distributed.blobs !== null && !config.distributed.blobs.startsWith("/"))
    throw new UserError("distributed.blobs has to be the same folder on every machine: give an absolute path.", {
      exitCode: 2,
    });
}
