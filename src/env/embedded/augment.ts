import type { Rng } from "../../core/rng.js";
import type { FieldKind, Task, Tier } from "../site.js";
import { HELDOUT_FORMS, TRAINING_FORMS } from "./catalog.js";
import { type Field, kindOf } from "./fields.js";
import { fieldsOf } from "./form.js";
import { drawRecord } from "./records.js";
import { instructionFor } from "./tasks.js";

/** A task of a form that does not exist, and its controls: for supervised training only, no page shows it. */
export interface AugmentedTask {
  readonly task: Task;
  readonly kinds: Readonly<Record<string, FieldKind>>;
}

interface Material {
  /** All fields of the training forms, and the boxes among them. */
  readonly fields: readonly Field[];
  readonly boxes: readonly Field[];
  readonly labelWords: readonly string[];
  readonly titleWords: readonly string[];
  /** Labels and titles of held-out forms, which must stay unseen. */
  readonly forbidden: ReadonlySet<string>;
  readonly size: readonly [min: number, max: number];
  /** Characters of all labels and values together: a starter task has to fit a tiny model's canvas. */
  readonly longest: number;
}

const words = (texts: readonly string[]): string[] => [...new Set(texts.flatMap((text) => text.split(" ")))].sort();

function materialOf(tier: Tier): Material {
  const fields = TRAINING_FORMS.flatMap((form) => fieldsOf(form, tier));
  const seen = new Set(fields.map((field) => field.label));
  const unseen = HELDOUT_FORMS.flatMap((form) => fieldsOf(form, tier).map((field) => field.label));
  return {
    fields,
    boxes: fields.filter((field) => field.kind === "checkbox"),
    labelWords: words([...seen]),
    titleWords: words(TRAINING_FORMS.map((form) => form.title)),
    forbidden: new Set([...unseen, ...HELDOUT_FORMS.map((form) => form.title)]),
    size: tier === "starter" ? [3, 6] : [4, 19],
    longest: tier === "starter" ? 115 : Number.POSITIVE_INFINITY,
  };
}

const materials = new Map<Tier, Material>();

/** One field in five is a box on top of the share that boxes have anyway: they are learned last. */
function pickField(material: Material, rng: Rng): Field {
  return rng.pick(rng.uniform() < 0.2 ? material.boxes : material.fields);
}

function pickPhrase(vocabulary: readonly string[], count: number, taken: ReadonlySet<string>, rng: Rng): string {
  for (;;) {
    const phrase = rng.shuffle(vocabulary).slice(0, count).join(" ");
    if (!taken.has(phrase)) return phrase;
  }
}

/**
 * A task with a random title and random labels made of the words of training labels, and values that suit random
 * controls. It holds no label or title of a held-out form and no reserved value, so it may be trained on.
 */
export function augmentedTask(rng: Rng, tier: Tier): AugmentedTask {
  const material = materials.get(tier) ?? materialOf(tier);
  materials.set(tier, material);
  const [min, max] = material.size;
  const taken = new Set(material.forbidden);
  const formTitle = pickPhrase(material.titleWords, 2, taken, rng);
  const fields: Field[] = [];
  const wanted = min + rng.int(max - min + 1);
  while (fields.length < wanted) {
    const label = pickPhrase(material.labelWords, rng.uniform() < 0.1 ? 1 : 2, taken, rng);
    taken.add(label);
    fields.push({ ...pickField(material, rng), label });
  }
  let record = drawRecord(fields, rng, true);
  while (fields.length > min && Object.entries(record).flat().join("").length > material.longest) {
    fields.pop();
    record = Object.fromEntries(Object.entries(record).slice(0, fields.length));
  }
  const form = `augmented/${formTitle.toLowerCase().replace(" ", "-")}`;
  const task: Task = {
    id: `embedded/${tier}/${form}/train/${String(rng.int(1e9)).padStart(9, "0")}`,
    form,
    formTitle,
    url: `/${form}`,
    instruction: instructionFor(`/${form}`, formTitle, record),
    fields: record,
    split: "train",
    tier,
  };
  return { task, kinds: Object.fromEntries(fields.map((field) => [field.label, kindOf(field)])) };
}
