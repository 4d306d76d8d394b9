/** The work that gpu-check measures: shapes of a model and of its batches, and the time of the arithmetic alone. */

/** The shape of the published ReFusion (Qwen3-8B), and one that a test can run on a CPU. */
export const SIZES = {
  "8b": {
    layers: 36,
    hidden: 4096,
    heads: 32,
    "kv-heads": 8,
    "head-dim": 128,
    ffn: 12288,
    vocab: 151671,
    prompt: 128,
    response: 384,
    rounds: 64,
    "slot-size": 4,
    group: 4,
    "rounds-per-update": 8,
  },
  tiny: {
    layers: 2,
    hidden: 64,
    heads: 4,
    "kv-heads": 2,
    "head-dim": 16,
    ffn: 128,
    vocab: 1024,
    prompt: 16,
    response: 32,
    rounds: 4,
    "slot-size": 4,
    group: 4,
    "rounds-per-update": 2,
  },
};

/** Monte Carlo samples M of ESPO; each draw comes with its complement. */
export const MC_SAMPLES = 2;

/** Computes the FLOP of one forward over prompt and response; only the response's rows go through the head. */
export function forwardFlop(s) {
  const n = s.prompt + s.response;
  const q = s.heads * s["head-dim"];
  const kv = s["kv-heads"] * s["head-dim"];
  const layer = s.hidden * (2 * q + 2 * kv) + 3 * s.hidden * s.ffn;
  const attention = s.layers * 2 * n * n * q; // a causal mask leaves half of the scores and of their products with v
  return 2 * n * s.layers * layer + attention + 2 * s.response * s.hidden * s.vocab;
}

/**
 * Computes the seconds of each phase's forwards and backwards at an arithmetic rate, without recomputation or KV cache.
 * A backward pass for adapters costs one forward, since the gradients of the base weights are not computed.
 */
export function limits(s, tflops) {
  const forward = forwardFlop(s) / (tflops * 1e12);
  const rounds = s["rounds-per-update"] * s.group;
  const masks = 2 * MC_SAMPLES * s.group;
  return {
    forward,
    rollout: s.rounds * s.group * forward,
    flowGrpo: { values: rounds * forward, update: 2 * rounds * forward },
    espo: { values: 2 * masks * forward, update: 2 * masks * forward },
  };
}
