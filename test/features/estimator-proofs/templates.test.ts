import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { closing } from "../../../src/core/closing.js";
import type { RoundModel } from "../../../src/diffusion/sampler.js";
import type { RowStatistics } from "../../../src/diffusion/samplers/unmask/round.js";
import type { UnmaskTrajectory } from "../../../src/diffusion/samplers/unmask/trajectory.js";
import { sampler as unmask } from "../../../src/diffusion/samplers/unmask.js";
import { Canvas, isRoom, type TokenTemplate } from "../../../src/diffusion/template.js";
import { measureProbabilities } from "../../../src/features/estimator-proofs/proofs/probabilities.js";
import { measureZeroScore } from "../../../src/features/estimator-proofs/proofs/zero-score.js";
import { holds, type VerifyContext } from "../../../src/features/verify/proof.js";
import { figure, openOnTemplates } from "../verify/on-trial.js";
import { assertHolds } from "./all-proofs.js";

/** The others take a minute, on the same templates (templates.slow.test.ts). */
const QUICK = ["on-policy", "probabilities", "elbo", "zero-score"];

type Rollout = typeof unmask.rollout;

/** Records rooms that end where their value does: the ends, which were drawn, are left out. */
const knowingRooms: Rollout = async (...given) =>
  (await unmask.rollout(...given)).map((trajectory): UnmaskTrajectory => {
    const eos = given[2].model.tokens.eos;
    const canvas = Canvas.of(trajectory.template);
    const tokens = canvas.byCell(trajectory.response, eos);
    const kept = canvas.blanks.flatMap(({ first, end }) => {
      const cells = Array.from({ length: end - first }, (_, i) => first + i).filter((c) => tokens[c] !== undefined);
      return [cells.length > 1 ? cells.filter((c) => tokens[c] !== eos) : cells];
    });
    const place = new Map(kept.flat().map((cell, i) => [cell, i]));
    let blank = 0;
    const template = trajectory.template?.map((part) =>
      isRoom(part) ? { ...part, room: (kept[blank++] as number[]).length } : part,
    ) as TokenTemplate;
    const rounds = trajectory.rounds.flatMap((round) => {
      const own = round.positions.flatMap((cell, i) => (place.has(cell) ? [i] : []));
      if (own.length === 0) return [];
      return [
        {
          positions: own.map((i) => place.get(round.positions[i] as number) as number),
          tokens: own.map((i) => round.tokens[i] as number),
          logProbs: own.map((i) => round.logProbs[i] as number),
          eosAllowed: own.map((i) => round.eosAllowed[i] as boolean),
        },
      ];
    });
    const response = kept.flat().map((cell) => tokens[cell] as number);
    return { ...trajectory, template, rounds, response, responseLength: response.length };
  });

/** Records what is given as if it had been drawn first. */
const givenScored: Rollout = async (...args) =>
  (await unmask.rollout(...args)).map((trajectory): UnmaskTrajectory => {
    const canvas = Canvas.of(trajectory.template);
    const rounds = trajectory.rounds.map((round, t) => {
      const given = t > 0 ? [] : canvas.given.map(([at, token]) => ({ at, token, logProb: 0, allowed: false }));
      const drawn = round.positions.map((cell, i) => ({
        at: canvas.position(cell),
        token: round.tokens[i] as number,
        logProb: round.logProbs[i] as number,
        allowed: round.eosAllowed[i] as boolean,
      }));
      const all = [...given, ...drawn].sort((a, b) => a.at - b.at);
      return {
        positions: all.map(({ at }) => at),
        tokens: all.map(({ token }) => token),
        logProbs: all.map(({ logProb }) => logProb),
        eosAllowed: all.map(({ allowed }) => allowed),
      };
    });
    const { template: _, ...free } = trajectory;
    const drawn = rounds.flatMap(({ positions, tokens }) => positions.map((p, i) => [p, tokens[i] as number] as const));
    const response = [...drawn].sort(([a], [b]) => a - b).map(([, token]) => token);
    return { ...free, rounds, response, responseLength: canvas.length };
  });

/** EOS keeps its share where it may not be drawn. */
function endNotBlocked(model: RoundModel<RowStatistics>): RoundModel<RowStatistics> {
  return {
    async forwardRound(input) {
      const said = await model.forwardRound(input);
      const same = (i: number): boolean => i % 2 === 1 && said.token[i] === said.token[i - 1];
      return { ...said, logProb: said.logProb.map((x, i) => (same(i) ? (said.logProb[i - 1] as number) : x)) };
    },
  };
}

describe("verify on templates", () => {
  let context: VerifyContext & { close(): Promise<void> };
  before(async () => {
    context = await openOnTemplates({ slot_size: 1 });
  });
  after(() => context.close());

  for (const changes of [
    {},
    { constrained_decoding: true },
    { slot_fill: "next-token", order: "blanks", constrained_decoding: true },
  ])
    it(`the likelihood's proofs hold: ${JSON.stringify(changes)}`, async () => {
      await using own = closing(await openOnTemplates(changes));
      await assertHolds(own, QUICK);
    });

  it("an end that is not blocked: the outcomes of two blanks do not add up to 1", async () => {
    const sound = await measureProbabilities(context);
    assert.ok(sound.every(holds) && /two blanks/.test(figure(sound, "all outcomes").detail));
    const broken = figure(await measureProbabilities(context, endNotBlocked), "all outcomes");
    assert.ok(broken.measured > 1e-3, `${broken.measured}`);
  });

  it("given tokens that are scored: the mean score is not 0", async () => {
    const sharper = figure(await measureZeroScore(context, givenScored as never), "sharper policy");
    assert.ok(!holds(sharper), `${sharper.measured}`);
  });

  it("rooms that know the value: the outcomes do not add up to 1", async () => {
    const broken = figure(await measureProbabilities(context, undefined, knowingRooms), "all outcomes");
    assert.ok(broken.measured > 1e-3, `${broken.measured}`);
  });
});
