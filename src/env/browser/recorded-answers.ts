import type { Act, Action, Observation } from "../../core/interaction.js";
import { EnvironmentFault } from "./browser.js";
import { PolicyFailure } from "./episode.js";

/** The question and the answer of one turn: a retry after a fault plays it again without asking again. */
export interface Asked {
  readonly text: string;
  readonly answer: Promise<Action>;
}

/** Returns the policy's answer, or its recorded answer if the episode was tried before. */
export async function answered(asked: Asked[], turn: number, observation: Observation, act: Act): Promise<Action> {
  const { text = "" } = observation;
  const before = asked[turn];
  if (before !== undefined && before.text !== text)
    throw new EnvironmentFault(`turn ${turn + 1} shows another page than when it was played before`);
  asked[turn] = before ?? { text, answer: act(observation) };
  try {
    return await (asked[turn] as Asked).answer;
  } catch (error) {
    throw new PolicyFailure("the policy failed", { cause: error });
  }
}
