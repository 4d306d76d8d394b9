import type { MainModule, MjData, MjModel } from "@mujoco/mujoco";

/**
 * Position and target of the camera in metres: above the table's near edge, looking at the cans' region and the bins.
 * From straight above, the hand would hide the can.
 */
const EYE = [-0.5, 0, 0.4] as const;
const TARGET = [-0.13, 0, 0.03] as const;
/** Half of the picture's width and height at distance 1. */
const HALF = { width: 0.48, height: 0.3 } as const;
/** Largest distance that is measured, in metres. */
const FAR = 1;
/** Quantisation levels of a distance; a power of two, exact in float32 and with few digits in files. */
const LEVELS = 1024;

/** Visibility of MuJoCo's geometry groups: all are visible. */
const EVERY_GROUP = [1, 1, 1, 1, 1, 1];

type Vector = readonly [number, number, number];

/** Computes the directions of an image's rays [size * size * 3], row by row from its top left. */
function rays(size: number): number[] {
  const ahead = unit([TARGET[0] - EYE[0], TARGET[1] - EYE[1], TARGET[2] - EYE[2]]);
  const right = unit(cross(ahead, [0, 0, 1]));
  const up = cross(right, ahead);
  const middle = (i: number): number => (2 * (i + 0.5)) / size - 1;
  return Array.from({ length: size * size }, (_, i) => {
    const [x, y] = [HALF.width * middle(i % size), -HALF.height * middle(Math.floor(i / size))];
    return unit([0, 1, 2].map((k) => (ahead[k] as number) + x * (right[k] as number) + y * (up[k] as number)));
  }).flat();
}

/** Makes depth images [size, size] of a world: distances along the rays in 0..1 metres; 1 if nothing is near. */
export function depthCamera(mujoco: MainModule, model: MjModel, size: number) {
  const directions = rays(size);
  const distances = new mujoco.DoubleBuffer(size * size);
  return {
    see(data: MjData): Float32Array {
      // after a step, positions of bodies are those of its beginning until they are computed again
      mujoco.mj_kinematics(model, data);
      const [groups, count] = [EVERY_GROUP, size * size];
      mujoco.mj_multiRay(model, data, [...EYE], directions, groups, true, -1, null, distances, null, count, FAR);
      // WASM memory may have grown: a new view is taken every time; -1 means that nothing was hit
      return Float32Array.from(distances.GetView() as Float64Array, (d) =>
        d < 0 ? 1 : Math.min(1, Math.round((LEVELS * d) / FAR) / LEVELS),
      );
    },
    close: () => distances.delete(),
  };
}

function unit(v: readonly number[]): Vector {
  const length = Math.hypot(...v);
  return v.map((x) => x / length) as unknown as Vector;
}

const cross = ([a, b, c]: Vector, [x, y, z]: Vector): Vector => [b * z - c * y, c * x - a * z, a * y - b * x];
