import { z } from "zod";
import { misuse } from "../../../core/errors.js";
import type { Spaces } from "../../../core/interaction.js";
import type { PolicyText } from "../../../diffusion/sampler.js";
import type { SampledModel } from "../../../diffusion/tokens.js";
import type { FlowTrajectory } from "./trajectory.js";

const networkSchema = z.looseObject({
  state_size: z.int(),
  depth: z.int().default(0),
  action_size: z.int(),
  chunk: z.int(),
});

/** Reads the sizes of a velocity field over actions; undefined for other models. */
export const networkOf = ({ network }: SampledModel): z.output<typeof networkSchema> | undefined =>
  networkSchema.safeParse(network).data;

/** The policy's start is the state followed by the depth image; its action is the last point of the path. */
export const flowPolicy: PolicyText<Float32Array, FlowTrajectory> = {
  begin({ vectors }) {
    const { state, depth } = vectors ?? {};
    if (state === undefined)
      misuse("This environment shows no state, and the sampler flow reads nothing else.", {
        hint: "set environment.kind=control, or use a sampler of text",
      });
    return depth === undefined ? state : Float32Array.of(...state, ...depth);
  },
  refuses(spaces, model) {
    const network = networkOf(model);
    if (network === undefined) return undefined;
    const differences = differencesOf(spaces, network);
    if (differences.length === 0) return undefined;
    return {
      reason: `The model does not fit the environment: ${differences.join("; ")}.`,
      hint: "set what is named in the section environment as the model has it, or make a model with the environment's sizes: refusion-train new-model (docs/environments.md)",
    };
  },
  action: ({ path }) => ({ vector: Float32Array.from(path.at(-1) as readonly number[]) }),
  example: ({ observation: { vectors }, action }) => ({
    prompt: [...(vectors?.state ?? []), ...(vectors?.depth ?? [])],
    response: [...(action.vector ?? [])],
  }),
  units: ({ path }) => path[0]?.length ?? 0,
  metrics: ({ path }) => {
    const last = path.at(-1) as readonly number[];
    return { actions_clipped: last.filter((a) => Math.abs(a) > 1).length / last.length };
  },
};

/** Lists differences between an environment's spaces and a network's sizes, with the names of both settings. */
function differencesOf({ observation, action }: Spaces, network: z.output<typeof networkSchema>): string[] {
  const { state_size: stateSize, depth, action_size: actionSize, chunk } = network;
  const [shownState = 0] = observation.state ?? [];
  const [shownDepth = 0] = observation.depth ?? [];
  const image = (side: number): string => (side === 0 ? "no depth image" : `a depth image of ${side} x ${side}`);
  const differences = [
    shownState !== stateSize &&
      `it shows a state of ${shownState} numbers (environment.state), and the model reads ${stateSize} (state_size)`,
    shownDepth !== depth &&
      `it shows ${image(shownDepth)} (environment.depth=${shownDepth}), and the model reads ${image(depth)} (depth: ${depth})`,
    action[0] !== chunk &&
      `it takes ${action[0]} actions at once (environment.chunk), and the model answers ${chunk} (chunk)`,
    action[1] !== actionSize &&
      `its actions have ${action[1]} numbers, and those of the model ${actionSize} (action_size)`,
  ];
  return differences.filter((sentence) => sentence !== false);
}
