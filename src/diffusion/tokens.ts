/** Special tokens. Mask and pad are never sampled. */
export interface TokenIds {
  readonly mask: number;
  readonly pad: number;
  readonly eos: number;
}

/** What a sampler must know of its model. */
export interface SampledModel {
  readonly tokens: TokenIds;
  /** Vocabulary entries. */
  readonly vocabulary: number;
  /** Whether a token sees what lies behind it in the buffer. */
  readonly attention: "causal" | "bidirectional";
  /** The config.json of a network that reads no tokens: its sampler knows what it says. */
  readonly network?: Readonly<Record<string, unknown>>;
}
