import { UserError } from "../../../core/errors.js";
import type { PolicyText } from "../../sampler.js";
import type { FlowTrajectory } from "./trajectory.js";

/** Begins from the observation's state; its action is the last point of the path. */
export const flowPolicy: PolicyText<Float32Array, FlowTrajectory> = {
  begin({ vectors }) {
    const state = vectors?.state;
    if (state === undefined)
      throw new UserError("This environment shows no state, and the sampler flow reads nothing else.", {
        hint: "set environment.kind=control, or use a sampler of text",
        exitCode: 2,
      });
    return state;
  },
  action: ({ path }) => ({ vector: Float32Array.from(path.at(-1) as readonly number[]) }),
  example: ({ observation: { vectors }, action }) => ({
    prompt: [...(vectors?.state ?? [])],
    response: [...(action.vector ?? [])],
  }),
  units: ({ path }) => path[0]?.length ?? 0,
  metrics: ({ path }) => {
    const last = path.at(-1) as readonly number[];
    return { actions_clipped: last.filter((a) => Math.abs(a) > 1).length / last.length };
  },
};
