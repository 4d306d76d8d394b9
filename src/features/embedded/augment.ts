import type { Rng } from "../../core/rng.js";
import type { KnownTask, Task, Tier } from "../../env/site.js";
import { HELDOUT_FORMS, TRAINING_FORMS } from "./catalog.js";
import { type Field, kindOf } from "./fields.js";
import { fieldsOf } from "./form.js";
import { type LetterLevel, withLetter } from "./letters/letter.js";
import { drawRecord } from "./records.js";
import { instructionFor } from "./tasks.js";

type Material = ReturnType<typeof materialOf>;

const words = (texts: readonly string[]): string[] => [...new Set(texts.flatMap((text) => text.split(" ")))].sort();

function materialOf(tier: Tier) {
  const fields = TRAINING_FORMS.flatMap((form) => fieldsOf(form, tier));
  const seen = new Set(fields.map((field) => field.label));
  const unseen = HELDOUT_FORMS.flatMap((form) => fieldsOf(form, tier).map((field) => field.label));
  return {
    fields,
    boxes: fields.filter((field) => field.kind === "checkbox"),
    labelWords: words([...seen]),
    titleWords: words(TRAINING_FORMS.map((form) => form.title)),
    /** Labels and titles of held-out forms, which must stay unseen. */
    forbidden: new Set([...unseen, ...HELDOUT_FORMS.map((form) => form.title)]),
    size: tier === "starter" ? ([3, 6] as const) : ([4, 19] as const),
    /** Most characters of all labels and values together: a starter task has to fit a tiny model's canvas. */
    longest: tier === "starter" ? 115 : Number.POSITIVE_INFINITY,
  };
}

const materials = new Map<Tier, Material>();

/** Picks a field. One in five picks is a checkbox in any case, as checkboxes are learned last. */
const pickField = (material: Material, rng: Rng): Field =>
  rng.pick(rng.uniform() < 0.2 ? material.boxes : material.fields);

function pickPhrase(vocabulary: readonly string[], count: number, taken: ReadonlySet<string>, rng: Rng): string {
  for (;;) {
    const phrase = rng.shuffle(vocabulary).slice(0, count).join(" ");
    if (!taken.has(phrase)) return phrase;
  }
}

const CONSONANTS = "bcdfghklmnprstvw";
const VOWELS = "aeiou";

/** Invents a word of two or three syllables that no vocabulary contains: its number of tokens varies. */
function inventedWord(rng: Rng): string {
  const word = Array.from({ length: 2 + rng.int(2) }, () => rng.pick([...CONSONANTS]) + rng.pick([...VOWELS])).join("");
  return word[0]?.toUpperCase() + word.slice(1);
}

/**
 * Makes a title of one to three words, a third of them invented. With titles of two known words only, a model learns
 * the token position of the first label instead of looking for it, and fails on new titles.
 */
function pickTitle(material: Material, rng: Rng): string {
  for (;;) {
    const known = rng.shuffle(material.titleWords);
    const title = Array.from({ length: 1 + rng.int(3) }, (_, i) =>
      rng.uniform() < 1 / 3 ? inventedWord(rng) : (known[i] as string),
    ).join(" ");
    if (!material.forbidden.has(title)) return title;
  }
}

/**
 * Makes a task with a random title, random labels of the words of training labels, and values that suit random
 * controls. It is for supervised training only, as no page shows it. It contains no label or title of a held-out form
 * and no reserved value.
 */
export function augmentedTask(rng: Rng, tier: Tier, letters: LetterLevel = "off"): KnownTask {
  const material = materials.get(tier) ?? materialOf(tier);
  materials.set(tier, material);
  const [min, max] = material.size;
  const taken = new Set(material.forbidden);
  const formTitle = pickTitle(material, rng);
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
  const form = `augmented/${formTitle.toLowerCase().replaceAll(" ", "-")}`;
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
  return {
    task: withLetter(task, fields, letters, rng),
    kinds: Object.fromEntries(fields.map((field) => [field.label, kindOf(field)])),
  };
}
