import type { MjData } from "@mujoco/mujoco";
import { fail } from "../../../core/errors.js";
import { depthCamera } from "./depth.js";
import { BIN_HALF, BINS, CAN, OPEN, QPOS, SCENE, SPEED, SUBSTEPS } from "./scene.js";

const PACKAGE = "@mujoco/mujoco";
const INSTALL = "npm install --no-save @mujoco/mujoco@3.14.0";

/** Numbers of one action. */
export const ACTION_SIZE = 4;

/** Start of an episode, in metres. */
export interface StartState {
  readonly hand: readonly [number, number, number];
  readonly can: readonly [number, number];
  /** Index of the can's bin. */
  readonly bin: 0 | 1;
}

/** State of the world, in metres. */
export interface WorldState {
  readonly hand: readonly [number, number, number];
  /** Mean distance of the fingers from the middle. */
  readonly width: number;
  /** Last command to the fingers, -1 closed to 1 open. */
  readonly grip: number;
  readonly can: readonly [number, number, number];
  /** Cosine of the can's tilt. */
  readonly upright: number;
  /** Centre of the can's bin. */
  readonly bin: readonly [number, number];
}

export type Simulator = Awaited<ReturnType<typeof openSimulator>>;
/** A world from its start state on; `using` releases it. */
export type World = ReturnType<Simulator["begin"]>;

/**
 * Opens MuJoCo (official WASM build) with the compiled scene; its worlds are independent.
 * @param depth side of the depth image in pixels; 0: no image.
 * @throws UserError if the simulator is not installed.
 */
export async function openSimulator(
  depth = 0,
  find = (): Promise<typeof import("@mujoco/mujoco")> => import("@mujoco/mujoco"),
) {
  const { default: load } = await find().catch((cause: unknown) =>
    fail(`The simulator ${PACKAGE} is not installed, and the control environment needs it.`, { hint: INSTALL, cause }),
  );
  const mujoco = await load();
  const model = mujoco.MjModel.from_xml_string(SCENE);
  if (model === null) throw new Error("MuJoCo did not compile the scene");
  const camera = depth === 0 ? undefined : depthCamera(mujoco, model, depth);
  const free: MjData[] = [];
  return {
    /** Makes a world at rest in a start state: the same state gives a bitwise equal world. */
    begin(start: StartState) {
      const data = free.pop() ?? new mujoco.MjData(model);
      if (data === null) throw new Error("MuJoCo has no memory for another world");
      mujoco.mj_resetData(model, data);
      (data.qpos as Float64Array).set([...start.hand, OPEN, OPEN, ...start.can, CAN.half, 1, 0, 0, 0]);
      mujoco.mj_forward(model, data);
      let grip = 1;
      return {
        /** Runs one step. @param action [4] in -1..1: the hand's speed along x, y, z, and the fingers (1 is open). */
        step(action: ArrayLike<number>): void {
          const bounded = Array.from({ length: ACTION_SIZE }, (_, i) => Math.max(-1, Math.min(1, action[i] ?? 0)));
          grip = bounded.pop() as number;
          const width = (OPEN * (grip + 1)) / 2;
          // WASM memory may have grown: a new view is taken every time
          (data.ctrl as Float64Array).set([...bounded.map((speed) => speed * SPEED), width, width]);
          for (let i = 0; i < SUBSTEPS; i++) mujoco.mj_step(model, data);
        },
        state: () => stateOf(data.qpos as Float64Array, grip, BINS[start.bin]),
        /** Renders the depth image, row by row (depth.ts); undefined if none was asked for. */
        depth: () => camera?.see(data),
        [Symbol.dispose]: () => void free.push(data),
      };
    },
    close(): void {
      for (const data of free.splice(0)) data.delete();
      camera?.close();
      model.delete();
    },
  };
}

function stateOf(q: Float64Array, grip: number, bin: readonly [number, number]): WorldState {
  const at = (i: number): number => q[i] as number;
  const { hand, fingers, can } = QPOS;
  return {
    hand: [at(hand), at(hand + 1), at(hand + 2)],
    width: (at(fingers) + at(fingers + 1)) / 2,
    grip,
    can: [at(can), at(can + 1), at(can + 2)],
    // the zz entry of the rotation matrix
    upright: 1 - 2 * (at(can + 4) ** 2 + at(can + 5) ** 2),
    bin,
  };
}

/** Tells whether the can stands or lies in its bin and the hand has let go of it. */
export const succeeded = (s: WorldState): boolean => inBin(s) && s.width > CAN.radius + 0.008;

/** Tells whether the can is at the bottom of its bin. */
export const inBin = ({ can, bin }: WorldState): boolean =>
  Math.abs(can[0] - bin[0]) < BIN_HALF && Math.abs(can[1] - bin[1]) < BIN_HALF && can[2] < 0.06;
