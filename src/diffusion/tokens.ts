/** Special tokens. Mask and pad are never sampled. */
export interface TokenIds {
  readonly mask: number;
  readonly pad: number;
  readonly eos: number;
  /** Further tokens that end a text: their probability counts as that of `eos`, which is written in their place. */
  readonly furtherEos?: readonly number[];
}

/** Facts of a model for its sampler. */
export interface SampledModel {
  readonly tokens: TokenIds;
  /** Vocabulary size. */
  readonly vocabulary: number;
  /** `bidirectional`: a token sees later tokens of the buffer too; `causal`: it does not. */
  readonly attention: "causal" | "bidirectional";
  /** True where the graph gives a row the logits of the entry before it, as Dream's does; absent: its own. */
  readonly shifted?: true;
  /** Positions per block: in a bidirectional model a token sees its own block and earlier ones; absent: everything. */
  readonly block?: number | undefined;
  /** The config.json of a network without tokens, which its sampler interprets. */
  readonly network?: Readonly<Record<string, unknown>>;
}
