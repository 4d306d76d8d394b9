export interface ScheduleOptions {
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly schedule: "constant" | "linear" | "cosine";
  readonly steps: number;
  /** Start of the decay, as a share of all steps. */
  readonly decayFrom: number;
  /** The final learning rate as a share of the initial one. */
  readonly minLrRatio: number;
}

/** Returns the learning rate of step t = 1..steps: linear warm-up, constant to `decayFrom`, linear or cosine decay. */
export function learningRate(t: number, o: ScheduleOptions): number {
  const warm = o.warmupSteps > 0 ? Math.min(1, t / o.warmupSteps) : 1;
  const start = Math.max(o.warmupSteps, Math.round(o.decayFrom * o.steps));
  if (o.schedule === "constant" || t <= start) return o.learningRate * warm;
  // the warm-up has ended here
  const x = Math.min(1, (t - start) / Math.max(1, o.steps - start));
  const remaining = o.schedule === "linear" ? 1 - x : 0.5 * (1 + Math.cos(Math.PI * x));
  return o.learningRate * (o.minLrRatio + (1 - o.minLrRatio) * remaining);
}
