import { misuse } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import type { ProviderName } from "../onnx/runtimes/messages.js";
import type { Graph, Tensor } from "../onnx/types.js";

/** Rollouts in the precision of scoring, that of the model's graph. */
export const EXACT = "float32";

/** The fastest precision of the provider for a policy that is not trained. */
const AUTO = "auto";

/**
 * A precision for faster, less exact rollouts; scoring stays exact. Each file under rollout-precisions/ exports one as
 * `rolloutPrecision`. Objectives correct for it by importance weights (`objective.importance_cap`).
 */
export interface RolloutPrecision {
  readonly providers: readonly ProviderName[];
  /** Converts a graph to this precision. @param adapter that is added to the weights, where the graph has none. */
  readonly apply: (graph: Graph, adapter?: MergedAdapter) => Graph;
}

/** An adapter that stays as it is: A [r, in] and B [out, r] by PEFT's names, and alpha / r. */
export interface MergedAdapter {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly scale: number;
}

/**
 * Finds a precision by `runtime.rollout_precision`; undefined for float32. @param trains tells whether the policy does.
 * @throws UserError where no precision has the name, or the provider does not support it.
 */
export async function rolloutPrecisionOf(
  name: string,
  provider: ProviderName,
  trains = true,
): Promise<RolloutPrecision | undefined> {
  if (name === EXACT || (name === AUTO && trains)) return undefined;
  const known = await loadFolder<RolloutPrecision>(
    new URL("./rollout-precisions/", import.meta.url),
    "rolloutPrecision",
  );
  if (name === AUTO) return [...known.values()].find(({ providers }) => providers.includes(provider));
  const precision = known.get(name);
  if (precision === undefined)
    misuse(`runtime.rollout_precision is ${name}, expected ${[EXACT, AUTO, ...known.keys()].join(" or ")}.`);
  if (precision.providers.includes(provider)) return precision;
  misuse(
    `runtime.rollout_precision=${name} is of the provider ${precision.providers.join(" or ")}, this is ${provider}.`,
    {
      hint: `Set runtime.rollout_precision=${EXACT}.`,
    },
  );
}
