import type { RefusionOptions } from "../../../src/features/refusion-decoding/options.js";
import { type FakeNetwork, TOKENS } from "../../diffusion/samplers/unmask/fake-model.js";
import type { TokenArrays } from "../../support/token-batch.js";

/** One cached entry: what it is, where it stands, and the entries that its keys and values have seen. */
interface Entry {
  readonly id: number;
  readonly position: number;
  readonly sees: readonly Entry[];
}

/**
 * ReFusion's decoding of one prompt, written from its description: an explicit cache of entries, every sequence run by
 * itself, slots that are finished side by side as sequences of their own.
 */
export class Reference {
  forwards = 0;

  constructor(
    private readonly network: FakeNetwork,
    private readonly options: RefusionOptions,
  ) {}

  decode(prompt: readonly number[]): { response: number[]; order: number[] } {
    const { slotSize: k, blocks, responseLength, slotThreshold, tokenThreshold } = this.options;
    let cache: Entry[] = [];
    for (const [position, id] of prompt.entries()) cache.push({ id, position, sees: [...cache] });
    const order: number[] = [];
    const text = new Map<number, number>();
    let stop = false;
    const at = (slot: number, i: number): number => prompt.length + slot * k + i;

    for (let block = 0; block < blocks && !stop; block++) {
      const per = responseLength / blocks / k;
      let open = Array.from({ length: per }, (_, i) => block * per + i);
      const keep = (slot: number, tokens: readonly number[], entries: readonly Entry[]): void => {
        tokens.forEach((token, i) => {
          order.push(slot * k + i);
          text.set(slot * k + i, token);
          cache.push(entries[i] as Entry);
        });
        open = open.filter((other) => other !== slot);
        if (tokens.at(-1) !== TOKENS.eos) return;
        stop = true;
        open = open.filter((other) => other < slot);
      };

      while (open.length > 0) {
        // 1. plan
        const masks = this.chain(
          cache,
          open.flatMap((slot) => Array.from({ length: k }, (_, i) => ({ id: TOKENS.mask, position: at(slot, i) }))),
        );
        const planned = this.forward(masks);
        const drafts = open.map((slot, s) => ({ slot, tokens: planned.slice(s * k, (s + 1) * k).map(argmax) }));
        // 2. choose
        const first = drafts.map(({ tokens }, s) => (planned[s * k] as number[])[tokens[0] as number] as number);
        let chosen = drafts.filter((_, s) => (first[s] as number) > slotThreshold);
        if (chosen.length === 0) chosen = [drafts[first.indexOf(Math.max(...first))] as (typeof drafts)[number]];
        // 3. verify, one behind the other
        const read = this.chain(
          cache,
          chosen.flatMap(({ slot, tokens }) => tokens.map((id, i) => ({ id, position: at(slot, i) }))),
        );
        const verified = k === 1 ? [] : this.forward(read);
        const good = chosen.map(({ tokens }, c) =>
          tokens.map(
            (token, i) => i === 0 || ((verified[c * k + i - 1] as number[])[token] as number) > tokenThreshold,
          ),
        );
        // 4. the longest accepted prefix over all chosen slots
        const flat = chosen.flatMap(({ tokens }) => tokens);
        const flatGood = good.flat();
        const refused = flatGood.indexOf(false);
        const prefix = refused < 0 ? flat.length : refused;
        const eos = flat.slice(0, prefix).indexOf(TOKENS.eos);
        const length = eos >= 0 ? eos + 1 : Math.floor(prefix / k) * k;
        if (length > 0) {
          for (let from = 0; from < length; from += k) {
            const end = Math.min(from + k, length);
            keep((chosen[from / k] as { slot: number }).slot, flat.slice(from, end), read.slice(from, end));
          }
          continue;
        }
        // 5. side by side
        let rows = chosen.map(({ slot, tokens }, c) => ({
          slot,
          tokens: [...tokens],
          ok: prefixOf(good[c] as boolean[]),
        }));
        for (;;) {
          const ended = rows.findIndex(({ tokens, ok }) => tokens.slice(0, ok).includes(TOKENS.eos));
          if (ended >= 0) {
            rows = rows.slice(0, ended + 1);
            (rows[ended] as { ok: number }).ok = k;
          }
          const unfinished = rows.filter(({ ok }) => ok < k);
          if (unfinished.length === 0) break;
          for (const row of unfinished) {
            const half = row.tokens.map((id, i) => ({ id: i < row.ok ? id : TOKENS.mask, position: at(row.slot, i) }));
            const redrafted = this.forward(this.chain(cache, half), false);
            row.tokens = row.tokens.map((token, i) => (i < row.ok ? token : argmax(redrafted[i] as number[])));
          }
          this.forwards++;
          const lacking = unfinished.some(({ ok }) => ok < k - 1);
          for (const row of unfinished) {
            const filled = row.tokens.map((id, i) => ({ id, position: at(row.slot, i) }));
            const again = this.forward(this.chain(cache, filled), false);
            const passes = row.tokens.map(
              (token, i) => i <= row.ok || ((again[i - 1] as number[])[token] as number) > tokenThreshold,
            );
            row.ok = prefixOf(passes);
          }
          if (lacking) this.forwards++;
        }
        const before = cache;
        cache = [...cache];
        for (const { slot, tokens } of rows) {
          const alone = this.chain(
            before,
            tokens.map((id, i) => ({ id, position: at(slot, i) })),
          );
          const end = tokens.indexOf(TOKENS.eos);
          keep(slot, end < 0 ? tokens : tokens.slice(0, end + 1), alone);
          if (end >= 0) break;
        }
      }
    }
    // 6. by position, through the first EOS
    const sorted = [...text].sort(([a], [b]) => a - b);
    const end = sorted.findIndex(([, token]) => token === TOKENS.eos);
    const response = sorted.slice(0, end < 0 ? undefined : end + 1).map(([, token]) => token);
    return { response, order: order.filter((position) => position < response.length) };
  }

  /** Entries that see the cache and each other from left to right. */
  private chain(cache: readonly Entry[], tokens: readonly { id: number; position: number }[]): Entry[] {
    const made: Entry[] = [];
    for (const token of tokens) made.push({ ...token, sees: [...cache, ...made] });
    return made;
  }

  /** Probabilities [V] at each entry. */
  private forward(entries: readonly Entry[], counted = true): number[][] {
    if (counted) this.forwards++;
    const all = [...new Set([...(entries[0]?.sees ?? []), ...entries])];
    const n = all.length;
    const input: TokenArrays = {
      batch: 1,
      length: n,
      inputIds: BigInt64Array.from(all, ({ id }) => BigInt(id)),
      positionIds: BigInt64Array.from(all, ({ position }) => BigInt(position)),
      attentionBias: new Float32Array(n * n).fill(-1e9),
    };
    all.forEach((entry, i) => {
      for (const seen of [...entry.sees, entry]) input.attentionBias[i * n + all.indexOf(seen)] = 0;
    });
    const hidden = this.network.hidden(input, 0);
    return entries.map((entry) =>
      this.network.logProbs(hidden[all.indexOf(entry)] as Float64Array, 1, true).map(Math.exp),
    );
  }
}

const argmax = (p: readonly number[]): number => p.indexOf(Math.max(...p));

function prefixOf(good: readonly boolean[]): number {
  const refused = good.indexOf(false);
  return refused < 0 ? good.length : refused;
}
