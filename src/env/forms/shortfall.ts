import type { EpisodeOutcome } from "../environment.js";

/** What an episode on a form fell short of, by label: what the server received there, and why an action failed. */
export function shortfall({ fault, detail, reward }: EpisodeOutcome): string {
  if (fault !== undefined) return fault;
  const scores = (detail.field_scores ?? {}) as Readonly<Record<string, number>>;
  const received = (detail.received ?? {}) as Readonly<Record<string, unknown>>;
  const actions = (detail.actions ?? []) as readonly { action: string; fate: string; detail?: string }[];
  const failed = actions.filter(({ fate }) => fate !== "done");
  const missed = Object.entries(scores)
    .filter(([, score]) => score < 1)
    .map(([label]) => {
      const why = failed.find(({ action }) => action.replace(/^\w+ /, "").split(" | ")[0] === label);
      const got = received[label] ?? null;
      const instead = got === null ? "no such control" : `received ${JSON.stringify(got).slice(0, 60)}`;
      return `"${label}": ${why === undefined ? instead : [why.fate, why.detail].filter(Boolean).join(", ")}`;
    });
  const sent = failed.find(({ action }) => action === "submit");
  const submit = actions.find(({ action }) => action === "submit")?.detail;
  const refused =
    detail.accepted === true
      ? []
      : [`not accepted${sent === undefined && submit === undefined ? "" : `: ${submit ?? sent?.fate}`}`];
  return [...missed, ...refused].join("; ") || `reward ${reward}`;
}
