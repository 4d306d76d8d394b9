/**
 * A simulated hand that picks a can up and puts it into a bin: states and depth images in, chunks of actions out.
 */

import { z } from "zod";
import { codeHash } from "../../../core/code-hash.js";
import { misuse } from "../../../core/errors.js";
import { sha256 } from "../../../core/files.js";
import type { Act, Observation, Spaces } from "../../../core/interaction.js";
import { Rng } from "../../../core/rng.js";
import type {
  Demonstration,
  Environment,
  EnvironmentKind,
  EnvironmentTask,
  EpisodeOutcome,
  FixedPolicy,
  Split,
} from "../../../env/environment.js";
import { drawStrip } from "../simulator/drawing.js";
import { expertAction } from "../simulator/expert.js";
import { OPEN } from "../simulator/scene.js";
import {
  ACTION_SIZE,
  inBin,
  openSimulator,
  type Simulator,
  type StartState,
  succeeded,
  type World,
  type WorldState,
} from "../simulator/simulator.js";

const size = (least: number): z.ZodInt => z.int().min(least).max(100_000);

const schema = z.strictObject({
  seed: z.int().min(0).default(0).describe("of the start states"),
  chunk: size(1).default(4).describe("Ta: actions that a policy answers with at once"),
  horizon: size(1).default(64).describe("control steps of an episode (32 ms each); the scripted expert needs up to 50"),
  state: z
    .enum(["full", "proprioceptive"])
    .default("full")
    .describe("full: the hand, the can and the bin; proprioceptive: without the can, which only an image then shows"),
  depth: z
    .int()
    .min(0)
    .max(64)
    .multipleOf(4)
    .default(0)
    .describe("pixels of a side of the depth image that is shown beside the state; 0: none"),
  reward: z
    .enum(["success", "staged"])
    .default("success")
    .describe(
      "success: 1 or 0; staged: up to .25 for a hand near the can, .5 and more for one that is lifted, 1 for success",
    ),
  discount: z.number().positive().max(1).default(1).describe("the reward is multiplied by this for every control step"),
  train_tasks: size(1).default(256).describe("start states to learn from"),
});
type ControlOptions = z.output<typeof schema>;

/** Numbers of start states for validation and test, and of those outside the training region. */
const EVALUATED = { val: 64, test: 256, heldout: 256 } as const;

export const environment: EnvironmentKind = {
  schema: schema.safeExtend({}),
  async open({ environment: section }) {
    const { kind: _, ...options } = section as { kind: string };
    const parsed = schema.parse(options);
    return new ControlEnvironment(await openSimulator(parsed.depth), parsed);
  },
  async check(_, opened) {
    const [task] = opened.tasks as [EnvironmentTask];
    const oracle = opened.fixedPolicies.oracle as FixedPolicy;
    const { summary } = await opened.play(task, await oracle(task, undefined as never), new Map());
    return `MuJoCo; the scripted expert: ${summary}`;
  },
  view: (detail) => [
    {
      title: "path of the hand and the can, a row a chunk (cm)",
      head: ["hand x", "y", "z", "fingers", "can x", "y", "z"],
      rows: (recorded(detail)?.path ?? []).map((row) => row.map((x) => ({ text: x.toFixed(1) }))),
    },
  ],
  drawing(detail) {
    const episode = recorded(detail);
    if (episode === undefined) return undefined;
    return {
      title: "drawn from the recorded positions, by row of the path: from above, and from the side; its bin is bold",
      svg: drawStrip(episode.path, episode.bin),
    };
  },
};

/** Parses an episode's detail; undefined if the file holds something else. */
const detailSchema = z.object({ path: z.array(z.array(z.number()).length(7)).min(1), bin: z.int() });
const recorded = (detail: unknown): z.output<typeof detailSchema> | undefined => detailSchema.safeParse(detail).data;

class ControlEnvironment implements Environment {
  readonly name = "control";
  readonly notes: readonly string[] = [];
  readonly tasks: readonly ControlTask[];
  readonly started = true;
  readonly spaces: Spaces;

  constructor(
    private readonly simulator: Simulator,
    private readonly options: ControlOptions,
  ) {
    this.tasks = controlTasks(options.seed, { train: options.train_tasks, ...EVALUATED });
    const { state, depth, chunk } = options;
    this.spaces = {
      observation: { state: [STATE_SIZE[state]], ...(depth === 0 ? {} : { depth: [depth, depth] }) },
      action: [chunk, ACTION_SIZE],
    };
  }

  splitHash(): string {
    return sha256(JSON.stringify(this.tasks));
  }

  judge(): string {
    return codeHash(import.meta.url);
  }

  async start(): Promise<void> {}

  async play(task: EnvironmentTask, act: Act): Promise<EpisodeOutcome> {
    const { chunk, horizon, reward, discount } = this.options;
    const { start } = task as ControlTask;
    using world = this.simulator.begin(start);
    const path: number[][] = [];
    let state = world.state();
    let steps = 0;
    let grasped = false;
    let [reach, carry] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    while (steps < horizon && !succeeded(state)) {
      path.push(centimetres(state));
      const { vector } = await act(observe(world, this.options.state));
      if (vector === undefined || vector.length % ACTION_SIZE !== 0 || vector.length === 0)
        misuse("The control environment is answered by vectors of actions, four numbers each.", {
          hint: "use sampler.kind=flow with a model of architecture velocity",
        });
      for (let i = 0; i < Math.min(chunk * ACTION_SIZE, vector.length) && steps < horizon; i += ACTION_SIZE) {
        world.step(vector.subarray(i, i + ACTION_SIZE));
        steps++;
        state = world.state();
        reach = Math.min(reach, distance(state.hand, state.can));
        if (state.can[2] > LIFTED) {
          grasped = true;
          carry = Math.min(carry, distance(state.bin, state.can.slice(0, 2)));
        }
        if (succeeded(state)) break;
      }
    }
    path.push(centimetres(state));
    const success = succeeded(state);
    const earned = success ? 1 : reward === "staged" ? stage(reach, carry) : 0;
    return {
      reward: earned * discount ** steps,
      success,
      metrics: { control_steps: steps, lifted: Number(grasped), in_bin: Number(inBin(state)) },
      detail: { path, bin: start.bin },
      summary: success ? `in its bin after ${steps} steps` : grasped ? "lifted, not placed" : "not lifted",
    };
  }

  readonly fixedPolicies: Readonly<Record<string, FixedPolicy>> = {
    oracle: async (task) => {
      // simulation is deterministic: a separate world gives the same actions as the episode itself
      const actions = this.expertEpisode(task as ControlTask).map(({ action }) => action);
      let next = 0;
      return async () => {
        const from = Math.min(next++ * this.options.chunk, actions.length - 1);
        return { vector: Float32Array.from(actions.slice(from, from + this.options.chunk).flat()) };
      };
    },
    random: async (_, rng) => async () => ({
      vector: Float32Array.from({ length: this.options.chunk * ACTION_SIZE }, () => 2 * rng.uniform() - 1),
    }),
  };

  /** Records the expert's observations and actions from a start state. */
  private expertEpisode(task: ControlTask): { observation: Observation; action: number[] }[] {
    using world = this.simulator.begin(task.start);
    const episode: { observation: Observation; action: number[] }[] = [];
    let state = world.state();
    for (let t = 0; t < this.options.horizon && !succeeded(state); t++) {
      const action = expertAction(state);
      episode.push({ observation: observe(world, this.options.state), action });
      world.step(action);
      state = world.state();
    }
    return episode;
  }

  /** Makes a chunk from every control step of the expert's episodes; behind the end, the last action is repeated. */
  demonstrations(tasks: readonly EnvironmentTask[]): Demonstration[] {
    const { chunk } = this.options;
    return (tasks as readonly ControlTask[]).flatMap((task) => {
      const episode = this.expertEpisode(task);
      const heldAt = (t: number): number[] => episode[Math.min(t, episode.length - 1)]?.action ?? [];
      return episode.map(({ observation }, t) => {
        const actions = Array.from({ length: chunk }, (_, i) => heldAt(t + i));
        return { id: task.id, observation, action: { vector: Float32Array.from(actions.flat()) } };
      });
    });
  }

  async close(): Promise<void> {
    this.simulator.close();
  }
}

/** Least height of a lifted can's centre, in metres. */
const LIFTED = 0.08;

const distance = (a: readonly number[], b: readonly number[]): number =>
  Math.hypot(...a.map((x, i) => x - (b[i] as number)));

/**
 * Computes the staged reward of an episode without success, after robosuite's PickPlace.
 * @param reach least distance of hand and can. @param carry least horizontal distance of the lifted can and its bin.
 */
function stage(reach: number, carry: number): number {
  if (Number.isFinite(carry)) return 0.5 + 0.25 * (1 - Math.tanh(5 * carry));
  return Number.isFinite(reach) ? 0.25 * (1 - Math.tanh(10 * reach)) : 0;
}

/** Makes a row of an episode's path, in centimetres. */
const centimetres = ({ hand, width, can }: WorldState): number[] =>
  [...hand, width, ...can].map((x) => Math.round(1000 * x) / 10);

/** A task: a start state of the hand, the can and its bin. */
interface ControlTask extends EnvironmentTask {
  readonly start: StartState;
}

/** Region of the can's start position in metres; that of `heldout` begins where that of `train` ends. */
const PICK = { x: [-0.24, -0.08], y: 0.13, outside: 0.19 } as const;

/** Makes the tasks of a seed: `counts` distinct start states for each split. */
function controlTasks(seed: number, counts: Readonly<Record<Split, number>>): ControlTask[] {
  return (Object.entries(counts) as [Split, number][]).flatMap(([split, count]) =>
    Array.from({ length: count }, (_, i) => {
      const id = `can/${split}/${i}`;
      const rng = Rng.named(seed, `start/${id}`);
      const between = (a: number, b: number): number => a + (b - a) * rng.uniform();
      const x = between(...PICK.x);
      const y = split === "heldout" ? between(PICK.y, PICK.outside) : between(0, PICK.y);
      const side = rng.uniform() < 0.5 ? -1 : 1;
      const bin = rng.uniform() < 0.5 ? 0 : 1;
      const hand = [between(-0.2, 0), between(-0.06, 0.06), between(0.12, 0.18)] as const;
      const region = split === "heldout" ? "outside" : y < PICK.y / 3 ? "middle" : side < 0 ? "left" : "right";
      const start: StartState = { hand, can: [x, side * y], bin };
      return { id, split, form: `${region} to bin ${bin + 1}`, start };
    }),
  );
}

/** Content of the state vector: all of the world, or only what the hand knows without a camera. */
type StateKind = "full" | "proprioceptive";

/** Sizes of the state vector. */
const STATE_SIZE: Readonly<Record<StateKind, number>> = { full: 14, proprioceptive: 7 };

/** Makes a policy's observation of the world. */
function observe(world: World, kind: StateKind): Observation {
  const state = Float32Array.from((kind === "full" ? fullState : ownState)(world.state()));
  const depth = world.depth();
  return { vectors: depth === undefined ? { state } : { state, depth } };
}

/** Converts to decimetres, so that numbers are about 1. */
const d = (metres: number): number => 10 * metres;

/** State vector [7]: hand, width and last command of the fingers, bin relative to the hand. */
const ownState = ({ hand: [hx, hy, hz], width, grip, bin }: WorldState): number[] => [
  d(hx),
  d(hy),
  d(hz),
  width / OPEN,
  grip,
  d(bin[0] - hx),
  d(bin[1] - hy),
];

/** State vector [14]: hand, fingers' width and command, can, can relative to hand, tilt, bin relative to can. */
function fullState({ hand: [hx, hy, hz], width, grip, can: [cx, cy, cz], upright, bin }: WorldState): number[] {
  return [
    ...[d(hx), d(hy), d(hz), width / OPEN, grip],
    ...[d(cx), d(cy), d(cz), d(cx - hx), d(cy - hy), d(cz - hz)],
    ...[upright, d(bin[0] - cx), d(bin[1] - cy)],
  ];
}
