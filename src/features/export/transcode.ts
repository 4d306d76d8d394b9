import { setImmediate } from "node:timers/promises";
import { fail, misuse } from "../../core/errors.js";
import { NF4_BLOCK, NF4_CODE } from "../../onnx/nf4.js";
import { sizeOf } from "../../onnx/shapes.js";
import type { StoredMatrix } from "../../weights/model-weights.js";
import { encodeState, type Form, nf4Part, partsOf } from "../../weights/precision.js";
import { dynamicMap } from "../../weights/quantize.js";
import { SafetensorsWriter, type TensorSpec } from "../../weights/safetensors-write.js";
import { rounded } from "./forms.js";
import type { Change } from "./merge.js";
import { encodeNf4, encodeScales } from "./quantize.js";

/** Elements in memory at once: 16 MiB of float32, a whole number of 4-bit blocks. */
const CHUNK = 2 ** 22;

/** The conversion of one weight from a checkpoint into a model directory. */
export interface WeightTask {
  readonly name: string;
  readonly shape: readonly number[];
  readonly form: Form;
  /** Opens the source, just before the weight is read. */
  open(): StoredMatrix;
  /** Change by a merged adapter. */
  readonly change?: Change | undefined;
}

export interface TranscodeOptions {
  /** Called after every piece with the number of elements done so far. */
  readonly progress?: (done: number, weight: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Lists the tensors of the file that {@link writeWeights} writes. */
export const specsOf = (tasks: readonly WeightTask[]): Map<string, TensorSpec> =>
  new Map(tasks.flatMap(({ name, shape, form }) => [...partsOf(name, shape, form)]));

/**
 * Writes the weights to one safetensors file, each in its form, in pieces.
 * @throws UserError that names a weight that is not finite or too large for its form; AbortError. No file is left then.
 */
export async function writeWeights(
  path: string,
  tasks: readonly WeightTask[],
  options: TranscodeOptions = {},
): Promise<void> {
  const writer = new SafetensorsWriter(path, specsOf(tasks), { format: "pt" });
  let done = 0;
  try {
    for (const task of tasks) {
      const source = task.open();
      const size = sizeOf(task.shape);
      const sink = sinkOf(task, writer);
      for (let begin = 0; begin < size; begin += CHUNK) {
        const values = source.read(begin, Math.min(size, begin + CHUNK));
        task.change?.(values, begin);
        checkFinite(task, values);
        sink.write(values, begin);
        done += values.length;
        options.progress?.(done, task.name);
        // lets Ctrl-C and progress run
        await setImmediate();
        options.signal?.throwIfAborted();
      }
      sink.end?.();
    }
    writer.finish();
  } catch (error) {
    writer.abort();
    throw error;
  }
}

function checkFinite({ name, form }: WeightTask, values: Float32Array): void {
  const limit = form === "float16" ? 65504 : Number.MAX_VALUE;
  for (const value of values) {
    if (Math.abs(value) <= limit) continue;
    if (Number.isFinite(value))
      misuse(`The weight ${name} holds ${value}, which float16 cannot.`, { hint: "Use --quantize bf16." });
    fail(`The weight ${name} holds ${value}: the checkpoint is damaged.`, { hint: "Download the checkpoint again." });
  }
}

interface Sink {
  write(values: Float32Array, begin: number): void;
  end?(): void;
}

function sinkOf(task: WeightTask, writer: SafetensorsWriter): Sink {
  const { name, form } = task;
  if (form === "nf4" || form === "nf4-nested") return nf4Sink(task, writer);
  return {
    write(values, begin) {
      const data = rounded(values, form);
      writer.write(name, begin * data.BYTES_PER_ELEMENT, data);
    },
  };
}

/** Writes codes immediately; keeps a weight's scales until its end, because their mean must be known. */
function nf4Sink({ name, shape, form }: WeightTask, writer: SafetensorsWriter): Sink {
  const absmax = new Float32Array(sizeOf(shape) / NF4_BLOCK);
  return {
    write(values, begin) {
      const codes = new Uint8Array(values.length / 2);
      encodeNf4(values, codes, absmax.subarray(begin / NF4_BLOCK, (begin + values.length) / NF4_BLOCK));
      writer.write(nf4Part.codes(name), begin / 2, codes);
    },
    end() {
      const scales = form === "nf4" ? undefined : encodeScales(absmax);
      writer.write(nf4Part.map(name), 0, NF4_CODE);
      writer.write(nf4Part.absmax(name), 0, scales?.codes ?? absmax);
      writer.write(nf4Part.state(name), 0, encodeState({ shape, offset: scales?.offset }));
      if (scales === undefined) return;
      writer.write(nf4Part.nestedAbsmax(name), 0, scales.nested);
      writer.write(nf4Part.nestedMap(name), 0, dynamicMap());
    },
  };
}
