import { join } from "node:path";
import { type RunConfig, resolvePath } from "../config/config.js";
import { misuse } from "../core/errors.js";
import { Rng } from "../core/rng.js";
import { moduleOf } from "../nn/bind.js";
import { checkAdapter, freshAdapter, type LoraSite } from "../nn/lora.js";
import { ADAPTER, peftConfig, readPeft } from "../nn/peft.js";
import type { Initializer, Tensor } from "../onnx/types.js";
import { checkBase, valuesOf } from "./base-sample.js";
import type { Policy } from "./policy.js";

/**
 * Returns the initial adapter of a run: `init_adapter`, or a fresh one (which has no effect yet).
 * @throws UserError where it is missing or does not fit; never a silent fallback to the base model.
 */
export function initialAdapter(config: RunConfig, policy: Policy): ReadonlyMap<string, Tensor> {
  if (config.init_adapter === null) {
    const { dir, graph } = policy.model;
    const rowOf = ({ module, outFeatures }: LoraSite, token: number): Float32Array => {
      const table = [...graph.initializers.values()].find(
        ({ value }) => moduleOf(value.name) === module,
      ) as Initializer;
      return valuesOf(dir, table).read(token * outFeatures, (token + 1) * outFeatures);
    };
    return freshAdapter(policy.sites, policy.lora, Rng.named(config.seed, "adapter"), rowOf);
  }
  return readAdapter(resolvePath(config.init_adapter, "init_adapter"), policy);
}

/** Returns all initial parameters of training: the adapter, and fresh values of the objective's own groups. */
export function initialParameters(config: RunConfig, policy: Policy): ReadonlyMap<string, Tensor> {
  const ofObjective = policy.engine.groups.flatMap((group) => [
    ...(group.initial?.(Rng.named(config.seed, `parameters/${group.name}`)) ?? []),
  ]);
  return new Map([...initialAdapter(config, policy), ...ofObjective]);
}

/** Reads a PEFT adapter directory and checks it against the policy's model and LoRA section. */
export function readAdapter(
  dir: string,
  policy: Pick<Policy, "lora" | "sites" | "model">,
): ReadonlyMap<string, Tensor> {
  const { rank, alpha, tensors, rows } = readPeft(dir);
  const trained = policy.lora.tokens ?? [];
  if ((rows?.tokens ?? []).join() !== trained.join())
    misuse(
      `The adapter ${dir} has rows of the tokens [${rows?.tokens ?? ""}]; the config trains those of [${trained}].`,
      { hint: `Set lora.train_mask=${rows !== undefined}.` },
    );
  if (rank !== policy.lora.rank || alpha !== policy.lora.alpha)
    misuse(
      `The adapter ${dir} has r = ${rank}, lora_alpha = ${alpha}; the config says lora.rank = ${policy.lora.rank}, lora.alpha = ${policy.lora.alpha}.`,
      { hint: `Set lora.rank=${rank} lora.alpha=${alpha}.` },
    );
  checkAdapter(tensors, policy.sites, policy.lora, join(dir, ADAPTER));
  checkBase(dir, policy.model);
  return tensors;
}

/** Returns adapter_config.json of a run. */
export function adapterConfig(
  config: RunConfig,
  { model, lora, sites }: Pick<Policy, "model" | "lora" | "sites">,
): Record<string, unknown> {
  return peftConfig(
    lora,
    config.model,
    model.config.attention,
    sites.find(({ tokens }) => tokens !== undefined)?.module,
  );
}
