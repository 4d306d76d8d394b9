import type { Tensor } from "../../../onnx/types.js";
import type { Checkpoint } from "../../../runs/checkpoint.js";
import { policyGroup, policyOfGroup } from "../../../train/refresh.js";
import type { Collect } from "../../../train/rollouts/collect.js";
import type { GroupSource, PlayedSource, StepGroups } from "../../../train/rollouts/step-groups.js";

type Parameters = ReadonlyMap<string, Tensor>;

/** Collects with fixed parameters, while the policy is trained further. */
export interface Pinned {
  readonly collect: Collect;
  /** Releases the parameters. */
  release(): Promise<void>;
}

interface Version {
  readonly parameters: Parameters;
  readonly pinned: Pinned;
}

/** The step's groups, and the state of their source after them. */
interface Flight extends StepGroups {
  readonly drawn: number;
}

/**
 * Samples groups while earlier steps are trained: those of step s always by the policy after step s - 1 - lag, so that
 * results do not depend on timing. Sampling waits for that policy, training for its rollouts; none are discarded.
 * The steps' rollouts are sampled one after the other, as each continues the sequence of tasks of the one before.
 */
export class AheadGroups implements GroupSource {
  /** Policies by their number of training steps, the oldest first. */
  private readonly versions = new Map<number, Version>();
  private readonly flights = new Map<number, Promise<Flight>>();
  private last: Promise<unknown> = Promise.resolve();
  private started: number;
  drawn: number;

  /**
   * @param steps of the whole run.
   * @param policy returns the current parameters.
   * @param checkpoint that the run resumes from.
   */
  constructor(
    private readonly lag: number,
    private readonly steps: number,
    private readonly played: PlayedSource,
    private readonly pin: (parameters: Parameters) => Promise<Pinned>,
    private readonly policy: () => Promise<Parameters>,
    private readonly checkpoint: Pick<Checkpoint, "groups" | "step"> | undefined,
  ) {
    this.started = checkpoint?.step ?? 0;
    this.drawn = played.drawn;
  }

  async collect(step: number): Promise<StepGroups> {
    if (this.versions.size === 0) {
      for (let back = this.lag; back >= 1; back--) {
        const parameters = policyOfGroup(nameOf(back), this.checkpoint);
        if (parameters !== undefined) await this.add(step - 1 - back, parameters);
      }
    }
    await this.add(step - 1, await this.policy());
    while (this.started < Math.min(step + this.lag, this.steps)) this.start(++this.started);
    const flight = (await this.flights.get(step)) as Flight;
    this.flights.delete(step);
    this.drawn = flight.drawn;
    const [version, { parameters }] = this.versionOf(step);
    const lag = step - 1 - version;
    for (const [older, { pinned }] of [...this.versions]) {
      if (older >= step - this.lag) continue;
      this.versions.delete(older);
      await pinned.release();
    }
    return { ...flight, sampled: { lag, ...(lag === 0 ? {} : { parameters }) } };
  }

  /** Returns the earlier policies that future steps need, in a checkpoint's form. @param step number of done steps. */
  kept(step: number): Record<string, Map<string, Tensor>> {
    return Object.assign(
      {},
      ...[...this.versions].flatMap(([version, { parameters }]) =>
        version < step && version >= step - this.lag ? [policyGroup(nameOf(step - version), parameters)] : [],
      ),
    );
  }

  private async add(version: number, parameters: Parameters): Promise<void> {
    if (version >= 0) this.versions.set(version, { parameters, pinned: await this.pin(parameters) });
  }

  /** The policy of a step's rollouts; if that one is missing (first steps, old checkpoint), the oldest newer one. */
  private versionOf(step: number): [number, Version] {
    const wanted = step - 1 - this.lag;
    return [...this.versions].find(([version]) => version >= wanted) as [number, Version];
  }

  private start(step: number): void {
    const [, { pinned }] = this.versionOf(step);
    const flight = this.last.then(async () => {
      const groups = await this.played.collect(step, pinned.collect);
      return { ...groups, drawn: this.played.drawn };
    });
    this.flights.set(step, flight);
    this.last = flight;
    // a failure is reported when the step's groups are collected
    flight.catch(() => undefined);
  }
}

/** Name of the checkpoint's tensor group for the policy `back` steps earlier. */
const nameOf = (back: number): string => `older-${back}`;
