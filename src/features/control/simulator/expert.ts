import { CAN, PERIOD, SPEED } from "./scene.js";
import { inBin, type WorldState } from "./simulator.js";

/** Height of the hand while it moves, in metres. */
const CARRY = 0.15;

/** Computes the action of a scripted expert: over the can, down, close, up, over the bin, down, open. */
export function expertAction(s: WorldState): number[] {
  const [hx, hy, hz] = s.hand;
  const [cx, cy, cz] = s.can;
  const toCan = Math.hypot(cx - hx, cy - hy);
  const toBin = Math.hypot(s.bin[0] - cx, s.bin[1] - cy);
  const held = s.grip < 0 && s.width < CAN.radius + 0.004 && toCan < 0.02 && Math.abs(cz - hz) < 0.04;
  // only half of the distance in one step: the hand has inertia, and would overshoot
  const towards = (dx: number, dy: number, dz: number, grip: number): number[] => {
    const speed = (d: number): number => Math.max(-1, Math.min(1, (0.5 * d) / (PERIOD * SPEED)));
    return [speed(dx), speed(dy), speed(dz), grip];
  };
  if (inBin(s) && (!held || cz < 0.046)) return towards(0, 0, s.width > CAN.radius + 0.008 ? CARRY - hz : 0, 1);
  if (held) {
    if (toBin < 0.02) return towards(s.bin[0] - cx, s.bin[1] - cy, CAN.half - cz, -1);
    const high = hz > 0.11;
    return towards(high ? s.bin[0] - cx : 0, high ? s.bin[1] - cy : 0, CARRY - hz, -1);
  }
  if (toCan > 0.008) {
    const low = hz < cz + 0.06 && toCan > 0.03;
    const above = Math.max(cz + 0.09, toCan > 0.03 ? 0.12 : 0);
    return towards(low ? 0 : cx - hx, low ? 0 : cy - hy, above - hz, 1);
  }
  if (hz > cz + 0.008) return towards(cx - hx, cy - hy, cz - hz, 1);
  return towards(0, 0, 0, -1);
}
