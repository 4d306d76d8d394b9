import { misuse } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import type { ProviderName } from "../onnx/runtimes/messages.js";
import type { Graph } from "../onnx/types.js";

/** Rollouts in the precision of scoring: as the model's graph is. */
const EXACT = "float32";

/**
 * One file under rollout-precisions/ exports one of these as `rolloutPrecision`: rollouts are computed faster and less
 * exactly than they are scored. Objectives correct for it by importance weights (`objective.importance_cap`).
 */
export interface RolloutPrecision {
  readonly providers: readonly ProviderName[];
  /** The graph in this precision. @param dir of the model, where its weights lie. */
  readonly apply: (graph: Graph, dir: string) => Graph;
}

/**
 * Finds a precision by `runtime.rollout_precision`; undefined for float32.
 * @throws UserError where there is none of the name, or it is not of the provider.
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
