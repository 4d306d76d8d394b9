/**
 * The unmasking policy's rules about slots, as pure functions: the sampler applies them, the validator of recorded
 * trajectories checks them. A slot is `slotSize` neighbouring positions of the response canvas; slots are revealed whole.
 */

/**
 * Number of slots that each round reveals: `int((t+1)S/T) - int(tS/T)`, rounds that would reveal none left out.
 * The budget never carries over: the leftmost slot still open is always eligible, so a round always spends it all.
 * @returns min(slots, rounds) positive numbers that add up to `slots`.
 */
export function revealSchedule(slots: number, rounds: number): number[] {
  const schedule: number[] = [];
  // more rounds than slots reveal a slot each, and nothing in between
  const taken = Math.min(rounds, slots);
  for (let t = 0; t < taken; t++) {
    const budget = Math.floor(((t + 1) * slots) / taken) - Math.floor((t * slots) / taken);
    if (budget > 0) schedule.push(budget);
  }
  return schedule;
}

/** The blank of a slot; without a template there is one. */
type BlankOf = (slot: number) => number;
const ONE: BlankOf = () => 0;

/**
 * Takes the best-scoring eligible open slot until `budget` slots are taken. A slot that wants EOS is eligible only when
 * every open slot of its blank to its left is taken. Ties go to the lower slot.
 * @param scores one finite number a slot, from the distribution before sampling only.
 * @returns one flag a slot.
 */
export function selectSlots(
  scores: ArrayLike<number>,
  wantsEos: readonly boolean[],
  open: readonly boolean[],
  budget: number,
  blankOf: BlankOf = ONE,
): boolean[] {
  const selected = open.map(() => false);
  for (let taken = 0; taken < budget; taken++) {
    let best = -1;
    let blank = -1;
    for (let slot = 0; slot < open.length; slot++) {
      if (!open[slot] || selected[slot]) continue;
      const isFirst = blankOf(slot) !== blank;
      blank = blankOf(slot);
      if (wantsEos[slot] && !isFirst) continue;
      if (best < 0 || (scores[slot] as number) > (scores[best] as number)) best = slot;
    }
    if (best < 0) break;
    selected[best] = true;
  }
  return selected;
}

/**
 * Slots in which EOS may be sampled: at a selected slot with no open slot of its blank left unselected to its left (else the value
 * would have a hole) and no slot of it committed earlier to its right (else a committed token would follow the end).
 * @param open the slots open before the round.
 * @returns one flag a slot; false where the slot is not selected.
 */
export function eosAllowedSlots(
  open: readonly boolean[],
  selected: readonly boolean[],
  blankOf: BlankOf = ONE,
): boolean[] {
  return selected.map((taken, slot) => {
    const isHere = (other: number): boolean => blankOf(other) === blankOf(slot);
    const hole = open.findIndex((isOpen, other) => isHere(other) && isOpen && !selected[other]);
    const lastCommitted = open.findLastIndex((isOpen, other) => isHere(other) && !isOpen);
    return taken && (hole < 0 || slot < hole) && slot > lastCommitted;
  });
}
