/**
 * Describes the canvas of a rollout for display: given texts, and the cells of blanks with the round of each. The
 * caller passes the project's functions: the demo imports them from the sources, the picture from the compiled modules.
 * @returns {import("./messages.js").ShownPart[]}
 */
export function shownParts(trajectory, tokenizer, eos, { reveals, isRoom, spell }) {
  const drawn = new Map(reveals(trajectory).map((reveal) => [reveal.position, reveal]));
  let cell = 0;
  return (trajectory.template ?? []).map((part) => {
    if (!isRoom(part)) return { text: tokenizer.decode(part) };
    const own = Array.from({ length: part.room }, () => drawn.get(cell++));
    const tokens = own.flatMap((one) => (one === undefined || one.token === eos ? [] : [one.token]));
    const texts = spell(tokens, tokenizer);
    let i = 0;
    const cells = own.map((one) => {
      if (one === undefined) return { text: "", round: -1, logProb: 0, isEnd: false };
      const isEnd = one.token === eos;
      return { text: isEnd ? "" : (texts[i++] ?? ""), round: one.step, logProb: one.logProb ?? 0, isEnd };
    });
    return { name: part.name, cells };
  });
}
