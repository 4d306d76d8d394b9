import type { Environment, EnvironmentTask } from "../../src/env/environment.js";

/** Makes a training task of the form `f`. */
export const trainTask = (id: string): EnvironmentTask => ({ id, split: "train", form: "f" });

/** Makes an environment that starts nothing. */
export function fakeEnvironment(
  tasks: readonly EnvironmentTask[],
  play: Environment["play"],
  changes: Partial<Environment> = {},
): Environment {
  return {
    name: "fake",
    notes: [],
    tasks,
    splitHash: () => "",
    start: async () => undefined,
    started: true,
    play,
    fixedPolicies: {},
    close: async () => undefined,
    ...changes,
  };
}
