/**
 * The unmasking policy's rules about slots, as pure functions, for the sampler and for the validator of recorded
 * trajectories. A slot is `slotSize` neighbouring positions of the response canvas; slots are revealed whole.
 */

/**
 * Returns the number of slots that each round reveals: `int((t+1)S/T) - int(tS/T)`, without empty rounds. The budget
 * never carries over: the leftmost open slot is always eligible, so that a round always spends all of it.
 * @returns min(slots, rounds) positive numbers with the sum `slots`.
 */
export function revealSchedule(slots: number, rounds: number): number[] {
  const schedule: number[] = [];
  // with more rounds than slots, each round reveals one slot
  const count = Math.min(rounds, slots);
  for (let t = 0; t < count; t++) {
    const budget = Math.floor(((t + 1) * slots) / count) - Math.floor((t * slots) / count);
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
 * @param scores one finite number per slot, from the distribution before sampling only.
 * @returns one flag per slot.
 */
export function selectSlots(
  scores: ArrayLike<number>,
  wantsEos: readonly boolean[],
  open: readonly boolean[],
  budget: number,
  blankOf: BlankOf = ONE,
): boolean[] {
  const selected = open.map(() => false);
  for (let count = 0; count < budget; count++) {
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
 * Returns the slots where EOS may be sampled: selected slots with no unselected open slot of their blank to the left
 * (else the value has a hole) and no earlier committed slot of it to the right (else a token follows the end).
 * @param open the slots open before the round.
 * @returns one flag per slot; false where the slot is not selected.
 */
export function eosAllowedSlots(
  open: readonly boolean[],
  selected: readonly boolean[],
  blankOf: BlankOf = ONE,
): boolean[] {
  return selected.map((isSelected, slot) => {
    const isHere = (other: number): boolean => blankOf(other) === blankOf(slot);
    const hole = open.findIndex((isOpen, other) => isHere(other) && isOpen && !selected[other]);
    const lastCommitted = open.findLastIndex((isOpen, other) => isHere(other) && !isOpen);
    return isSelected && (hole < 0 || slot < hole) && slot > lastCommitted;
  });
}
