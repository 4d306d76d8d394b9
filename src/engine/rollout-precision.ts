import { misuse } from "../core/errors.js";
import { loadFolder } from "../core/registry.js";
import type { ProviderName } from "../onnx/runtimes/messages.js";
import type { Runtime } from "../onnx/session.js";
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
  /** Returns why this machine cannot use it; undefined where it can. */
  readonly obstacle: (runtime: Runtime) => Promise<string | undefined>;
  /**
   * Converts a graph to this precision. @param adapter that is added to the weights, where the graph has none.
   * @returns undefined where the graph has nothing to convert.
   */
  readonly apply: (graph: Graph, adapter?: MergedAdapter) => Graph | undefined;
}

/** An adapter that stays as it is: A [r, in] and B [out, r] by PEFT's names, and alpha / r. */
export interface MergedAdapter {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly scale: number;
}

/**
 * Finds a precision by `runtime.rollout_precision`; undefined for float32. @param trains tells whether the policy does.
 * @throws UserError where no precision has the name, or the provider or the machine does not support it.
 */
export async function rolloutPrecisionOf(
  name: string,
  runtime: Runtime,
  trains = true,
): Promise<RolloutPrecision | undefined> {
  if (name === EXACT || (name === AUTO && trains)) return undefined;
  const known = await loadFolder<RolloutPrecision>(
    new URL("./rollout-precisions/", import.meta.url),
    "rolloutPrecision",
  );
  const whyNot = async ({ providers, obstacle }: RolloutPrecision): Promise<string | undefined> =>
    providers.includes(runtime.provider)
      ? obstacle(runtime)
      : `it is of the provider ${providers.join(" or ")}, this is ${runtime.provider}`;
  if (name === AUTO) {
    for (const precision of known.values()) if ((await whyNot(precision)) === undefined) return precision;
    return undefined;
  }
  const precision = known.get(name);
  if (precision === undefined)
    misuse(`runtime.rollout_precision is ${name}, expected ${[EXACT, AUTO, ...known.keys()].join(" or ")}.`);
  const why = await whyNot(precision);
  const hint = `Set runtime.rollout_precision=${EXACT}.`;
  if (why !== undefined) misuse(`runtime.rollout_precision=${name} cannot be used: ${why}.`, { hint });
  const nothing = `runtime.rollout_precision=${name} changes nothing here: a model in 4 bits, or one that is trained whole, is generated with as it is.`;
  return { ...precision, apply: (graph, adapter) => precision.apply(graph, adapter) ?? misuse(nothing, { hint }) };
}
