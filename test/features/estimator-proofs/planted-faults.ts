/** A fault that is planted in a copy of the compiled sources: `from`, which stands there exactly once, becomes `to`. */
export interface PlantedFault {
  readonly name: string;
  /** Below dist/src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The objective that is verified with it. */
  readonly objective?: string;
  /** The proofs that run with it; default: {@link DEFAULT_PROOFS}. */
  readonly proofs?: readonly string[];
  /** The sampler, or a fill of unmask's; default: unmask. */
  readonly sampler?: "jump" | "next-token";
}

export const DEFAULT_PROOFS = ["objective-formula"];
const SAMPLING = ["elbo", "on-policy", "probabilities"];

type Edit = readonly [name: string, from: string, to: string, more?: Partial<PlantedFault>];
const inFile = (file: string, common: Partial<PlantedFault>, edits: readonly Edit[]): PlantedFault[] =>
  edits.map(([name, from, to, more]) => ({ name, file, from, to, ...common, ...more }));

export const FAULTS: readonly PlantedFault[] = [
  ...inFile("rl/advantages.js", { objective: "flow-grpo" }, [
    ["advantages of the wrong sign", "return (r - m) / (deviation + 1e-8);", "return (m - r) / (deviation + 1e-8);"],
    ["centred advantages divided by the deviation", "return r - m;", "return (r - m) / deviation;"],
    ["leave one out without n / (n - 1)", "return ((r - m) * n) / (n - 1);", "return r - m;"],
    ["advantages not clipped from below", "Math.max(-clipMax, Math.min(clipMax, raw(r)))", "Math.min(clipMax, raw(r))"],
    [
      "deviation of a sample",
      "const deviation = std(rewards);",
      "const deviation = std(rewards) * Math.sqrt(rewards.length / (rewards.length - 1));",
    ],
    ["groups of equal rewards are trained on", "if (deviation < SIGNAL_THRESHOLD)", "if (deviation < 0)"],
  ]),
  ...inFile("rl/credit.js", { objective: "just-grpo" }, [
    ["discount by the turns before", "value * discount ** (last - t)", "value * discount ** t"],
    ["returns that are not discounted", "later = own + discount * later;", "later = own + later;"],
    [
      "credit of another episode behind a fault",
      "values?.[counted.indexOf(episode)]",
      "values?.[group.indexOf(episode)]",
    ],
    ["every turn has the first one's return", "returns.get(episode)?.[t]", "returns.get(episode)?.[0]"],
    ["a turn's reward is the episode's", "given ? (turns[t]?.reward ?? 0)", "given ? reward"],
  ]),
  ...inFile("rl/part-credit.js", { objective: "flow-grpo" }, [
    ["episodes without an attempt are no baseline", "attempts.filter((of) => of.length === 0).map(() => 0)", "[]"],
    ["tokens of a part have the episode's credit", "credit[token] = given.get(part) ?? 0", "credit[token] = whole"],
  ]),
  ...inFile("rl/surrogate.js", { objective: "cj-grpo" }, [
    ["surrogate of the wrong sign", "const gain = e.neg(advantage);", "const gain = advantage;"],
    [
      "the larger surrogate of two",
      "return e.max(e.mul(gain, ratio), e.mul(gain, clipped));",
      "return e.min(e.mul(gain, ratio), e.mul(gain, clipped));",
    ],
    ["nothing clipped", "return e.max(e.mul(gain, ratio), e.mul(gain, clipped));", "return e.mul(gain, ratio);"],
    [
      "clip ranges swapped",
      "[1 - side(o.clip_range_low), 1 + side(o.clip_range_high)]",
      "[1 - side(o.clip_range_high), 1 + side(o.clip_range_low)]",
    ],
    ["cispo's ratio has a gradient", "e.stopGradient(clipped)", "clipped"],
    ["cispo's ratio is not clipped", "e.stopGradient(clipped)", "e.stopGradient(ratio)"],
    [
      "entropy is punished",
      "e.sub(loss, e.mul(entropy, coefficient))",
      "e.add(loss, e.mul(entropy, coefficient))",
      { objective: "espo", proofs: ["objective-gradient"] },
    ],
  ]),
  ...inFile("rl/clipped.js", { objective: "grpo" }, [
    ["penalty's difference of the wrong sign", "e.sub(reference, value)", "e.sub(value, reference)"],
    ["k1 in the place of k3", "e.sub(e.sub(e.exp(d), d), 1)", "e.neg(d)"],
    ["ratio upside down", "e.sub(value, old)", "e.sub(old, value)"],
    [
      "log-ratios are not clamped",
      "clamp === undefined ? change : e.clip(change, -clamp, clamp)",
      "change",
      { objective: "flow-grpo" },
    ],
    ["penalty is not clamped", "const d = e.clip(difference, -PENALTY_CLAMP, PENALTY_CLAMP);", "const d = difference;"],
    ["no penalty", "average(o.kl_coeff > 0 ? ", "average(o.kl_coeff < 0 ? "],
    ["half of the penalty", "e.mul(k3, o.kl_coeff)", "e.mul(k3, o.kl_coeff / 2)"],
  ]),
  ...inFile("rl/sequence-loss.js", { objective: "espo" }, [
    ["ratio of a response, not of a token", "e.exp(e.div(e.sub(value, old), units))", "e.exp(e.sub(value, old))"],
    ["penalty of twice its size", "e.mul(e.mul(difference, difference), 0.5)", "e.mul(difference, difference)"],
    [
      "penalty not divided by L",
      "e.div(e.mul(e.mul(difference, difference), 0.5), units)",
      "e.mul(e.mul(difference, difference), 0.5)",
    ],
    ["cispo's log-probability of a response", "logProb: e.div(value, units)", "logProb: value", { objective: "gdpo" }],
  ]),
  ...inFile("rl/weighing.js", { objective: "flow-grpo" }, [
    ["length_norm response is ignored", 'if (norm === "response") {', 'if (norm === "") {'],
    ["a constant length without the responses", "norm * responses", "norm"],
    ["importance weights upside down", "old[s] - (recorded?.[s] ?? old[s])", "(recorded?.[s] ?? old[s]) - old[s]"],
    ["truncated in the place of masked", 'beyond === "mask" ? 0 : most', "most"],
    [
      "importance of a segment, not of a response",
      'level === "response" ? whole.get(b) : difference[s]',
      "difference[s]",
    ],
    ["importance weights are not capped", "w <= most ? w", "true ? w", { objective: "espo" }],
  ]),
  ...inFile("rl/layouts.js", { objective: "just-grpo" }, [
    ["long responses count more", "1 / sizes.get(g)", "1"],
    ["rounds of a response are not averaged", "x / (rounds.get(owner)?.size ?? 1)", "x", { objective: "mdpo" }],
    ["ratios of weighed terms", "(c === 0 ? 0 : 1)", "c", { objective: "coupled-grpo" }],
  ]),
  ...inFile("rl/objectives/espo.js", { objective: "espo" }, [
    ["complements always", "coupled: o.coupled", "coupled: true"],
  ]),
  ...inFile("features/objectives/objectives/gdpo.js", { objective: "gdpo" }, [
    ["quadrature of twice the weight", "weight: w / 2", "weight: w"],
    ["quadrature over half of the shares", "fraction: (x + 1) / 2", "fraction: (x + 1) / 4"],
    ["one mask a node", "samples: o.mc_samples", "samples: 1"],
  ]),
  ...inFile("features/objectives/objectives/spg.js", { objective: "spg" }, [
    ["upper bound of the good", "e.less(advantage, 0)", "e.greater(advantage, 0)"],
    ["upper bound without its power", "e.exp(e.mul(logProbs, beta))", "e.exp(logProbs)"],
    ["responses count the same", "x * batch.units[s]", "x"],
    ["masks without their weights", "e.mul(coefficient, e.exp(e.mul(logProbs, beta)))", "e.exp(e.mul(logProbs, beta))"],
    ["loss of the wrong sign", "e.neg(average(e.mul(advantage, mixed)))", "average(e.mul(advantage, mixed))"],
  ]),
  ...inFile("features/objectives/objectives/wd1.js", { objective: "wd1" }, [
    ["the bad count as good", "(good[i] - bad[i])", "(good[i] + bad[i])"],
    ["not times the group's size", "rewards.length * (", "("],
    ["sharpness is ignored", "rewards.map((r) => psi * r)", "rewards.map((r) => r)"],
    ["bound of a response, not of a token", "e.div(value, units)", "value"],
  ]),
  ...inFile("features/objectives/objectives/flowrl.js", { objective: "flowrl" }, [
    ["rewards without beta", "e.mul(advantage, o.beta)", "advantage"],
    [
      "log Z of the wrong sign",
      "e.add(z, perToken(e.sub(value, reference)))",
      "e.sub(perToken(e.sub(value, reference)), z)",
    ],
    [
      "reference of the wrong sign",
      "e.add(z, perToken(e.sub(value, reference)))",
      "e.add(z, perToken(e.sub(reference, value)))",
    ],
    ["gradient through the weight", "e.stopGradient(e.clip(ratio, ...bounds))", "e.clip(ratio, ...bounds)"],
    ["paths not divided by their length", "const perToken = (v) => e.div(v, units);", "const perToken = (v) => v;"],
  ]),
  ...inFile("features/objectives/objectives/flowrl.js", { objective: "flowrl" }, [
    ["log Z of the prompt's first half", "b * length + ids.length)", "b * length + (ids.length >> 1))"],
    ["log Z reads the response too", "b * length + ids.length)", "b * length + ids.length + 2)"],
    ["log Z of the first sequence for all", "sequence[s] = BigInt(b);", "sequence[s] = 0n;"],
  ]),
  ...inFile("diffusion/packing.js", { objective: "flow-grpo", proofs: ["supervised"] }, [
    ["packed examples lie over each other", "offset += buffer.ids.length;", "offset += buffer.ids.length - 1;"],
    ["one example a pack", "pack.of.push(one);", "if (pack.of.length === 0) pack.of.push(one);"],
  ]),
  ...inFile("diffusion/terms.js", { objective: "flow-grpo", proofs: ["supervised"] }, [
    ["rows of packed examples without their offset", "return b * length + offset + n;", "return b * length + n;"],
  ]),
  ...inFile("diffusion/buffer.js", { objective: "flow-grpo", proofs: ["supervised"] }, [
    [
      "a packed example sees the one before",
      "const row = (start + n) * length + offset;",
      "const row = (start + n) * length;",
    ],
  ]),
  ...inFile("features/objectives/objectives/mdpo.js", { objective: "mdpo" }, [
    ["gain without the draft before", "reward - (rewards[t - 1] ?? 0) + 1 + future", "reward + 1 + future"],
    ["the future holds the present", "rewards.slice(t + 1)", "rewards.slice(t)"],
    ["steps of smallest credit", "Math.abs(all[b]) - Math.abs(all[a])", "Math.abs(all[a]) - Math.abs(all[b])"],
    ["every token counts the same", "meanOfRounds(context.stepTerms(", "((batch) => batch)(context.stepTerms("],
  ]),
  ...inFile("features/objectives/objectives/just-grpo.js", { objective: "just-grpo" }, [
    [
      "every token of a step counts the same",
      "return countEqually(batch, (s) => String(batch.owner[s]));",
      "return batch;",
    ],
  ]),
  ...inFile("features/objectives/objectives/cj-grpo.js", { objective: "cj-grpo" }, [
    [
      "every token of a step counts as much",
      "meanOfRounds(context.stepTerms(",
      "((batch) => batch)(context.stepTerms(",
    ],
  ]),
  ...inFile("features/objectives/objectives/coupled-grpo.js", { objective: "coupled-grpo" }, [
    ["no complement", "coupled: true", "coupled: false"],
  ]),
  ...inFile("rl/objectives/flow-grpo.js", { objective: "flow-grpo" }, [
    ["a step too few in a subset", ".slice(0, k)", ".slice(0, k - 1)"],
    ["sums for means", "reduction: o.reduction", 'reduction: "sum"'],
  ]),
  ...inFile("train/update.js", { objective: "flow-grpo" }, [
    ["credit of the wrong sign", "creditOf(samples[b], batch, s)", "-creditOf(samples[b], batch, s)"],
    [
      "credit of another sample",
      "creditOf(samples[b], batch, s)",
      "creditOf(samples[samples.length - 1 - b], batch, s)",
    ],
    [
      "credit of the step before",
      "const own = credit[step];",
      "const own = credit[Math.max(0, step - 1)];",
      { objective: "mdpo" },
    ],
    ["the old policy is the reference", "references?.[i] ?? old", "old"],
    ["reference scored as the policy", 'score(all, "reference")', 'score(all, "policy")', { objective: "grpo" }],
    ["a subset stands for itself", "(share?.[segment] ?? 1) * (sampled?.share[segment] ?? 1)", "share?.[segment] ?? 1"],
    ["importance weights are dropped", " * (trust?.[s] ?? 1)", ""],
    ["weights by a micro-batch's segments", "shareOf(batch, s) / segments", "shareOf(batch, s) / batch.segments"],
    [
      "what was recorded is compared with itself",
      "scored[unscored.indexOf(batch)] ?? batch.recorded",
      "batch.recorded ?? scored[unscored.indexOf(batch)]",
    ],
  ]),
  ...inFile("train/rollouts/groups.js", { objective: "flow-grpo" }, [
    ["credit of the first turn for all", "credit: credit[t] ?? 0", "credit: credit[0] ?? 0"],
    ["credit of the first episode for all", "group.credit[r]", "group.credit[0]"],
    ["rewards of the next turn", "record.turns[t]?.reward", "record.turns[t + 1]?.reward"],
  ]),
  ...inFile("diffusion/terms.js", { objective: "flow-grpo" }, [
    [
      "only the last recorded token of a step",
      "recorded[s] = recorded[s] + term.logProb;",
      "recorded[s] = term.logProb;",
    ],
    ["a subset's steps stand for one", "(sizes.whole[b]?.steps ?? 0) / shown[b]", "1"],
  ]),
  ...inFile("engine/graphs.js", { objective: "just-grpo", proofs: ["objective-gradient"] }, [
    [
      "gradient of a segment's first terms",
      '{ axis: 0, reduction: "add" }',
      '{ axis: 0, reduction: "max" }',
      { objective: "flow-grpo" },
    ],
    [
      "entropy of the wrong sign",
      "return e.neg(e.sum(e.mul(e.exp(logProbs), logProbs), [1], false));",
      "return e.sum(e.mul(e.exp(logProbs), logProbs), [1], false);",
    ],
  ]),
  ...inFile("optim/adamw.js", { objective: "flowrl", proofs: ["optimizer"] }, [
    ["no bias correction of the mean", "e.div(m, correction1)", "m"],
    ["no bias correction of the square", "e.div(v, correction2)", "v"],
    ["decay of the wrong sign", "e.sub(1, e.mul(lr, options.weightDecay))", "e.add(1, e.mul(lr, options.weightDecay))"],
    ["gains are decayed", "parameter.shape.length > 1", "parameter.shape.length > 0"],
    ["steps of the wrong sign", "e.sub(decayed, e.mul(direction, lr))", "e.add(decayed, e.mul(direction, lr))"],
    ["betas swapped", "e.mul(first, options.beta1)", "e.mul(first, options.beta2)"],
  ]),
  ...inFile("optim/optimizer.js", { objective: "flowrl", proofs: ["optimizer"] }, [
    ["gradients are not clipped", "options.gradClip > 0 ? ", "options.gradClip < 0 ? "],
    [
      "gradients are raised to the clipped norm",
      "e.min(e.div(options.gradClip, e.add(norm, 1e-6)), 1)",
      "e.div(options.gradClip, e.add(norm, 1e-6))",
    ],
    ["a head's own rate is ignored", "scale === 1 ? rate : e.mul(rate, scale)", "rate"],
  ]),
  ...inFile("optim/muon.js", { objective: "flow-grpo", proofs: ["optimizer"] }, [
    ["Muon without Nesterov's step", "e.add(gradient, e.mul(m, MOMENTUM))", "m"],
    ["Muon of four iterations", "const ITERATIONS = 5;", "const ITERATIONS = 4;"],
  ]),
  ...inFile("optim/schedule.js", { objective: "flow-grpo", proofs: ["optimizer"] }, [
    ["warm-up a step late", "t / o.warmupSteps", "(t - 1) / o.warmupSteps"],
    ["cosine of twice its height", "0.5 * (1 + Math.cos(Math.PI * x))", "1 + Math.cos(Math.PI * x)"],
    ["decay to nothing", "o.minLrRatio + (1 - o.minLrRatio) * remaining", "remaining"],
  ]),
  ...inFile("engine/engine.js", { objective: "flow-grpo", proofs: ["optimizer"] }, [
    ["bias correction of the next update", "1 - optimizer.beta1 ** t", "1 - optimizer.beta1 ** (t + 1)"],
  ]),
  ...inFile("diffusion/shared-starts.js", { objective: "flow-grpo", proofs: ["on-policy"] }, [
    ["another prompt of the same length is the same one", "a.every((x, i) => x === b[i])", "true"],
    ["places for positions where prompts are shared", "BigInt(piece.positions[n])", "BigInt(n)"],
    ["a shared prompt's keys are one off", "? before.at + n :", "? before.at + Math.max(0, n - 1) :"],
  ]),
  ...inFile("diffusion/buffer.js", { objective: "flow-grpo", proofs: ["stored"] }, [
    [
      "a block sees the next one",
      "blocks.lastIndexOf(blocks[n])",
      "blocks.lastIndexOf(Math.min(blocks[n] + 1, blocks.at(-1)))",
    ],
    [
      "given tokens one position late",
      "canvas.given.map(([position]) => prompt.length + position)",
      "canvas.given.map(([position]) => prompt.length + position + 1)",
    ],
    ["the response begins one position late", "this.offset = prompt.length;", "this.offset = prompt.length + 1;"],
  ]),
  ...inFile("diffusion/samplers/unmask/canvas.js", { objective: "flow-grpo", proofs: ["stored"] }, [
    [
      "the last mask is unseen by the others",
      "buffer.shared.fill(buffer.length);",
      "buffer.shared.fill(buffer.length - 1);",
    ],
    ["masks see no other mask", 'slotFill === "single-mask" ? buffer.length : sees.start', "buffer.length"],
  ]),
  ...inFile("diffusion/samplers/unmask/next-token.js", { objective: "flow-grpo", proofs: ["stored"] }, [
    ["a value sees another blank's", "tokens.get(cell), cell, before, own)", "tokens.get(cell), cell)"],
    ["a value sees what is given behind it", "position < start", "true"],
    ["a value begins at the prompt's end", "rows.set(first, before - 1)", "rows.set(first, prompt.length - 1)"],
    [
      "a value's second token from its label",
      "rows.set(cell + 1, buffer",
      "rows.set(cell + 1, cell === first ? before - 1 : buffer",
    ],
    [
      "tokens at half their weight",
      "coefficient: 1,",
      "coefficient: 0.5,",
      { sampler: "next-token", proofs: ["elbo"] },
    ],
  ]),
  ...inFile("diffusion/cross-entropy.js", { objective: "flow-grpo", sampler: "next-token", proofs: ["supervised"] }, [
    ["a mean over examples", "coefficient: 1 / total", "coefficient: 1 / written.length"],
    ["the token after the next one", "row: rows[i]", "row: rows[Math.max(0, i - 1)]"],
  ]),
  ...inFile("engine/engine.js", { objective: "flow-grpo", proofs: ["layout"] }, [
    ["the reference is the policy", "bind: this.bindPolicy(key, names)", 'bind: this.bindPolicy("policy", names)'],
  ]),
  ...inFile("engine/trained-parameters.js", { objective: "flow-grpo", proofs: ["gradients"] }, [
    [
      "each micro-batch replaces the gradient",
      "this.accumulated ? slot.gradient(p.name) : zeroKey(p.name)",
      "zeroKey(p.name)",
    ],
  ]),
  ...inFile("train/update.js", { objective: "espo", proofs: ["layout"] }, [
    [
      "every sample of a chunk draws the first one's masks",
      "chunk.map(({ stream }) => stream(draws))",
      "chunk.map(() => chunk[0].stream(draws))",
    ],
  ]),
  ...inFile("diffusion/samplers/unmask/replay.js", { objective: "flow-grpo", proofs: SAMPLING }, [
    [
      "temperature dropped in scoring",
      "commonTemperature(trajectories.map((t) => scoringTemperature(t.temperature)))",
      "1",
    ],
    ["EOS allowed wherever it was not", "round.eosAllowed[i] ? 1 : 0", "1"],
  ]),
  ...inFile("diffusion/samplers/unmask/rollout.js", { objective: "flow-grpo", proofs: SAMPLING }, [
    [
      "sampled at twice the temperature",
      "temperature: scoringTemperature(options.temperature)",
      "temperature: 2 * scoringTemperature(options.temperature)",
    ],
    ["log-probability of the draw with EOS", "const cell = at * 2 + (eosAllowed ? 0 : 1);", "const cell = at * 2;"],
  ]),
  ...inFile("diffusion/head.js", { objective: "flow-grpo", proofs: SAMPLING }, [
    [
      "EOS is not blocked",
      "e.mul(e.unsqueeze(e.sub(1, eosAllowed), [1]), BLOCKED)",
      "e.mul(e.unsqueeze(e.sub(1, eosAllowed), [1]), 0)",
    ],
  ]),
  ...inFile("diffusion/samplers/unmask/elbo.js", { objective: "espo", proofs: ["elbo", "objective-formula"] }, [
    ["weight U for U + 1", "slots + 1 : weight * slots", "slots : weight * slots"],
    ["masks of one unit at least", "rng.int(slots + 1)", "1 + rng.int(slots)"],
    ["the same mask for a complement", "[draw.masked, draw.masked.map((m) => !m)]", "[draw.masked, draw.masked]"],
    ["bound not averaged over draws", "/ size / views.length / samples", "/ size / views.length"],
  ]),
  ...inFile(
    "features/fsdfm/jump/heads.js",
    { objective: "flow-grpo", sampler: "jump", proofs: ["transitions", "on-policy"] },
    [
      ["jumps without log g", "e.add(e.log(hazard), logPhi(e, x))", "logPhi(e, x)"],
      ["chance to stay of the wrong exponent", "const x = e.mul(hazard, doubt);", "const x = hazard;"],
    ],
  ),
  ...inFile(
    "features/fsdfm/jump/bound.js",
    { objective: "espo", sampler: "jump", proofs: ["flow-bound", "objective-formula"] },
    [["generalised KL without 1 / (1 - kappa)", "1 / (1 - drawn.kappa) / halves", "1 / halves"]],
  ),
  ...inFile("diffusion/samplers/unmask/corrupt.js", { objective: "flow-grpo", proofs: ["supervised"] }, [
    ["masks not divided by p", "(inclusion[slot] * answer * of)", "(answer * of)"],
    ["masks weighed by the canvas's length", "(inclusion[slot] * answer * of)", "(inclusion[slot] * length * of)"],
    ["examples added up, not averaged", "(inclusion[slot] * answer * of)", "(inclusion[slot] * answer)"],
    ["the first EOS counts as fill", "(i > endOf(i) ? eosFillWeight", "(i >= endOf(i) ? eosFillWeight"],
    [
      "slots of EOS have the weight of others",
      "canvas.isFree && (slot + 1) * slotSize > response.length ? 1 : fraction",
      "fraction",
    ],
    ["no loss of the next token", "coefficient: arWeight / cleanTerms", "coefficient: 0"],
    ["next token of the token behind", "row: indexOf[i - 1]", "row: indexOf[i]"],
  ]),
  ...inFile("rl/objectives/sft.js", { objective: "flow-grpo", proofs: ["supervised"] }, [
    [
      "supervised loss of the wrong sign",
      "e.neg(e.total(e.mul(logProbs, coefficient)))",
      "e.total(e.mul(logProbs, coefficient))",
    ],
  ]),
  ...inFile("features/fsdfm/jump/supervised.js", { objective: "flow-grpo", sampler: "jump", proofs: ["supervised"] }, [
    ["flow matching without 1 / (1 - kappa)", "((1 - kappa) * total * examples.length)", "(total * examples.length)"],
    ["EOS fill counts as the answer", "? eosFillWeight : 1", "? 1 : 1"],
  ]),
];
