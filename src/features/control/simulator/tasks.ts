import { createHash } from "node:crypto";
import { Rng } from "../../../core/rng.js";
import type { EnvironmentTask, Split } from "../../../env/environment.js";
import type { StartState } from "./simulator.js";

/** A start state to pick the can from. */
export interface ControlTask extends EnvironmentTask {
  readonly start: StartState;
}

/** The place where the can may stand: metres. `heldout` begins where `train` ends. */
const PICK = { x: [-0.24, -0.08], y: 0.13, outside: 0.19 } as const;

/** The tasks of a seed: `counts` start states of each split, of which no two are the same. */
export function controlTasks(seed: number, counts: Readonly<Record<Split, number>>): ControlTask[] {
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

/** SHA-256 over every task with its start state. */
export function hashOf(tasks: readonly ControlTask[]): string {
  return createHash("sha256").update(JSON.stringify(tasks)).digest("hex");
}
