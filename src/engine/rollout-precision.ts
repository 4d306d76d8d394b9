import { misuse } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import type { ProviderName } from "../onnx/runtimes/messages.js";
import type { Graph } from "../onnx/types.js";

/** Rollouts in the precision of scoring, that of the model's graph. */
export const EXACT = "float32";

/**
 * A precision for faster, less exact rollouts; scoring stays exact. Each file under rollout-precisions/ exports one as
 * `rolloutPrecision`. Objectives correct for it by importance weights (`objective.importance_cap`).
 */
export interface RolloutPrecision {
  readonly providers: readonly ProviderName[];
  /** Converts a graph to this precision. @param dir of the model's weights. */
  readonly apply: (graph: Graph, dir: string) => Graph;
}

/**
 * Finds a precision by `runtime.rollout_precision`; undefined for float32.
 * @throws UserError where no precision has the name, or the provider does not support it.
 */
export async function rolloutPrecisionOf(name: string, provider: ProviderName): Promise<RolloutPrecision | undefined> {
  if (name === EXACT) return undefined;
  const known = await loadFolder<RolloutPrecision>(
    new URL("./rollout-precisions/", import.meta.url),
    "rolloutPrecision",
  );
  const precision = known.get(name);
  if (precision === undefined)
    misuse(`runtime.rollout_precision is ${name}, expected ${[EXACT, ...known.keys()].join(" or ")}.`);
  if (precision.providers.includes(provider)) return precision;
  misuse(
    `runtime.rollout_precision=${name} is of the provider ${precision.providers.join(" or ")}, this is ${provider}.`,
    {
      hint: `Set runtime.rollout_precision=${EXACT}.`,
    },
  );
}
