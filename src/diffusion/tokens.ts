/** Special tokens. Mask and pad are never sampled. */
export interface TokenIds {
  readonly mask: number;
  readonly pad: number;
  readonly eos: number;
}

/** Facts of a model that its sampler reads. */
export interface SampledModel {
  readonly tokens: TokenIds;
  /** Vocabulary entries. */
  readonly vocabulary: number;
  /** `bidirectional`: a token sees those behind it in the buffer too; `causal`: it does not. */
  readonly attention: "causal" | "bidirectional";
  /** Positions of a block: of a bidirectional model a token sees its own block and those before; absent: everything. */
  readonly block?: number | undefined;
  /** The config.json of a network that reads no tokens: its sampler knows what it says. */
  readonly network?: Readonly<Record<string, unknown>>;
}
