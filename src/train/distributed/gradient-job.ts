import { z } from "zod";
import { decode, encode } from "../../cluster/codec.js";
import type { Dispatcher } from "../../cluster/dispatcher.js";
import type { Batch } from "../../diffusion/batch.js";
import type { ScoreHead } from "../../diffusion/score-head.js";
import type { Engine, PolicyKey, SegmentValues } from "../../engine/engine.js";
import type { Policy } from "../../engine/policy.js";
import type { Tensor } from "../../onnx/types.js";
import type { MicroBatch } from "../micro-batch.js";
import { type SlotGradient, type SlotGradients, slotGradient, slotRanges } from "../rollouts/slots.js";
import type { ScoreAll } from "../update.js";

/** Scoring or differentiating some micro-batches, as a job. */
const payloadSchema = z.object({
  what: z.enum(["score", "gradient"]),
  /** Address of the parameters that are taken for the policy's. */
  adapter: z.string(),
  /** Address of the batches. */
  batches: z.string(),
});
export type GradientPayload = z.infer<typeof payloadSchema>;

export function parseGradientPayload(payload: unknown): GradientPayload {
  return payloadSchema.parse(payload);
}

/** A batch without what is a function: its head is known by its name. */
type SentBatch = Omit<Batch, "head"> & { readonly head: string };
type SentMicroBatch = { readonly batch: SentBatch; readonly values: SegmentValues };

const sent = ({ head, ...batch }: Batch): SentBatch => ({ ...batch, head: head.name });

function received({ head: name, ...batch }: SentBatch, heads: readonly ScoreHead<never>[]): Batch {
  const head = heads.find((one) => one.name === name);
  if (head === undefined) throw new Error(`the sampler has no head ${name}`);
  return { ...batch, head: head as unknown as ScoreHead, recorded: batch.recorded };
}

/** A worker's part, with the job's parameters in place. */
export async function computeGradients(
  what: GradientPayload["what"],
  batches: Buffer,
  { engine, sampler }: Pick<Policy, "engine" | "sampler">,
): Promise<Uint8Array> {
  const heads = sampler.scoreHeads as readonly ScoreHead<never>[];
  if (what === "score") {
    const values: Float32Array[] = [];
    for (const batch of decode(batches) as SentBatch[])
      values.push((await engine.score(received(batch, heads), "policy")).value);
    return encode(values);
  }
  const slot = (decode(batches) as SentMicroBatch[]).map(
    ({ batch, values }): MicroBatch => ({ batch: received(batch, heads), trajectories: [], values }),
  );
  const { gradients, metrics, largest } = await slotGradient(engine, slot);
  return encode({ gradients: Object.fromEntries(gradients), metrics, largest });
}

/** Parameters as a blob. */
export function encodeParameters(parameters: ReadonlyMap<string, Tensor>): Uint8Array {
  return encode(
    Object.fromEntries([...parameters].map(([name, { dtype, shape, data }]) => [name, { dtype, shape, data }])),
  );
}

export function decodeParameters(bytes: Buffer): Map<string, Tensor> {
  return new Map(Object.entries(decode(bytes) as Record<string, Tensor>));
}

type Sender = Pick<Dispatcher, "run" | "keep" | "drop">;

/** Scores by workers, in as many jobs as an update has slots. @param address gives that of a policy's parameters. */
export function scoreByWorkers(
  dispatcher: Sender,
  slots: number,
  address: (key: PolicyKey) => Promise<string>,
): ScoreAll {
  return async (batches, key) => {
    if (batches.length === 0) return [];
    const adapter = await address(key);
    const parts = slotRanges(batches.length, slots).map(async ([from, to], i) => {
      const bytes = await sentJob(
        dispatcher,
        `score.${key}.${i}`,
        "score",
        adapter,
        encode(batches.slice(from, to).map(sent)),
      );
      return decode(bytes) as Float32Array[];
    });
    return (await Promise.all(parts)).flat();
  };
}

/** Gradients by workers, one job a slot. */
export function gradientsByWorkers(dispatcher: Sender, address: (key: PolicyKey) => Promise<string>): SlotGradients {
  return async function* (slots, update) {
    const adapter = await address("policy");
    const jobs = slots.map((slot, i) => {
      const batches = slot.map(({ batch, values }) => ({ batch: sent(batch), values }));
      const job = sentJob(dispatcher, `u${update}.slot${i}`, "gradient", adapter, encode(batches));
      // one that fails is reported when it is its turn
      job.catch(() => undefined);
      return job;
    });
    for (const [i, job] of jobs.entries()) {
      const result = decode(await job) as Omit<SlotGradient, "gradients"> & { gradients: Record<string, Tensor> };
      delete jobs[i];
      yield { ...result, gradients: new Map(Object.entries(result.gradients)) };
    }
  };
}

async function sentJob(
  dispatcher: Sender,
  place: string,
  what: GradientPayload["what"],
  adapter: string,
  bytes: Uint8Array,
): Promise<Buffer> {
  const batches = await dispatcher.keep(bytes);
  const payload: GradientPayload = { what, adapter, batches };
  try {
    return await dispatcher.run("gradients", place, payload, [adapter, batches]);
  } finally {
    await dispatcher.drop(batches);
  }
}

/** Puts parameters in the place of the policy's, unless they are there already. */
export class LoadedAdapter {
  private loaded: string | undefined;

  constructor(private readonly engine: Pick<Engine, "setParameters">) {}

  async load(address: string, bytes: (address: string) => Buffer): Promise<void> {
    if (this.loaded === address) return;
    this.loaded = undefined;
    await this.engine.setParameters("policy", decodeParameters(bytes(address)));
    this.loaded = address;
  }
}
