import type { Emitter } from "../onnx/emit.js";
import type { Value } from "../onnx/types.js";
import { type RopeScaling, ropeFrequencies } from "./rope.js";

/** Declares a layer's weight once, by the checkpoint's own name. */
export type WeightOf = (name: string) => Value;

/** y = x W^T (+ b): x [M, in], W [out, in] as in PyTorch; y [M, out]. 2-D, so that its gradients are plain Gemms. */
export const linear = (e: Emitter, x: Value, weight: Value, bias?: Value): Value =>
  e.gemm(x, weight, { transB: true, ...(bias === undefined ? {} : { c: bias }) });

/** RMSNorm over the last axis (Zhang & Sennrich 2019): x / sqrt(mean(x^2) + eps) * w, statistics in fp32. */
export const rmsNorm = (e: Emitter, x: Value, weight: Value, epsilon: number): Value =>
  e.g.op("SimplifiedLayerNormalization", [x, weight], { axis: -1, epsilon });

/** LayerNorm over the last axis (Ba et al. 2016), no bias: (x - mean) / sqrt(var + eps) * w, statistics in fp32. */
export const layerNorm = (e: Emitter, x: Value, weight: Value, epsilon: number): Value =>
  e.g.op("LayerNormalization", [x, weight], { axis: -1, epsilon });

/** SiLU: x sigmoid(x). */
export const silu = (e: Emitter, x: Value): Value => e.mul(x, e.sigmoid(x));

/** GELU in its tanh form (Hendrycks & Gimpel 2016): x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). */
export const geluTanh = (e: Emitter, x: Value): Value => e.g.op("Gelu", [x], { approximate: "tanh" });

/** SwiGLU (Shazeer 2020): down(silu(gate(x)) * up(x)). */
export function swiglu(e: Emitter, x: Value, gate: Value, up: Value, down: Value): Value {
  const g = e.g.scope("gate_proj", () => linear(e, x, gate));
  const u = e.g.scope("up_proj", () => linear(e, x, up));
  const activated = e.mul(silu(e, g), u);
  return e.g.scope("down_proj", () => linear(e, activated, down));
}

export interface Rotation {
  /** [B, N, 1, hd/2] */
  readonly cos: Value;
  /** [B, N, 1, hd/2] */
  readonly sin: Value;
}

/**
 * The angles of rotary embedding (Su et al. 2021) for explicit position ids [B, N]: a token's buffer index and its
 * position are independent here. Attention's 1 / sqrt(hd) is folded in for queries, so that no [B, H, N, N] tensor is
 * scaled.
 */
export function rotations(
  e: Emitter,
  positionIds: Value,
  headDim: number,
  theta: number,
  scaling?: RopeScaling,
): { query: Rotation; key: Rotation } {
  const { frequencies, scale } = ropeFrequencies(headDim, theta, scaling);
  const inverse = e.g.constant("float32", [1, 1, 1, headDim / 2], frequencies);
  const angles = e.mul(e.unsqueeze(e.cast(positionIds, "float32"), [2, 3]), inverse);
  const scaled = (x: Value): Value => (scale === 1 ? x : e.mul(x, scale));
  const key = { cos: scaled(e.cos(angles)), sin: scaled(e.sin(angles)) };
  return { key, query: { cos: e.mul(key.cos, headDim ** -0.5), sin: e.mul(key.sin, headDim ** -0.5) } };
}

/** Rotates the two halves of each head (rotate-half): x [B, N, H, hd]. */
export function rotate(e: Emitter, x: Value, { cos, sin }: Rotation): Value {
  const half = (x.shape.at(-1) as number) / 2;
  const [a, b] = e.split(x, [half, half], 3) as [Value, Value];
  return e.concat([e.sub(e.mul(a, cos), e.mul(b, sin)), e.add(e.mul(b, cos), e.mul(a, sin))], 3);
}

/** Reshape targets with the symbolic batch and length; each is built once per graph from Shape(input_ids). */
export class Targets {
  private readonly batch: Value;
  private readonly length: Value;

  constructor(
    private readonly e: Emitter,
    inputIds: Value,
  ) {
    this.batch = e.g.op("Shape", [inputIds], { start: 0, end: 1 });
    this.length = e.g.op("Shape", [inputIds], { start: 1, end: 2 });
  }

  private readonly made = new Map<string, Value>();

  /** Returns a target from numbers, "B" and "N". */
  of(...dims: readonly (number | "B" | "N")[]): Value {
    const key = dims.join(",");
    let target = this.made.get(key);
    if (target === undefined) {
      target = this.e.concat(
        dims.map((d) => (d === "B" ? this.batch : d === "N" ? this.length : this.e.g.ints([d]))),
        0,
      );
      this.made.set(key, target);
    }
    return target;
  }
}
