import { z } from "zod";
import type { DetailCell, DetailTable } from "../environment.js";
import { groupOf } from "./groups.js";
import { looseLabel } from "./normalize.js";

/** The detail of an episode on a form in the rollout file, which may be edited by hand or incomplete. */
const schema = z.object({
  truth: z.record(z.string(), z.unknown()).default({}),
  posted: z.array(z.tuple([z.string(), z.string()])).default([]),
  actions: z.array(z.object({ action: z.string(), fate: z.string(), detail: z.string().optional() })).default([]),
  received: z.record(z.string(), z.unknown()).optional(),
  field_scores: z.record(z.string(), z.number()).optional(),
  probabilities: z.record(z.string(), z.number()).optional(),
});

/** Shows the plan's actions, and the received values beside the true ones, by label if the record has them. */
export function viewDetail(detail: Readonly<Record<string, unknown>>): DetailTable[] {
  const parsed = schema.safeParse(detail);
  if (!parsed.success) return [];
  const { truth, posted, actions, received, field_scores: scores, probabilities } = parsed.data;
  const plan: DetailTable = {
    title: "Plan",
    rows: actions.map(({ action, fate, detail: why }) => [
      { text: action },
      { text: fate, ...(fate === "done" ? {} : { tone: "bad" as const }) },
      { text: why ?? "", tone: "dim" },
    ]),
  };
  const raw: DetailTable = {
    title: received === undefined ? "The server received" : "As posted",
    rows: posted.map(([name, value]) => [{ text: name }, { text: value }]),
  };
  const entries = Object.entries(truth);
  if (received === undefined) {
    const wanted = { title: "True values", rows: entries.map(([label, value]) => [{ text: label }, cell(value)]) };
    return [plan, raw, wanted];
  }
  const sent = posted.length > 0;
  const sure = new Map(Object.entries(probabilities ?? {}).map(([name, p]) => [looseLabel(name), p]));
  return [
    plan,
    {
      title: sent ? "The server received, beside the truth" : "Nothing was sent",
      head: [
        "field",
        "truth",
        ...(sent ? ["received"] : []),
        "score",
        ...(probabilities === undefined ? [] : ["group"]),
      ],
      rows: entries.map(([label, value]) => {
        const score = own(scores, label) ?? 0;
        const got = own(received, label) ?? null;
        const tone = score === 1 ? "good" : "bad";
        const group = probabilities && groupOf({ value: got, probability: sure.get(looseLabel(label)) ?? 0 });
        const last = group === undefined ? [] : [{ text: group, tone: "dim" as const }];
        const came = sent ? [receivedCell(got)] : [];
        return [{ text: label }, cell(value), ...came, { text: score.toFixed(2), tone }, ...last];
      }),
    },
    raw,
  ];
}

const own = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;

function receivedCell(value: unknown): DetailCell {
  if (value === null) return { text: "no such control", tone: "dim" };
  const { text } = cell(value);
  return text === "" ? { text: "empty", tone: "dim" } : { text };
}

function cell(value: unknown): DetailCell {
  if (Array.isArray(value)) return { text: value.map((item) => cell(item).text).join(", ") };
  return { text: typeof value === "boolean" ? (value ? "yes" : "no") : String(value) };
}
