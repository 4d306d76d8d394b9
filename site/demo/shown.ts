import { reveals, type UnmaskTrajectory } from "../../src/diffusion/samplers/unmask/trajectory.js";
import { isRoom } from "../../src/diffusion/template.js";
import { spell } from "../../src/text/token-text.js";
import type { Tokenizer } from "../../src/text/tokenizer.js";
import type { ShownCell, ShownPart } from "./messages.js";

/** The canvas of a rollout as a page shows it: given texts, and the cells of blanks with the round of each. */
export function shownParts(
  trajectory: UnmaskTrajectory,
  tokenizer: Pick<Tokenizer, "decode">,
  eos: number,
): ShownPart[] {
  const drawn = new Map(reveals(trajectory).map((reveal) => [reveal.position, reveal]));
  let cell = 0;
  return (trajectory.template ?? []).map((part): ShownPart => {
    if (!isRoom(part)) return { text: tokenizer.decode(part) };
    const own = Array.from({ length: part.room }, () => drawn.get(cell++));
    const tokens = own.flatMap((one) => (one === undefined || one.token === eos ? [] : [one.token]));
    const texts = spell(tokens, tokenizer);
    let i = 0;
    const cells = own.map((one): ShownCell => {
      if (one === undefined) return { text: "", round: -1, logProb: 0, isEnd: false };
      const isEnd = one.token === eos;
      return { text: isEnd ? "" : (texts[i++] ?? ""), round: one.step, logProb: one.logProb ?? 0, isEnd };
    });
    return { name: part.name, cells };
  });
}
