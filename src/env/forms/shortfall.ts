import type { EpisodeOutcome, FixedPolicy, Unproven } from "../environment.js";

/** Describes the wrong fields of an episode by label: the received value, or why an action failed. */
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
  const refused = refusalIn({ detail });
  return [...missed, ...(refused === undefined ? [] : [refused])].join("; ") || `reward ${reward}`;
}

/** Returns the reason why an episode's form was not accepted; undefined if it was. */
export function refusalIn({ fault, detail }: Pick<EpisodeOutcome, "fault" | "detail">): string | undefined {
  if (fault !== undefined) return fault;
  if (detail.accepted === true) return undefined;
  const actions = (detail.actions ?? []) as readonly { action: string; fate: string; detail?: string }[];
  const sent = actions.findLast(({ action }) => action === "submit");
  const why = sent?.detail ?? (sent?.fate === "done" ? undefined : sent?.fate);
  return why === undefined ? "not accepted" : `not accepted: ${why}`;
}

/** Describes the tests of tasks on a user's site, which may be impossible. */
export const unprovenOf = (tasks: number, policies: Readonly<Record<string, FixedPolicy>>): Unproven => ({
  tasks,
  why: shortfall,
  wrong: wrongPolicies(policies),
  refused: refusalIn,
  hint: "docs/runs.md says what each means. To train all the same: site.rehearse=0",
});

/** Describes the tests of a site whose verdict alone is learned from: it has to refuse what no task asks for. */
export const verdictProof = (
  tasks: number,
  { "submit-only": empty, drawn }: Readonly<Record<string, FixedPolicy>>,
): Unproven => ({
  tasks,
  why: shortfall,
  wrong: { ...(empty && { empty }), ...(drawn && { "random values": drawn }) },
  refused: refusalIn,
  mustRefuse: true,
  hint: "a policy would learn to send such forms: let the site's answer depend on every value, or give the tasks fields and take reward: default",
});

/** Returns policies that a form should refuse: only the submit, and the oracle's plan without its first line. */
function wrongPolicies({
  oracle,
  "submit-only": empty,
}: Readonly<Record<string, FixedPolicy>>): Readonly<Record<string, FixedPolicy>> {
  if (oracle === undefined || empty === undefined) return {};
  return {
    empty,
    "without its first value": async (task, rng) => {
      const act = await oracle(task, rng);
      return async (observation) => {
        const { text = "" } = await act(observation);
        return { text: text.includes("\n") ? text.slice(text.indexOf("\n") + 1) : text };
      };
    },
  };
}
