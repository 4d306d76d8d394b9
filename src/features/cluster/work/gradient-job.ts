import { z } from "zod";
import type { Batch } from "../../../diffusion/layout/batch.js";
import type { ScoreHead } from "../../../diffusion/score-head.js";
import type { Engine, SegmentValues } from "../../../engine/engine.js";
import type { Policy } from "../../../engine/policy.js";
import type { PolicyKey } from "../../../engine/trained-parameters.js";
import type { Tensor } from "../../../onnx/types.js";
import type { Parameter } from "../../../optim/optimizer.js";
import type { MicroBatch } from "../../../train/micro-batch.js";
import { type SlotGradient, type SlotGradients, slotGradient, slotRanges } from "../../../train/rollouts/slots.js";
import type { ScoreAll } from "../../../train/update.js";
import { decode, encode } from "../queue/codec.js";
import type { Dispatcher } from "../queue/dispatcher.js";
import { address, receivedBytes } from "../queue/protocol.js";
import { sentBatches, sentGradients, sentMicroBatches, tensorsOf } from "./sent.js";

/** A job that scores or differentiates micro-batches. */
export const gradientPayload = z.object({
  what: z.enum(["score", "gradient"]),
  /** Blob address of the policy's parameters. */
  adapter: address,
  /** Blob address of the batches. */
  batches: address,
});
export type GradientPayload = z.infer<typeof gradientPayload>;

/** A batch without functions: its head is given by name. */
type SentBatch = Omit<Batch, "head"> & { readonly head: string };
type SentMicroBatch = { readonly batch: SentBatch; readonly values: SegmentValues };

const sent = ({ head, ...batch }: Batch): SentBatch => ({ ...batch, head: head.name });

function withHead({ head: name, ...batch }: SentBatch, heads: readonly ScoreHead<never>[]): Batch {
  const head = heads.find((one) => one.name === name);
  if (head === undefined) throw new Error(`neither the sampler nor the objective has a head ${name}`);
  return { ...batch, head: head as unknown as ScoreHead, logProb: batch.logProb };
}

/** The worker's part; the job's parameters must be loaded. */
export async function computeGradients(
  what: GradientPayload["what"],
  batches: Buffer,
  { engine, sampler }: Pick<Policy, "engine" | "sampler">,
): Promise<Uint8Array> {
  const { critic } = engine;
  const heads: readonly ScoreHead<never>[] = [...sampler.scoreHeads, ...(critic === undefined ? [] : [critic.head])];
  if (what === "score") {
    const values: Float32Array[] = [];
    const sent = receivedBytes("batches to score", batches, (bytes) => sentBatches.parse(decode(bytes)));
    for (const batch of sent as unknown as SentBatch[])
      values.push((await engine.score(withHead(batch, heads), "policy")).logProb);
    return encode(values);
  }
  const sent = receivedBytes("micro-batches", batches, (bytes) => sentMicroBatches.parse(decode(bytes)));
  const slot = (sent as unknown as SentMicroBatch[]).map(
    ({ batch, values }): MicroBatch => ({ batch: withHead(batch, heads), trajectories: [], values }),
  );
  const { gradients, metrics, largest } = await slotGradient(engine, slot);
  return encode({ gradients: Object.fromEntries(gradients), metrics, largest });
}

/** Encodes parameters as a blob. */
export function encodeParameters(parameters: ReadonlyMap<string, Tensor>): Uint8Array {
  return encode(
    Object.fromEntries([...parameters].map(([name, { dtype, shape, data }]) => [name, { dtype, shape, data }])),
  );
}

type Sender = Pick<Dispatcher, "run" | "keep" | "drop">;

/** Scores on workers, one job per slot. @param publish stores a policy's parameters, and returns their address. */
export function scoreByWorkers(
  dispatcher: Sender,
  slots: number,
  publish: (key: PolicyKey) => Promise<string>,
): ScoreAll {
  return async (batches, key) => {
    if (batches.length === 0) return [];
    const adapter = await publish(key);
    const parts = slotRanges(batches.length, slots).map(([from, to], i) => {
      const part = batches.slice(from, to);
      const read = (bytes: Buffer): Float32Array[] => {
        const values = z.array(z.instanceof(Float32Array)).parse(decode(bytes));
        const wrong = part.findIndex(({ segments }, b) => values[b]?.length !== segments);
        if (wrong >= 0 || values.length !== part.length) throw new Error(`no values of batch ${wrong + 1}`);
        return values;
      };
      return sentJob(dispatcher, `score.${key}.${i}`, "score", adapter, encode(part.map(sent)), read);
    });
    return (await Promise.all(parts)).flat();
  };
}

/** Computes gradients on workers, one job per slot. */
export function gradientsByWorkers(
  dispatcher: Sender,
  parameters: readonly Parameter[],
  publish: (key: PolicyKey) => Promise<string>,
): SlotGradients {
  const read = (bytes: Buffer): SlotGradient => {
    const result = sentGradients.parse(decode(bytes));
    return { ...result, gradients: tensorsOf(result.gradients, parameters) };
  };
  return async function* (slots, update) {
    const adapter = await publish("policy");
    const jobs = slots.map((slot, i) => {
      const batches = slot.map(({ batch, values }) => ({ batch: sent(batch), values }));
      const job = sentJob(dispatcher, `u${update}.slot${i}`, "gradient", adapter, encode(batches), read);
      // a failure is reported when the job is awaited below
      job.catch(() => undefined);
      return job;
    });
    for (const [i, job] of jobs.entries()) {
      const result = await job;
      delete jobs[i];
      yield result;
    }
  };
}

async function sentJob<T>(
  dispatcher: Sender,
  place: string,
  what: GradientPayload["what"],
  adapter: string,
  bytes: Uint8Array,
  read: (bytes: Buffer) => T,
): Promise<T> {
  const batches = await dispatcher.keep(bytes);
  const payload: GradientPayload = { what, adapter, batches };
  try {
    return await dispatcher.run("gradients", place, payload, [adapter, batches], read);
  } finally {
    await dispatcher.drop(batches);
  }
}

/** Loads parameters as the policy's, unless they are loaded already. @throws Malformed if they do not fit the model. */
export function adapterLoader(engine: Pick<Engine, "setParameters" | "parameters">) {
  let loaded: string | undefined;
  return async (address: string, bytes: (address: string) => Buffer): Promise<void> => {
    if (loaded === address) return;
    loaded = undefined;
    const read = (blob: Buffer): Map<string, Tensor> => tensorsOf(decode(blob), engine.parameters);
    await engine.setParameters("policy", receivedBytes("an adapter", bytes(address), read));
    loaded = address;
  };
}
