import type { MainModule, MjData, MjModel } from "@mujoco/mujoco";

/**
 * A camera at the table's near edge, above it, that looks down at where cans begin and at the bins behind: metres. From
 * straight above, the hand would hide the can that it reaches for.
 */
const EYE = [-0.5, 0, 0.4] as const;
const TARGET = [-0.13, 0, 0.03] as const;
/** Half of the picture's width and height at distance 1. */
const HALF = { width: 0.48, height: 0.3 } as const;
/** Farther than that is not told apart: metres. */
const FAR = 1;
/** Steps of a distance. A power of two, so that float32 holds each exactly and a file needs few digits. */
const LEVELS = 1024;

/** Of geometries: all are seen. */
const EVERY_GROUP = [1, 1, 1, 1, 1, 1];

type Vector = readonly [number, number, number];

/** Directions of the rays of a picture, row by row from its top left. [size * size * 3] */
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

/** Depth images [size, size] of a world: distances along the rays in 0..1 of a metre; 1 where there is nothing near. */
export function depthCamera(mujoco: MainModule, model: MjModel, size: number) {
  const directions = rays(size);
  const distances = new mujoco.DoubleBuffer(size * size);
  return {
    see(data: MjData): Float32Array {
      // places of bodies are those of the last step's beginning until they are computed again
      mujoco.mj_kinematics(model, data);
      const [groups, count] = [EVERY_GROUP, size * size];
      mujoco.mj_multiRay(model, data, [...EYE], directions, groups, true, -1, null, distances, null, count, FAR);
      // memory may have grown: a view is taken anew every time; -1 is nothing within reach
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

function cross([a, b, c]: Vector, [x, y, z]: Vector): Vector {
  return [b * z - c * y, c * x - a * z, a * y - b * x];
}
