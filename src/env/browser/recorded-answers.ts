import type { Act, Action, Observation } from "../../core/interaction.js";
import { EnvironmentFault } from "./browser.js";
import { PolicyFailure } from "./episode.js";

/** A turn that the policy has answered: a retry after a fault reuses the answer, and does not call the policy. */
export interface RecordedAnswer {
  readonly text: string;
  readonly answer: Promise<Action>;
}

/** Returns the policy's answer, or its recorded answer if the episode was tried before. */
export async function recordedAnswer(
  recorded: RecordedAnswer[],
  turn: number,
  observation: Observation,
  act: Act,
): Promise<Action> {
  const { text = "" } = observation;
  const known = recorded[turn];
  if (known !== undefined && known.text !== text)
    throw new EnvironmentFault(`turn ${turn + 1} shows another page than when it was played before`);
  recorded[turn] = known ?? { text, answer: act(observation) };
  try {
    return await (recorded[turn] as RecordedAnswer).answer;
  } catch (error) {
    throw new PolicyFailure("the policy failed", { cause: error });
  }
}
