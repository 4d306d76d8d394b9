import { existsSync } from "node:fs";
import { join } from "node:path";
import { configOf, foundPath, type RunConfig, readTree, resolvePath } from "../../config/config.js";
import { loadRegistries } from "../../config/registries.js";
import { fail, misuse } from "../../core/errors.js";
import { samplerFor } from "../../engine/policy.js";
import { loadModel } from "../../nn/model.js";
import { readPeft } from "../../nn/peft.js";
import type { Objective } from "../../rl/objective.js";
import { PROMPT_STYLES, type PromptStyle } from "../../text/prompt.js";

/** Source of the filling policy: a trained run, or a model directory, with or without an adapter in PEFT's layout. */
export type AgentSource = {
  /** Folder of contracts (docs/contracts.md): learned forms are operated as they say. By default those of the run. */
  readonly contracts?: string;
} & (
  | { readonly run: string; readonly checkpoint?: "best" | "last" | number }
  | {
      /** Absent: the model named by the config.yaml beside the adapter; without an adapter: that of the shipped one. */
      readonly model?: string;
      readonly adapter?: string;
      /** `key=value` over the config.yaml beside the adapter or the model, as `sampler.rounds=8`. */
      readonly overrides?: readonly string[];
    }
);

/** The adapter that fills in pages where no model is named. */
const SHIPPED = "models/smollm2-letters";

/** The objective for which a sampler is chosen, as in `init`; nothing is trained. */
const OBJECTIVE = "flow-grpo";

/**
 * Builds a config for a model without a run. The config.yaml beside the adapter, else beside the model, gives its
 * formats of training (sections `sampler` and `prompt`, and `plan`) and `runtime`; else defaults, with a sampler that fits the graph.
 * @throws UserError where no model is named, or the model or adapter does not exist.
 */
export async function configOfModel(source: Exclude<AgentSource, { readonly run: string }>): Promise<RunConfig> {
  const { overrides = [] } = source;
  const adapter = source.adapter ?? (source.model === undefined ? SHIPPED : undefined);
  const folders = [
    ...(adapter === undefined ? [] : [resolvePath(adapter, "adapter")]),
    ...(source.model === undefined ? [] : [resolvePath(source.model, "model")]),
  ];
  const file = folders.map((folder) => join(folder, "config.yaml")).find(existsSync);
  const kept = file === undefined ? {} : readTree(file);
  const model = source.model ?? (typeof kept.model === "string" ? kept.model : undefined);
  if (model === undefined) misuse("No model is named, and the adapter does not name its own.", { hint: "give model" });
  if (source.model === undefined && !isThere(model))
    fail(`The model of ${adapter}, ${model}, is not here.`, {
      hint: "`refusion-train fetch-smollm2` gets SmolLM2 (93 MB); or name a model",
    });
  const { plan, prompt, sampler = { kind: await samplerOf(model) }, environment, runtime } = kept;
  const style = { ...(prompt as object), ...paperStyle(environment) };
  const fresh = {
    model,
    ...(plan === undefined ? {} : { plan }),
    // one page at a time, and nothing is trained
    runtime: { rollout_precision: "auto", ...(runtime as object) },
    ...(Object.keys(style).length === 0 ? {} : { prompt: style }),
    sampler,
    objective: { kind: OBJECTIVE },
  };
  if (adapter === undefined) return configOf(fresh, "agent", { overrides });
  const { rank, alpha, targets, rows } = readPeft(resolvePath(adapter, "adapter"));
  const lora = { rank, alpha, targets, train_mask: rows !== undefined };
  return configOf({ ...fresh, init_adapter: adapter, lora }, "agent", { overrides });
}

function isThere(model: string): boolean {
  const found = foundPath(model);
  return found !== undefined && existsSync(join(found, "config.json"));
}

async function samplerOf(model: string): Promise<string> {
  const { objectives } = await loadRegistries();
  return samplerFor(await loadModel(resolvePath(model, "model")), objectives.get(OBJECTIVE) as unknown as Objective);
}

/** Returns the prompt's style of a run on paper, from its section `environment`. */
function paperStyle(environment: unknown): { readonly style?: PromptStyle } {
  const { style } = (environment ?? {}) as { readonly style?: PromptStyle };
  return style === undefined ? {} : { style };
}

/** Returns the style of a config's prompts. */
export function styleOf(config: object): PromptStyle {
  const { prompt, environment } = config as {
    readonly prompt?: { readonly style?: PromptStyle };
    environment?: unknown;
  };
  return paperStyle(environment).style ?? prompt?.style ?? PROMPT_STYLES[0];
}
