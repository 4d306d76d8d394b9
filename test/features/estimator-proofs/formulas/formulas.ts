/**
 * The objectives' losses in float64 (docs/objectives.md), computed from log-probabilities alone. They share no code
 * with src/rl: the proofs compare src/rl with them.
 */

import { groupBy } from "../../../../src/core/group-by.js";

/** One scored term, with its log-probability (nats) under each policy. */
export interface ScoredTerm {
  /** Index of its turn. */
  readonly turn: number;
  readonly step: number;
  readonly position: number;
  /** Weight in its bound; 1 for exact likelihoods. */
  readonly weight: number;
  /** Under the trained policy. */
  readonly now: number;
  /** Under the policy before the update. */
  readonly before: number;
  /** Under the sampling policy; undefined if it is not known. */
  readonly sampled: number | undefined;
  readonly reference: number;
  /** Entropy of the distribution that the term was drawn from. */
  readonly entropy: number;
}

/** One training turn. */
export interface ScoredTurn {
  /** L: tokens of the response. */
  readonly length: number;
  /** Number of sampling steps of the trajectory, scored or not. */
  readonly steps: number;
  readonly credit: (step: number, position: number) => number;
}

export interface Scored {
  readonly turns: readonly ScoredTurn[];
  readonly terms: readonly ScoredTerm[];
  /** True if the rollouts recorded the scored log-probabilities. */
  readonly recorded: boolean;
  /** log Z of each prompt. */
  readonly logZ: number;
}

/** An objective's options by name. */
export type FormulaOptions = Readonly<Record<string, number | string | boolean | null | undefined>>;

type Values = Omit<ScoredTerm, "weight"> & {
  /** Indices of its terms, with the factors of each one's log-probability (weight) and entropy (share). */
  readonly members: readonly { readonly i: number; readonly weight: number; readonly share: number }[];
};

const RATIO_OF: Readonly<Record<string, "term" | "turn">> = {
  "cj-grpo": "term",
  "coupled-grpo": "term",
  "just-grpo": "term",
  espo: "turn",
  flowrl: "turn",
  gdpo: "turn",
  grpo: "term",
  mdpo: "term",
  wd1: "turn",
};

/** Tells whether an objective has a formula here; custom objectives have none. */
export function hasFormula(kind: string): boolean {
  return kind === "flow-grpo" || kind === "spg" || kind in RATIO_OF;
}

const sum = (xs: readonly number[]): number => xs.reduce((a, x) => a + x, 0);
const average = (xs: readonly number[]): number => sum(xs) / xs.length;
const within = (x: number, low: number, high: number): number => (x < low ? low : x > high ? high : x);
const number = (o: FormulaOptions, name: string, otherwise = 0): number => (o[name] as number | null) ?? otherwise;

/** Computes an objective's loss over all turns of a step, and its derivatives by each log-probability and entropy. */
export function lossFormula(
  kind: string,
  scored: Scored,
  o: FormulaOptions,
): { readonly loss: number; readonly slopes: number[]; readonly entropySlopes: number[] } {
  const slopes = scored.terms.map(() => 0);
  const entropySlopes = scored.terms.map(() => 0);
  if (kind === "spg") return { loss: spgLoss(scored, o, slopes), slopes, entropySlopes };
  const ratios = ratiosOf(kind, scored.terms, o);
  const weights = weightsOf(kind, ratios, scored, o);
  const trusts = trustsOf(ratios, o);
  const bonus = number(o, "entropy_coeff");
  let loss = 0;
  ratios.forEach((v, s) => {
    const turn = scored.turns[v.turn] as ScoredTurn;
    const weight = weights[s] as number;
    const a = turn.credit(v.step, v.position) * (trusts[s] as number);
    const old = scored.recorded && (o.importance_cap ?? null) === null ? (v.sampled as number) : v.before;
    const at = (now: number): number => lossOf(kind, { ...v, old, now, held: v.now }, a, turn.length, scored.logZ, o);
    loss += weight * (at(v.now) - bonus * v.entropy);
    for (const member of v.members) {
      slopes[member.i] = weight * member.weight * slopeOf(at, v.now);
      entropySlopes[member.i] = -weight * bonus * member.share;
    }
  });
  return { loss, slopes, entropySlopes };
}

/** Step h of central differences: the truncation error is about h², the rounding error about epsilon / h. */
const STEP = 1e-5;

const slopeOf = (f: (x: number) => number, x: number): number => (f(x + STEP) - f(x - STEP)) / (2 * STEP);

/** Sums the terms that share a ratio, with their weights; with `reduction: mean`, averages them. */
function ratiosOf(kind: string, terms: readonly ScoredTerm[], o: FormulaOptions): Values[] {
  const level = kind === "flow-grpo" ? o.ratio_level : RATIO_OF[kind];
  const of = (t: ScoredTerm, i: number): string | number =>
    level === "turn" || level === "sequence" ? t.turn : level === "step" ? `${t.turn}/${t.step}` : i;
  const numbered = terms.map((t, i) => ({ ...t, i }));
  return [...groupBy(numbered, (t) => of(t, t.i)).values()].map((members) => {
    const first = members[0] as ScoredTerm;
    const share = o.reduction === "mean" ? 1 / members.length : 1;
    // a ratio of a single term uses its log-probability without the weight of the bound
    const weight = (t: ScoredTerm): number => share * (level === "term" || level === "token" ? 1 : t.weight);
    const weights = sum(members.map(weight));
    const total = (key: "now" | "before" | "reference" | "entropy"): number =>
      sum(members.map((t) => weight(t) * t[key]));
    return {
      turn: first.turn,
      step: first.step,
      position: first.position,
      members: members.map((t) => ({ i: t.i, weight: weight(t), share: weight(t) / weights })),
      now: total("now"),
      before: total("before"),
      reference: total("reference"),
      sampled: first.sampled === undefined ? undefined : sum(members.map((t) => weight(t) * (t.sampled as number))),
      entropy: total("entropy") / weights,
    };
  });
}

/** Computes the weight of each ratio in the step's loss. */
function weightsOf(kind: string, ratios: readonly Values[], { turns }: Scored, o: FormulaOptions): number[] {
  const norm = o.length_norm ?? "own";
  const inTurn = (v: Values): Values[] => ratios.filter((w) => w.turn === v.turn);
  const rounds = (v: Values): number => new Set(inTurn(v).map((w) => w.step)).size;
  const inRound = (v: Values): number => inTurn(v).filter((w) => w.step === v.step).length;
  // if K of T steps are trained, each stands for T / K
  const stands = (v: Values): number =>
    typeof o.steps_per_update === "number" ? (turns[v.turn] as ScoredTurn).steps / rounds(v) : 1;
  if (typeof norm === "number") return ratios.map((v) => stands(v) / (norm * turns.length));
  if (norm === "response" || (norm === "own" && kind === "just-grpo"))
    return ratios.map((v) => 1 / turns.length / inTurn(v).length);
  if (norm === "own" && (kind === "cj-grpo" || kind === "mdpo"))
    return ratios.map((v) => 1 / turns.length / rounds(v) / inRound(v));
  if (typeof o.steps_per_update !== "number") return ratios.map(() => 1 / ratios.length);
  const all = o.ratio_level === "token" ? sum(turns.map(({ length }) => length)) : sum(turns.map((t) => t.steps));
  return ratios.map((v) => stands(v) / all);
}

/** Computes truncated importance weights: the policy before the update over the sampling policy. */
function trustsOf(ratios: readonly Values[], o: FormulaOptions): number[] {
  const cap = o.importance_cap;
  if (typeof cap !== "number") return ratios.map(() => 1);
  const difference = (v: Values): number => (v.sampled === undefined ? 0 : v.before - v.sampled);
  return ratios.map((v) => {
    return Math.min(Math.exp(difference(v)), cap);
  });
}

/** Computes the loss of one ratio. */
function lossOf(
  kind: string,
  v: Values & { readonly old: number /** `now`, through which no gradient flows. */; readonly held: number },
  a: number,
  length: number,
  logZ: number,
  o: FormulaOptions,
): number {
  const low = 1 - number(o, "clip_range_low", number(o, "clip_range"));
  const high = 1 + number(o, "clip_range_high", number(o, "clip_range"));
  if (kind === "wd1") return (-a * v.now) / length;
  if (kind === "flowrl") {
    const rest = logZ + (v.now - v.reference) / length - number(o, "beta") * a;
    return within(Math.exp(v.held - v.old), low, high) * rest * rest;
  }
  const isBound = kind === "espo" || kind === "gdpo";
  const per = isBound ? length : 1;
  const most = number(o, "ratio_clamp", Number.POSITIVE_INFINITY);
  const ratioAt = (l: number): number => Math.exp(within((l - v.old) / per, -most, most));
  const rho = ratioAt(v.now);
  const gain =
    o.surrogate === "cispo"
      ? (a * within(ratioAt(v.held), low, high) * v.now) / per
      : Math.min(a * rho, a * within(rho, low, high));
  if (isBound) return -gain + (number(o, "kl_coeff") * (v.now - v.reference) ** 2) / (2 * length);
  const d = within(v.reference - v.now, -10, 10);
  return -gain + number(o, "kl_coeff") * (Math.exp(d) - d - 1);
}

/** SPG: a lower bound for positive advantages, and a mixture with an upper bound for negative ones. */
function spgLoss({ turns, terms }: Scored, o: FormulaOptions, slopes: number[]): number {
  const [beta, omega] = [number(o, "beta"), number(o, "omega")];
  const all = sum(turns.map(({ length }) => length));
  const own = turns.map((turn, b) => {
    const of = terms.map((t, i) => ({ ...t, i })).filter((t) => t.turn === b);
    const a = turn.credit(-1, -1);
    const tokens = [...groupBy(of, (t) => t.position).values()];
    const lossAt = (nowOf: (i: number) => number): number => {
      const lower = sum(of.map((t) => t.weight * nowOf(t.i))) / turn.length;
      const masses = tokens.map((masks) => sum(masks.map((t) => t.weight * Math.exp(beta * nowOf(t.i)))));
      const upper = masses.length === 0 ? 0 : average(masses.map((mass) => Math.log(mass) / beta));
      return -(turn.length / all) * a * (a < 0 ? omega * upper + (1 - omega) * lower : lower);
    };
    const now = (i: number): number => (terms[i] as ScoredTerm).now;
    for (const { i } of of) slopes[i] = slopeOf((x) => lossAt((j) => (j === i ? x : now(j))), now(i));
    return lossAt(now);
  });
  return sum(own);
}

/** A turn of an episode, with the rewards from the environment and the drafts from the sampler. */
export interface RewardedTurn {
  /** Null if the environment gives no reward for the turn. */
  readonly reward: number | null;
  readonly drafts: readonly number[];
  readonly parts: readonly { readonly name: string; readonly reward: number; readonly tokens: readonly number[] }[];
}

export interface RewardedEpisode {
  /** Null if the environment failed. */
  readonly reward: number | null;
  readonly turns: readonly RewardedTurn[];
}
type Counted = readonly (RewardedEpisode & { readonly reward: number })[];

/** Computes the advantages of rewards; undefined if the rewards are almost equal. */
export function advantageFormula(rewards: readonly number[], o: FormulaOptions): number[] | undefined {
  const middle = average(rewards);
  const deviation = Math.sqrt(average(rewards.map((r) => (r - middle) * (r - middle))));
  if (rewards.length < 2 || deviation < 1e-6) return undefined;
  const most = number(o, "adv_clip_max");
  return rewards.map((r, g) => {
    const others = rewards.filter((_, i) => i !== g);
    const a =
      o.advantage === "center"
        ? r - middle
        : o.advantage === "leave_one_out"
          ? r - average(others)
          : (r - middle) / (deviation + 1e-8);
    return within(a, -most, most);
  });
}

/** Credit of each episode's turns by step and position; null if nothing is learned from the episode. */
export type Credit = readonly ScoredTurn["credit"][] | null;

export function creditFormula(kind: string, group: readonly RewardedEpisode[], o: FormulaOptions): Credit[] {
  const counted = group.filter((e): e is Counted[number] => e.reward !== null);
  const credit = creditOf(kind, counted, o);
  let next = 0;
  return group.map((e) => (e.reward === null ? null : (credit[next++] ?? null)));
}

/** Credit that is constant within a turn; empty without values. */
const constant = (values: readonly (readonly number[])[] = []): Credit[] => values.map((of) => of.map((a) => () => a));

function creditOf(kind: string, counted: Counted, o: FormulaOptions): Credit[] {
  const rewards = counted.map((e) => e.reward);
  if (kind === "mdpo") return mdpoCredit(counted, o);
  if (kind === "flowrl") {
    const a = advantageFormula(rewards, { ...o, advantage: "group" });
    return constant(counted.map((e, i) => e.turns.map(() => a?.[i] ?? 0)));
  }
  if (kind === "wd1") {
    const psi = number(o, "psi");
    const softmax = (sign: number, r: number): number =>
      Math.exp(sign * psi * r) / sum(rewards.map((x) => Math.exp(sign * psi * x)));
    if (rewards.every((r) => Math.abs(r - (rewards[0] as number)) < 1e-6)) return [];
    return constant(
      counted.map((e) => e.turns.map(() => counted.length * (softmax(1, e.reward) - softmax(-1, e.reward)))),
    );
  }
  if (o.turn_credit === "turn") return constant(turnCredit(counted, o));
  const a = advantageFormula(rewards, o);
  const gamma = number(o, "discount", 1);
  const whole = a && counted.map((e, i) => e.turns.map((_, t) => gamma ** (e.turns.length - 1 - t) * (a[i] as number)));
  return o.turn_credit === "part" ? partCredit(counted, whole, o) : constant(whole);
}

/** A_it = A(G_t)_i, where G_t is the discounted return from turn t on. */
function turnCredit(counted: Counted, o: FormulaOptions): number[][] | undefined {
  const gamma = number(o, "discount", 1);
  const returns = counted.map(({ reward, turns }) => {
    const own = turns.some((turn) => turn.reward !== null)
      ? turns.map((turn) => turn.reward ?? 0)
      : turns.map((_, t) => (t === turns.length - 1 ? reward : 0));
    return own.map((_, t) => sum(own.slice(t).map((r, k) => gamma ** k * r)));
  });
  const longest = Math.max(...returns.map((of) => of.length));
  const all = Array.from({ length: longest }, (_, t) => {
    const there = returns.filter((of) => of.length > t);
    return advantageFormula(
      there.map((of) => of[t] as number),
      o,
    );
  });
  if (all.every((values) => values === undefined)) return undefined;
  return returns.map((of, i) =>
    of.map((_, t) => all[t]?.[returns.slice(0, i).filter((before) => before.length > t).length] ?? 0),
  );
}

/** Gives each token the advantage of its attempt among all at the same part; an episode without one counts as 0. */
function partCredit(counted: Counted, whole: readonly (readonly number[])[] | undefined, o: FormulaOptions): Credit[] {
  let signal = whole !== undefined;
  const credit = counted.map((e, i) =>
    e.turns.map((turn, t) => {
      const among = counted.flatMap((other) => (other.turns[t] === undefined ? [] : [other.turns[t]]));
      const byToken = new Map<number, number>();
      for (const part of turn.parts) {
        const attempts = among.flatMap((other) => {
          const own = other.parts.filter(({ name }) => name === part.name);
          return own.length === 0 ? [undefined] : own;
        });
        const a = advantageFormula(
          attempts.map((attempt) => attempt?.reward ?? 0),
          o,
        );
        const own = a?.[attempts.indexOf(part)] ?? 0;
        signal ||= own !== 0;
        for (const token of part.tokens) byToken.set(token, own);
      }
      return (_: number, position: number): number => byToken.get(position) ?? whole?.[i]?.[t] ?? 0;
    }),
  );
  return credit.map((of) => (signal ? of : null));
}

/** a_t = r_t - r_(t-1) + 1 + mean of the later rewards, normalised over the group's episodes at step t. */
function mdpoCredit(counted: Counted, o: FormulaOptions): Credit[] {
  const gain = (r: readonly number[], t: number): number => {
    const behind = r.slice(t + 1);
    return (r[t] as number) - (t === 0 ? 0 : (r[t - 1] as number)) + 1 + (behind.length === 0 ? 0 : average(behind));
  };
  return counted.map((e) => {
    const turns = e.turns.map(({ drafts }, n) => {
      const a = drafts.map((_, t) => {
        const there = counted.map((other) => other.turns[n]?.drafts ?? []).filter((r) => t < r.length);
        const all = advantageFormula(
          there.map((r) => gain(r, t)),
          { ...o, advantage: "group" },
        );
        return all?.[there.indexOf(drafts)] ?? 0;
      });
      const order = a.map((_, t) => t).sort((x, y) => Math.abs(a[y] as number) - Math.abs(a[x] as number));
      const kept = order.slice(0, number(o, "top_steps"));
      return a.map((x, t) => (kept.includes(t) ? x : 0));
    });
    const none = turns.every((a) => a.every((x) => x === 0));
    return none ? null : turns.map((a) => (step: number) => a[step] ?? 0);
  });
}
