import type { Tensor } from "../../../onnx/types.js";
import type { Checkpoint } from "../../../runs/checkpoint.js";
import { asKept, keptPolicy } from "../../../train/refresh.js";
import type { Collect } from "../../../train/rollouts/collect.js";
import type { CurriculumState } from "../../../train/rollouts/curriculum.js";
import type { GroupSource, PlayedSource, StepGroups } from "../../../train/rollouts/step-groups.js";

type Parameters = ReadonlyMap<string, Tensor>;

/** Collects with parameters that stay as they are, whatever becomes of the policy meanwhile. */
export interface Pinned {
  readonly collect: Collect;
  /** Ends collecting with them. */
  release(): Promise<void>;
}

interface Version {
  readonly parameters: Parameters;
  readonly pinned: Pinned;
}

/** The step's groups, and where its source stood when they were complete. */
interface Flight extends StepGroups {
  readonly drawn: number;
  readonly curriculum: CurriculumState;
}

/**
 * Groups that are sampled while earlier steps are trained: those of step s by the policy after step s - 1 - lag, always,
 * so that a run's bytes depend on no timing. Sampling waits for that policy, training for its rollouts: nothing is thrown
 * away. The steps' rollouts follow one another, as each draws its tasks where the one before ended.
 */
export class AheadGroups implements GroupSource {
  /** Policies by the number of steps that they were trained, the oldest first. */
  private readonly versions = new Map<number, Version>();
  private readonly flights = new Map<number, Promise<Flight>>();
  private last: Promise<unknown> = Promise.resolve();
  private started: number;
  drawn: number;
  curriculum: CurriculumState;

  /**
   * @param steps of the whole run.
   * @param policy the parameters as they are.
   * @param checkpoint that the run goes on from.
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
    this.curriculum = played.curriculum;
  }

  async collect(step: number): Promise<StepGroups> {
    if (this.versions.size === 0) {
      for (let back = this.lag; back >= 1; back--) {
        const parameters = keptPolicy(nameOf(back), this.checkpoint);
        if (parameters !== undefined) await this.add(step - 1 - back, parameters);
      }
    }
    await this.add(step - 1, await this.policy());
    while (this.started < Math.min(step + this.lag, this.steps)) this.start(++this.started);
    const flight = (await this.flights.get(step)) as Flight;
    this.flights.delete(step);
    this.drawn = flight.drawn;
    this.curriculum = flight.curriculum;
    const [version, { parameters }] = this.versionOf(step);
    const lag = step - 1 - version;
    for (const [older, { pinned }] of [...this.versions]) {
      if (older >= step - this.lag) continue;
      this.versions.delete(older);
      await pinned.release();
    }
    return { ...flight, sampled: { lag, ...(lag === 0 ? {} : { parameters }) } };
  }

  /** The policies before the present one that steps to come are sampled by, as a checkpoint keeps them. @param step steps done. */
  kept(step: number): Record<string, Map<string, Tensor>> {
    return Object.assign(
      {},
      ...[...this.versions].flatMap(([version, { parameters }]) =>
        version < step && version >= step - this.lag ? [asKept(nameOf(step - version), parameters)] : [],
      ),
    );
  }

  private async add(version: number, parameters: Parameters): Promise<void> {
    if (version >= 0) this.versions.set(version, { parameters, pinned: await this.pin(parameters) });
  }

  /** The policy of a step's rollouts: at the beginning of a run, and where a checkpoint kept fewer, the oldest there is. */
  private versionOf(step: number): [number, Version] {
    const wanted = step - 1 - this.lag;
    return [...this.versions].find(([version]) => version >= wanted) as [number, Version];
  }

  private start(step: number): void {
    const [, { pinned }] = this.versionOf(step);
    const flight = this.last.then(async () => {
      const groups = await this.played.collect(step, pinned.collect);
      return { ...groups, drawn: this.played.drawn, curriculum: structuredClone(this.played.curriculum) };
    });
    this.flights.set(step, flight);
    this.last = flight;
    // a failure is reported where the step's groups are wanted
    flight.catch(() => undefined);
  }
}

/** The checkpoint's group of the policy so many steps before it. */
function nameOf(back: number): string {
  return `older-${back}`;
}
