import type { MainModule, MjData, MjModel } from "@mujoco/mujoco";
import { fail } from "../../../core/errors.js";
import { DepthCamera } from "./depth.js";
import { BIN_HALF, BINS, CAN, OPEN, QPOS, SCENE, SPEED, SUBSTEPS } from "./scene.js";

const PACKAGE = "@mujoco/mujoco";
const INSTALL = "npm install --no-save @mujoco/mujoco@3.14.0";

/** Numbers of one action. */
export const ACTION_SIZE = 4;

/** The place where an episode begins: metres. */
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

/** MuJoCo (official WASM build), compiled once with the scene; worlds of it are independent. */
export class Simulator {
  private readonly free: MjData[] = [];

  private constructor(
    private readonly mujoco: MainModule,
    private readonly model: MjModel,
    private readonly camera: DepthCamera | undefined,
  ) {}

  /** @param depth pixels of a side of the depth image; 0 is none. @throws UserError where the simulator is not installed. */
  static async open(
    depth = 0,
    find = (): Promise<typeof import("@mujoco/mujoco")> => import("@mujoco/mujoco"),
  ): Promise<Simulator> {
    let load: typeof import("@mujoco/mujoco")["default"];
    try {
      ({ default: load } = await find());
    } catch (error) {
      fail(`The simulator ${PACKAGE} is not installed, and the control environment needs it.`, {
        hint: INSTALL,
        cause: error,
      });
    }
    const mujoco = await load();
    const model = mujoco.MjModel.from_xml_string(SCENE);
    if (model === null) throw new Error("MuJoCo did not compile the scene");
    return new Simulator(mujoco, model, depth === 0 ? undefined : new DepthCamera(mujoco, model, depth));
  }

  /** A world at rest in a start state: the same state gives the same world, bit by bit. */
  begin(start: StartState): World {
    const data = this.free.pop() ?? new this.mujoco.MjData(this.model);
    if (data === null) throw new Error("MuJoCo has no memory for another world");
    this.mujoco.mj_resetData(this.model, data);
    const qpos = data.qpos as Float64Array;
    qpos.set([...start.hand, OPEN, OPEN, ...start.can, CAN.half, 1, 0, 0, 0]);
    this.mujoco.mj_forward(this.model, data);
    return new World(data, BINS[start.bin], this.mujoco, this.model, this.camera, this.free);
  }

  close(): void {
    for (const data of this.free.splice(0)) data.delete();
    this.camera?.close();
    this.model.delete();
  }
}

/** One world between a start state and its end (`using`). */
export class World {
  private grip = 1;

  constructor(
    private readonly data: MjData,
    private readonly bin: readonly [number, number],
    private readonly mujoco: MainModule,
    private readonly model: MjModel,
    private readonly camera: DepthCamera | undefined,
    /** Where the world's memory goes. */
    private readonly free: MjData[],
  ) {}

  /** One control step. @param action [4] in -1..1: the hand's speed along x, y and z, and the fingers (1 is open). */
  step(action: ArrayLike<number>): void {
    const bounded = Array.from({ length: ACTION_SIZE }, (_, i) => Math.max(-1, Math.min(1, action[i] ?? 0)));
    this.grip = bounded.pop() as number;
    const width = (OPEN * (this.grip + 1)) / 2;
    // memory may have grown: a view is taken anew every time
    (this.data.ctrl as Float64Array).set([...bounded.map((speed) => speed * SPEED), width, width]);
    for (let i = 0; i < SUBSTEPS; i++) this.mujoco.mj_step(this.model, this.data);
  }

  /** The depth image, row by row (depth.ts); undefined where none was asked for. */
  depth(): Float32Array | undefined {
    return this.camera?.see(this.data);
  }

  [Symbol.dispose](): void {
    this.free.push(this.data);
  }

  state(): WorldState {
    const q = this.data.qpos as Float64Array;
    const at = (i: number): number => q[i] as number;
    const { hand, fingers, can } = QPOS;
    return {
      hand: [at(hand), at(hand + 1), at(hand + 2)],
      width: (at(fingers) + at(fingers + 1)) / 2,
      grip: this.grip,
      can: [at(can), at(can + 1), at(can + 2)],
      // the third axis of the rotation, along z
      upright: 1 - 2 * (at(can + 4) ** 2 + at(can + 5) ** 2),
      bin: this.bin,
    };
  }
}

/** Tells whether the can stands or lies in its bin and the hand has let go of it. */
export function succeeded(s: WorldState): boolean {
  return inBin(s) && s.width > CAN.radius + 0.008;
}

/** Tells whether the can is down in its bin. */
export function inBin({ can, bin }: WorldState): boolean {
  return Math.abs(can[0] - bin[0]) < BIN_HALF && Math.abs(can[1] - bin[1]) < BIN_HALF && can[2] < 0.06;
}
