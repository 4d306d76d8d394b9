import type { Phase } from "../../../watch/watcher.js";

/** Holds what the page asks for every second. */
export interface LiveState {
  /** Grows with every step; charts and rollouts come only where the page has not seen it yet. */
  readonly version: number;
  readonly name: string;
  readonly command: string;
  readonly step: number;
  readonly steps: number;
  readonly reward: number | null;
  readonly success: number | null;
  readonly kl: number | null;
  readonly loss: number | null;
  readonly eta: number | null;
  readonly phase: Phase | null;
  readonly notes: readonly string[];
  readonly charts?: string;
  readonly rollouts?: string;
}
