import type { Observation } from "../../../core/interaction.js";
import { OPEN } from "./scene.js";
import type { World, WorldState } from "./simulator.js";

/** Holds what of the world `state` holds: all of it, or what the hand knows without a camera. */
export type StateKind = "full" | "proprioceptive";

/** Numbers of a state. */
export const STATE_SIZE: Readonly<Record<StateKind, number>> = { full: 14, proprioceptive: 7 };

/** Gives what a policy sees of a world now. */
export function observe(world: World, kind: StateKind): Observation {
  const state = Float32Array.from((kind === "full" ? fullState : ownState)(world.state()));
  const depth = world.depth();
  return { vectors: depth === undefined ? { state } : { state, depth } };
}

/** Places in decimetres, so that numbers are about 1. */
const d = (metres: number): number => 10 * metres;

/** The hand, its fingers and what they were told, and the bin from the hand. [7] */
function ownState({ hand: [hx, hy, hz], width, grip, bin }: WorldState): number[] {
  return [d(hx), d(hy), d(hz), width / OPEN, grip, d(bin[0] - hx), d(bin[1] - hy)];
}

/** The hand, its fingers and what they were told, the can, the can from the hand, its tilt, and the bin from the can. [14] */
function fullState({ hand: [hx, hy, hz], width, grip, can: [cx, cy, cz], upright, bin }: WorldState): number[] {
  return [
    ...[d(hx), d(hy), d(hz), width / OPEN, grip],
    ...[d(cx), d(cy), d(cz), d(cx - hx), d(cy - hy), d(cz - hz)],
    ...[upright, d(bin[0] - cx), d(bin[1] - cy)],
  ];
}
