import type { UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";

/** Makes a trajectory of two rounds: slots of two tokens, the even ones first, with log-probability -1 per token. */
export function plainTrajectory(
  prompt: readonly number[],
  response: readonly number[],
  responseLength = 8,
): UnmaskTrajectory {
  const rounds = [0, 1].map((parity) => {
    const positions = response.flatMap((_, i) => (Math.floor(i / 2) % 2 === parity ? [i] : []));
    return {
      positions,
      tokens: positions.map((i) => response[i] as number),
      logProbs: positions.map(() => -1),
      eosAllowed: positions.map(() => true),
    };
  });
  return { prompt, slotSize: 2, responseLength, temperature: 1, rounds, response, ended: "eos" };
}
