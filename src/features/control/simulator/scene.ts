/**
 * The scene: a gantry hand with two fingers, a can on a table, and two bins, one of them the target. Units are metres,
 * kilograms, seconds. The hand's origin is between its fingertips. qpos: hand x, y, z; fingers; the can's pose.
 */

/** Radius and half height of the can. */
export const CAN = { radius: 0.025, half: 0.04 } as const;
/** Centres of the two bins, and half of their inner width. */
export const BINS = [
  [0.18, -0.11],
  [0.18, 0.11],
] as const;
export const BIN_HALF = 0.08;
/** Distance of each finger from the middle when the hand is open. */
export const OPEN = 0.045;
/** Largest speed of the hand along an axis. */
export const SPEED = 0.6;
/** Simulation steps per control step, and seconds of a control step. */
export const SUBSTEPS = 3;
export const PERIOD = 0.032;
const TIMESTEP = PERIOD / SUBSTEPS;
export const QPOS = { hand: 0, fingers: 3, can: 5 } as const;

const WALL = { thickness: 0.004, height: 0.015 };

function walls([x, y]: readonly [number, number]): string {
  const at = BIN_HALF + WALL.thickness;
  const wall = (dx: number, dy: number, a: number, b: number): string =>
    `<geom type="box" pos="${x + dx} ${y + dy} ${WALL.height}" size="${a} ${b} ${WALL.height}"/>`;
  return [
    wall(at, 0, WALL.thickness, at),
    wall(-at, 0, WALL.thickness, at),
    wall(0, at, at, WALL.thickness),
    wall(0, -at, at, WALL.thickness),
  ].join("\n      ");
}

const finger = (name: string, side: 1 | -1): string => `
      <body name="${name}" pos="0 ${side * 0.006} 0" gravcomp="1">
        <joint name="${name}" type="slide" axis="0 ${side} 0" range="0 ${OPEN}" damping="2"/>
        <geom type="box" pos="0 0 0.012" size="0.012 0.006 0.03" mass="0.05" friction="2 0.05 0.001" condim="4" contype="2" conaffinity="0"/>
      </body>`;

/** The scene in MuJoCo's XML. Fingers collide only with the can, which saves a third of the time. */
export const SCENE = `<mujoco model="can">
  <size memory="1M"/>
  <option timestep="${TIMESTEP}" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <worldbody>
    <geom name="table" type="plane" size="1 1 0.1"/>
      ${BINS.map(walls).join("\n      ")}
    <body name="hand" gravcomp="1">
      <joint name="x" type="slide" axis="1 0 0" range="-0.35 0.35"/>
      <joint name="y" type="slide" axis="0 1 0" range="-0.3 0.3"/>
      <joint name="z" type="slide" axis="0 0 1" range="0.03 0.25"/>
      <geom type="box" pos="0 0 0.06" size="0.02 0.05 0.01" mass="0.5" contype="0" conaffinity="0"/>${finger("left", 1)}${finger("right", -1)}
    </body>
    <body name="can">
      <freejoint/>
      <geom type="cylinder" size="${CAN.radius} ${CAN.half}" mass="0.1" friction="1 0.05 0.001" condim="4" conaffinity="3"/>
    </body>
  </worldbody>
  <actuator>
    <velocity joint="x" kv="60" ctrlrange="-${SPEED} ${SPEED}"/>
    <velocity joint="y" kv="60" ctrlrange="-${SPEED} ${SPEED}"/>
    <velocity joint="z" kv="60" ctrlrange="-${SPEED} ${SPEED}"/>
    <position joint="left" kp="400" kv="10" forcerange="-10 10" ctrlrange="0 ${OPEN}"/>
    <position joint="right" kp="400" kv="10" forcerange="-10 10" ctrlrange="0 ${OPEN}"/>
  </actuator>
</mujoco>`;
