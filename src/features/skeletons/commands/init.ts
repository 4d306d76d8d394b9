import { type CliCommand, type CliContext, shellWord } from "../../../cli/shared.js";
import { configOf, resolvePath } from "../../../config/config.js";
import { applyOverrides, parseOverrides } from "../../../config/overrides.js";
import { loadRegistries } from "../../../config/registries.js";
import { misuse, nearest } from "../../../core/errors.js";
import type { SiteKind } from "../../../env/site.js";
import type { Objective } from "../../../rl/objective.js";
import { assertNew, writeNew } from "../new-file.js";

interface InitFlags {
  readonly model: string;
  readonly site: string;
  readonly out: string;
}

/** `refusion-train init`: writes a commented config for a model and a site, with every key and its default. */
export const command: CliCommand = {
  register(program, context) {
    program
      .description("write a commented config for a model and a site, with every key")
      .argument("[objective]", "what to train with; default: flow-grpo, or sft for a plain causal language model")
      .argument("[overrides...]", "key=value, in place of a default: site.path=DIR training.steps=40")
      .option("-m, --model <dir>", "model directory", "models/tiny-refusion-template")
      .option("-s, --site <kind>", "the forms: embedded, formfactory, url ...", "embedded")
      .requiredOption("-o, --out <file>", "the file to write; never overwritten")
      .action((objective: string | undefined, overrides: string[], flags: InitFlags) =>
        objective?.includes("=")
          ? init(undefined, [objective, ...overrides], flags, context)
          : init(objective, overrides, flags, context),
      );
  },
};

/** The sampler of a plain causal language model: it writes each blank as it writes texts, and has seen no masks. */
const NEXT_TOKEN = { kind: "unmask", order: "blanks", slot_fill: "next-token", rounds: 32, constrained_decoding: true };

async function init(
  wanted: string | undefined,
  overrides: readonly string[],
  { model, site, out }: InitFlags,
  context: CliContext,
): Promise<void> {
  // loaded on use: help must not wait for them
  const { samplerFor } = await import("../../../engine/policy.js");
  const { configTemplate } = await import("../template.js");
  const { isPlainCausal, loadModel } = await import("../../../nn/model.js");
  const loaded = await loadModel(resolvePath(model, "--model"));
  const isCausal = isPlainCausal(loaded);
  const objective = wanted ?? (isCausal ? "sft" : "flow-grpo");
  // a network without tokens needs its environment
  const network = loaded.config.reads_tokens === false ? { environment: { kind: "control" } } : {};
  const registries = await loadRegistries(applyOverrides(network, parseOverrides(overrides)));
  const chosen = registries.objectives.get(objective) as Objective | undefined;
  if (chosen === undefined) {
    const known = [...registries.objectives.keys()];
    const close = nearest(objective, known);
    const next = close === undefined ? {} : { hint: `did you mean ${close}?` };
    misuse(`Unknown objective ${objective}; known: ${known.join(", ")}.`, next);
  }
  assertNew(out, "--out");
  const sampler = isCausal ? NEXT_TOKEN : { kind: await samplerFor(loaded, chosen) };
  const forms = registries.sections.has("site") ? { site: { kind: site } } : {};
  const values = { model, ...network, ...forms, sampler };
  const read = (more: object) => configOf({ ...values, ...more }, out, { command: objective, overrides, registries });
  const drafted = await read({});
  const section = registries.sections.get("site");
  const kinds = section !== undefined && "entries" in section ? section.entries : undefined;
  const { kind = "", ...rest } = (drafted as { readonly site?: { readonly kind: string } }).site ?? {};
  const entry = kinds?.get(kind) as SiteKind | undefined;
  const splits = entry?.splits?.(rest)?.filter((split) => split !== "train");
  const config = splits === undefined ? drafted : await read({ evaluation: { splits } });
  const text = configTemplate(config, objective, shellWord(out), registries);
  writeNew(out, text);
  context.print(out);
  context.log(`next: refusion-train ${objective} --config ${shellWord(out)} --dry-run`);
  if (isCausal && objective !== "sft")
    context.log(
      `${model} was not trained to fill in forms: begin with \`refusion-train init sft\`, or with init_adapter`,
    );
}
