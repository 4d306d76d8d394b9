import type { TokenBuffer } from "../../attention/rows.js";
import { Canvas } from "../template.js";

/** Length in tokens beyond which buckets grow coarser. */
const FINE = 256;

/**
 * Returns the smallest multiple of `step` that is at least `length`. Beyond 256 tokens the step doubles with the
 * length, so that every doubling adds the same small number of bucket lengths.
 */
export function bucketLength(length: number, step = 32): number {
  const doublings = Math.max(0, Math.ceil(Math.log2(length / FINE)));
  const unit = step * 2 ** doublings;
  return Math.max(1, Math.ceil(length / unit)) * unit;
}

/** Builds a buffer entry by entry: the prompt first, at positions 0, 1, ..., then the entries of a canvas. */
export class BufferBuilder implements TokenBuffer {
  readonly ids: number[];
  readonly positions: number[];
  readonly prefix: number[];
  readonly from: number[];
  readonly start: number;
  private readonly offset: number;

  constructor(
    prompt: readonly number[],
    private readonly canvas: Canvas = Canvas.FREE,
  ) {
    this.offset = prompt.length;
    this.ids = [...prompt, ...canvas.given.map(([, token]) => token)];
    this.positions = [...prompt.keys(), ...canvas.given.map(([position]) => prompt.length + position)];
    this.start = this.ids.length;
    this.prefix = this.ids.map(() => 0);
    this.from = this.ids.map(() => 0);
  }

  get length(): number {
    return this.ids.length;
  }

  /**
   * Sorts the entries by position; each then sees its own block of `size` positions and the blocks before it (BD3-LM,
   * arXiv 2503.09573). @returns new index of each entry.
   */
  inBlocks(size: number): number[] {
    const { ids, positions } = this;
    const order = [...ids.keys()].sort((a, b) => (positions[a] as number) - (positions[b] as number));
    const sorted = order.map((n) => [ids[n] as number, positions[n] as number] as const);
    const blocks = sorted.map(([, position]) => Math.floor(position / size));
    sorted.forEach(([id, position], n) => {
      ids[n] = id;
      positions[n] = position;
      this.prefix[n] = blocks.lastIndexOf(blocks[n] as number) + 1;
    });
    const places: number[] = [];
    order.forEach((n, place) => {
      places[n] = place;
    });
    return places;
  }

  /**
   * Appends the token of a cell (without a template: of a response position, from 0). It sees all entries before it, or
   * those of `prefix` and `from` ({@link TokenBuffer}). @returns its buffer index.
   */
  push(token: number, cell: number, prefix = 0, from = 0): number {
    this.positions.push(this.offset + this.canvas.position(cell));
    this.prefix.push(prefix);
    this.from.push(from);
    return this.ids.push(token) - 1;
  }
}
