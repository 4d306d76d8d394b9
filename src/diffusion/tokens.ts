/** Special tokens. Mask and pad are never sampled. */
export interface TokenIds {
  readonly mask: number;
  readonly pad: number;
  readonly eos: number;
}
