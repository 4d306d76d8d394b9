import { UserError } from "../core/errors.js";
import type { Action, Observation } from "../core/interaction.js";
import { spell } from "../text/token-text.js";
import type { Tokenizer } from "../text/tokenizer.js";
import type { PolicyText } from "./sampler.js";
import type { SampledModel } from "./tokens.js";
import type { TokenTrajectory } from "./trajectory.js";

/** What all samplers of text have in common: they begin from a prompt's tokens, and their action is the response's text. */
export const textPolicy: PolicyText<readonly number[], TokenTrajectory> = {
  begin({ text }: Observation, tokenizer: Tokenizer | undefined): readonly number[] {
    if (text === undefined)
      throw new UserError("This environment shows no text, and the sampler reads nothing else.", {
        hint: "use a sampler of the environment's kind (sampler.kind)",
        exitCode: 2,
      });
    return needed(tokenizer).encode(text);
  },
  action({ response }: TokenTrajectory, tokenizer: Tokenizer | undefined, { tokens }: SampledModel): Action {
    return { text: needed(tokenizer).decode(response.filter((token) => token !== tokens.eos)) };
  },
  offsets(
    { response }: TokenTrajectory,
    tokenizer: Tokenizer | undefined,
    { tokens }: SampledModel,
  ): readonly number[] {
    const written = response.filter((token) => token !== tokens.eos);
    let end = 0;
    const ends = spell(written, needed(tokenizer)).map((text) => {
      end += text.length;
      return end;
    });
    // EOS is only ever the last token
    return response.map((_, i) => ends[i - 1] ?? 0);
  },
  length: (prompt) => prompt.length,
  units: ({ response }) => response.length,
  metrics: ({ response, ended }) => ({ response_length: response.length, ended_by_eos: Number(ended === "eos") }),
};

function needed(tokenizer: Tokenizer | undefined): Tokenizer {
  if (tokenizer === undefined)
    throw new UserError("The model reads no tokens, and the sampler writes text.", {
      hint: "set sampler.kind=flow",
      exitCode: 2,
    });
  return tokenizer;
}
