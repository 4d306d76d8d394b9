import { z } from "zod";
import { SPLITS } from "../env/environment.js";
import { isPlainObject } from "./overrides.js";

/**
 * The schema of a whole run. Every key but `model` has a default, and each has a description, which `init` and `--help`
 * print. Some sections belong to plug-ins, one file each, and are looked up by their `kind` when a config is loaded:
 * `objective` (src/rl/objectives), `sampler` (src/diffusion/samplers), `environment` (src/env/environments) with the
 * further sections that it reads (`site`, `prompt`, `browser`, `reward` of forms), and `tracking` (`trackers/`, one key
 * a file). A kind may also be the path of a user's own module.
 */

/** The section of a plug-in: a plain object schema with defaults, made strict here. */
export interface PlugIn {
  readonly schema: z.ZodObject;
}

export interface ObjectivePlugIn extends PlugIn {
  readonly name: string;
  readonly description: string;
  /** Returns keys and sections that it does not read, with the reason. */
  unread?(options: object, config?: object): Readonly<Record<string, string>>;
}

export interface Registries {
  readonly objectives: ReadonlyMap<string, ObjectivePlugIn>;
  readonly samplers: ReadonlyMap<string, PlugIn>;
  readonly environments: ReadonlyMap<string, PlugIn & { readonly sections?: Readonly<Record<string, unknown>> }>;
  /** Sections that the config's environment and the executors read, by name. */
  readonly sections: ReadonlyMap<string, SectionOf>;
  readonly trackers: ReadonlyMap<string, { readonly schema: z.ZodType }>;
  /** Relations between keys of sections that plug-ins add. */
  readonly relations?: readonly Relation[];
}

/** A section that an environment reads: a single schema, or one looked up by its `kind`. */
export type SectionOf =
  | { readonly schema: z.ZodType; readonly description: string }
  | { readonly entries: ReadonlyMap<string, PlugIn>; readonly default: string; readonly description: string };

export const DEFAULT_SAMPLER = "unmask";
export const DEFAULT_ENVIRONMENT = "forms";

/** Most steps, threads or seeds: a larger number is a slip. */
const MOST = 2 ** 32;
const count = (): z.ZodNumber => z.int().min(0).max(MOST);
const positiveCount = (): z.ZodNumber => z.int().min(1).max(10_000_000);
/** Size of a step or a batch, bounded so that a typing error does not end as a failed allocation. */
const size = (least = 1): z.ZodNumber => z.int().min(least).max(100_000);

const lora = z.strictObject({
  rank: size().default(8).describe("rank r of the update B A"),
  alpha: z.number().positive().default(16).describe("the update is scaled by alpha / rank"),
  targets: z
    .array(z.string().min(1))
    .min(1)
    .nullable()
    .default(null)
    .describe("projections that get an adapter, by the end of their name, as PEFT; null = those of the architecture"),
  train_mask: z
    .boolean()
    .default(false)
    .describe("train the mask token's row of the embeddings as well: a model that was no diffusion model has no mask"),
});

const runtime = z.strictObject({
  provider: z
    .enum(["auto", "cpu", "cuda", "webgpu"])
    .default("auto")
    .describe("execution provider; auto = the fastest one that works"),
  threads: count().max(1024).default(0).describe("threads inside one operator; 0 = physical cores"),
  precision: z
    .enum(["auto", "float32", "bfloat16", "float16"])
    .default("auto")
    .describe(
      "of a model's layers on CUDA; auto = bfloat16 where its weights are stored in 16 or 4 bits, else float32",
    ),
  rollout_precision: z
    .enum(["auto", "float32", "int8"])
    .default("float32")
    .describe(
      "precision that answers are generated in: float32, or int8 on the CPU, which is up to three times as fast; auto = int8 where nothing is trained. Its probabilities differ, which objective.importance_cap corrects. Scoring keeps full precision",
    ),
  binding: z
    .enum(["auto", "npm", "c-api"])
    .default("auto")
    .describe(
      "how ONNX Runtime is called; auto = its C API on CUDA, where tensors stay on the device, else npm's binding",
    ),
  memory_gib: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe(
      "memory of the process, or of the GPU, that graphs are kept within, in GiB: those used least lately are released, and training computes activations again; null = any",
    ),
});

const STEPS = 20;

const trainingKeys = z.strictObject({
  steps: positiveCount().default(STEPS).describe("optimizer steps of the run (one batch of rollouts a step)"),
  epochs: z
    .number()
    .positive()
    .max(100_000)
    .nullable()
    .default(null)
    .describe("passes over the training tasks, in place of steps; rounded up to a whole step"),
  tasks: positiveCount().nullable().default(null).describe("train on the first N training tasks alone; null = on all"),
  prompts_per_step: size().default(4).describe("tasks drawn a step"),
  group_size: size(2).default(4).describe("rollouts of one task (G), which are compared with each other"),
  num_iterations: positiveCount()
    .default(1)
    .describe("updates on one batch of rollouts (mu); above 1 the ratio is live"),
  rollout_batch: size().default(16).describe("responses generated together"),
  micro_batch: size().default(8).describe("sequences in one training pass; gradients are accumulated"),
  gradient_slots: size()
    .default(1)
    .describe("parts of an update whose gradients are summed in float64, in order; workers compute them side by side"),
  skip_long: z
    .boolean()
    .default(false)
    .describe("leave out tasks whose prompt or plan is longer than the sampler allows, instead of refusing to begin"),
  gradient_checkpointing: z
    .boolean()
    .default(false)
    .describe("compute each layer again in its backward pass: less memory, about a quarter more time"),
  learning_rate: z.number().positive().max(100).default(1e-4).describe("peak learning rate of AdamW"),
  warmup_steps: count().default(0).describe("steps of linear warm-up"),
  schedule: z.enum(["constant", "linear", "cosine"]).default("constant").describe("learning rate after the warm-up"),
  decay_from: z.number().min(0).max(1).default(0).describe("share of the steps after which the decay begins"),
  min_lr_ratio: z.number().min(0).max(1).default(0).describe("last learning rate as a share of the peak"),
  weight_decay: z.number().min(0).default(0).describe("decoupled weight decay"),
  adam_beta1: z.number().min(0).lt(1).default(0.9).describe("decay of the first moment"),
  adam_beta2: z.number().min(0).lt(1).default(0.999).describe("decay of the second moment"),
  adam_epsilon: z.number().positive().default(1e-8).describe("added to the root of the second moment"),
  grad_clip: z
    .number()
    .positive()
    .default(1)
    .describe("largest norm of the gradient over all trainable tensors together"),
  dynamic_sampling: z.boolean().default(false).describe("draw another task where a group's rewards are all equal"),
  reference_refresh: count()
    .default(0)
    .describe("steps between which the reference becomes the policy as it then is; 0 = it stays where the run began"),
  min_signal_groups: positiveCount()
    .default(1)
    .describe("a step with fewer groups whose rewards differ takes no update"),
  gradient_noise_every: count()
    .default(0)
    .describe("steps between measurements of how much of the gradient is noise of the rollouts; 0 = never"),
  early_stop: z
    .strictObject({
      patience: count()
        .default(0)
        .describe("evaluations in a row without a rise of the validation reward that end the run; 0 = never"),
    })
    .prefault({})
    .describe("ends a run that no longer gets better"),
});

const training = trainingKeys.refine(({ epochs, steps }) => epochs === null || steps === STEPS, {
  path: ["epochs"],
  error: "sets the number of steps, which training.steps sets too",
});

const evaluation = z.strictObject({
  splits: z
    .array(z.enum(SPLITS))
    .refine((splits) => new Set(splits).size === splits.length, "names a split twice")
    .default(["heldout"])
    .describe("splits that are evaluated"),
  episodes: positiveCount().max(1_000_000).default(100).describe("episodes a split"),
  every: count().default(0).describe("steps between evaluations; 0 = only before and after"),
  temperature: z.number().min(0).nullable().default(null).describe("null = the sampler's own"),
  batch: size().default(16).describe("episodes generated together"),
  seed: count().default(1).describe("seed of the evaluation: the same tasks and noise in every run"),
});

const EVALUATION_SAMPLER =
  "another sampler for evaluations, as {kind: refusion}; what it leaves out is as in `sampler`; null = the same one";

const checkpoint = z.strictObject({
  every: count().default(10).describe("steps between checkpoints; 0 = only at the end"),
  keep_last: positiveCount().default(2).describe("checkpoints kept besides the best one"),
});

const report = z.strictObject({
  rollouts: count().default(64).describe("rollouts in report.html, the worst ones"),
  screenshots: count().default(12).describe("of them with a picture of the filled form; 0 = none"),
});

type Options = z.ZodType<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>>;
/** A plug-in's section as the rest of the program reads it. */
type Section = z.ZodType<{ readonly kind: string; readonly [option: string]: unknown }>;

function shape(
  sections: {
    readonly sampler: Section;
    readonly evaluationSampler: z.ZodType<z.output<Section> | null>;
    readonly environment: Section;
    readonly objective: Section;
    readonly tracking: z.ZodPrefault<Options>;
  },
  own: object,
) {
  return {
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "may hold letters, digits, '.', '_' and '-' only")
      .max(100)
      .describe("the run's directory under runs/; the config's file name by default"),
    seed: count().default(0).describe("every random stream of the run derives from it"),
    model: z.string().min(1).describe("model directory, relative to the working directory or to this package"),
    init_adapter: z.string().min(1).nullable().default(null).describe("adapter to start from (PEFT layout), or null"),
    lora: lora.prefault({}).describe("the trained adapter"),
    runtime: runtime.prefault({}).describe("ONNX Runtime"),
    environment: sections.environment.describe("what the policy acts in"),
    plan: z
      .enum(["template", "free"])
      .default("template")
      .describe(
        "how it answers: template = it fills the blanks of the lines that the page gives, where the environment offers them; free = it writes all of them",
      ),
    ...own,
    sampler: sections.sampler.describe("how a response is generated"),
    objective: sections.objective.describe("options of the objective (the subcommand)"),
    training: training.prefault({}).describe("optimization"),
    evaluation: evaluation
      .extend({ sampler: sections.evaluationSampler.describe(EVALUATION_SAMPLER) })
      .prefault({} as never)
      .describe("evaluation before, during and after training"),
    checkpoint: checkpoint.prefault({}).describe("saving"),
    tracking: sections.tracking.describe("where metrics go besides metrics.jsonl"),
    report: report.prefault({}).describe("report.html"),
  };
}

/** A whole resolved run. A section with a `kind` also holds its own options; further sections are the environment's. */
export type RunConfig = z.output<z.ZodObject<ReturnType<typeof shape>>>;

type Written = z.input<z.ZodObject<ReturnType<typeof shape>>>;
/** A section with a `kind` as written, with the kind's own options. */
export interface KindSection {
  readonly kind?: string;
  readonly [option: string]: unknown;
}
/** A whole run as written, without the sections of environments: keys with a default may be left out. */
export type WrittenConfig = Omit<Written, "name" | "sampler" | "environment" | "objective" | "evaluation"> & {
  readonly name?: string;
  readonly sampler?: KindSection;
  readonly environment?: KindSection;
  readonly objective: KindSection;
  readonly evaluation?: Omit<NonNullable<Written["evaluation"]>, "sampler"> & { readonly sampler?: KindSection | null };
};

/** A condition between keys of different sections. */
export interface Relation {
  readonly path: readonly string[];
  readonly error: string;
  readonly holds: (config: RunConfig) => boolean;
}

const RELATIONS: readonly Relation[] = [
  {
    path: ["training", "early_stop", "patience"],
    error: "needs evaluations during training: set evaluation.every above 0",
    holds: ({ training, evaluation }) => training.early_stop.patience === 0 || evaluation.every > 0,
  },
  {
    path: ["training", "min_signal_groups"],
    error: "cannot be more than training.prompts_per_step: a step has no more groups, and none would be trained on",
    holds: ({ training }) => training.min_signal_groups <= training.prompts_per_step,
  },
  ...(["decay_from", "min_lr_ratio"] as const).map((key) => ({
    path: ["training", key],
    error: "is not read where training.schedule is constant",
    holds: ({ training }: RunConfig) => training.schedule !== "constant" || training[key] === 0,
  })),
];

/**
 * Builds the strict schema for one command and one tree of raw values, with the plug-ins that the values name. An
 * unknown kind becomes an error of its `kind` key; an empty registry accepts anything.
 */
export function runSchema(
  registries: Registries,
  command: string | undefined,
  raw: Record<string, unknown>,
): z.ZodObject {
  const evaluationSampler = isPlainObject(raw.evaluation) ? (raw.evaluation.sampler ?? null) : null;
  const own = Object.fromEntries(
    [...registries.sections].map(([name, section]) => [
      name,
      ("schema" in section ? section.schema : kindSection(section.entries, raw[name], section.default)).describe(
        section.description,
      ),
    ]),
  );
  const schema = z.strictObject(
    shape(
      {
        sampler: kindSection(registries.samplers, raw.sampler, DEFAULT_SAMPLER),
        evaluationSampler:
          evaluationSampler === null
            ? z.null().default(null)
            : kindSection(registries.samplers, evaluationSampler, DEFAULT_SAMPLER),
        environment: kindSection(registries.environments, raw.environment, DEFAULT_ENVIRONMENT),
        objective: objectiveSection(registries.objectives, raw.objective, command),
        tracking: trackingSection(registries.trackers),
      },
      own,
    ),
  );
  return [...RELATIONS, ...(registries.relations ?? [])].reduce(
    (related, { path, error, holds }) =>
      related.refine((config) => holds(config as unknown as RunConfig), { path: [...path], error }),
    schema,
  );
}

/** Returns the schema of a section by its kind; `kind` is its first key. */
function kindSection(entries: ReadonlyMap<string, PlugIn>, raw: unknown, defaultKind: string): Section {
  const kind = (isPlainObject(raw) ? raw.kind : undefined) ?? defaultKind;
  if (entries.size === 0) return z.looseObject({ kind: z.string().default(defaultKind) }).prefault({});
  const entry = typeof kind === "string" ? entries.get(kind) : undefined;
  if (entry === undefined) return z.looseObject({ kind: z.enum([...entries.keys()]) });
  const names = [...entries.keys()].join(", ");
  const literal = z
    .literal(kind as string)
    .default(kind as string)
    .describe(`one of ${names}`);
  const conditions = (entry.schema.def.checks ?? []) as z.core.$ZodCheck<object>[];
  const own = z.strictObject({ kind: literal, ...entry.schema.shape }).check(...conditions);
  return own.prefault({} as never) as Section;
}

/** Returns the objective's section, of the command's kind if there is one; without a kind it holds keys of any. */
function objectiveSection(
  objectives: ReadonlyMap<string, ObjectivePlugIn>,
  raw: unknown,
  command: string | undefined,
): Section {
  if ((isPlainObject(raw) && "kind" in raw) || command !== undefined)
    return kindSection(objectives, raw, command ?? "");
  const known = new Set(["kind", ...[...objectives.values()].flatMap(({ schema }) => Object.keys(schema.shape))]);
  const any = z.looseObject({ kind: z.string().default("") }).superRefine((section, context) => {
    const keys = Object.keys(section).filter((key) => !known.has(key));
    if (objectives.size > 0 && keys.length > 0) context.addIssue({ code: "unrecognized_keys", keys, input: section });
  });
  return any.prefault({});
}

/** Returns one key per tracker; an empty registry accepts anything. */
function trackingSection(trackers: Registries["trackers"]): z.ZodPrefault<Options> {
  if (trackers.size === 0) return z.looseObject({}).prefault({});
  return z.strictObject(Object.fromEntries([...trackers].map(([name, { schema }]) => [name, schema]))).prefault({});
}

/** One key of a config, as `--help` and `init` show it. */
export interface ConfigKey {
  readonly path: readonly string[];
  /** `int`, `number`, `text`, `true|false`, `a|b`, `[...]` or `section`. */
  readonly type: string;
  /** Undefined for a required key and for a section. */
  readonly default: unknown;
  readonly description: string;
  /** The largest value of a number whose schema has none. */
  readonly most?: number;
}

/** Counts beyond it, such as masks a response, take memory and time without end. */
const LARGEST_COUNT = 100_000;
/** Other numbers overflow beyond it; a limit of 1e9 is a common word for none. */
const LARGEST = 1e10;

/** Lists every key of a schema in order, sections before their keys. */
export function configKeys(schema: z.ZodObject, path: readonly string[] = []): ConfigKey[] {
  const keys: ConfigKey[] = [];
  for (const [key, value] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    const { inner, defaultValue, nullable } = unwrap(value);
    const here = [...path, key];
    const section = inner instanceof z.ZodObject;
    const isOpen = inner instanceof z.ZodNumber && (inner.maxValue ?? Infinity) >= Number.MAX_SAFE_INTEGER;
    const type = section ? "section" : typeName(inner) + (nullable ? "|null" : "");
    keys.push({
      path: here,
      type,
      default: section ? undefined : defaultValue,
      description: value.description ?? inner.description ?? "",
      ...(isOpen && key !== "seed" && { most: inner.isInt ? LARGEST_COUNT : LARGEST }),
    });
    if (section) keys.push(...configKeys(inner, here));
  }
  return keys;
}

/** Removes default, prefault, optional and nullable wrappers. */
export function unwrap(schema: z.ZodType): { inner: z.ZodType; defaultValue: unknown; nullable: boolean } {
  let inner = schema;
  let defaultValue: unknown;
  let nullable = false;
  for (;;) {
    if (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) defaultValue = inner.def.defaultValue;
    else if (inner instanceof z.ZodNullable) nullable = true;
    else if (!(inner instanceof z.ZodOptional)) return { inner, defaultValue, nullable };
    inner = inner.unwrap() as z.ZodType;
  }
}

function typeName(schema: z.ZodType): string {
  if (schema instanceof z.ZodNumberFormat) return "int";
  if (schema instanceof z.ZodNumber) return schema.format === "safeint" ? "int" : "number";
  if (schema instanceof z.ZodBoolean) return "true|false";
  if (schema instanceof z.ZodEnum) return schema.options.join("|");
  if (schema instanceof z.ZodLiteral) return [...schema.values].join("|");
  if (schema instanceof z.ZodArray) return `[${typeName(unwrap(schema.element as z.ZodType).inner)}, ...]`;
  if (schema instanceof z.ZodUnion) return schema.options.map((o) => typeName(unwrap(o as z.ZodType).inner)).join("|");
  if (schema instanceof z.ZodString) return "text";
  return "value";
}
