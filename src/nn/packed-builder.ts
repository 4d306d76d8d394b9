import { Emitter } from "../onnx/emit.js";
import { GraphBuilder } from "../onnx/graph.js";
import { bnb4Attributes } from "../onnx/nf4.js";
import { sizeOf } from "../onnx/shapes.js";
import { type Attribute, DTYPE_CODE, type ExternalData, type Value } from "../onnx/types.js";
import { type Form, nf4Part, partsOf } from "../weights/precision.js";
import { NESTED_BLOCK } from "../weights/quantize.js";

/** A weight in its stored form. */
export interface StoredWeight {
  readonly form: Form;
  readonly shape: readonly number[];
  /** Returns the place of one of its parts in the file, by the part's name. */
  place(part: string): ExternalData;
  /** Mean of the scales, where these are nested. */
  readonly offset?: number;
}

interface Packed extends StoredWeight {
  readonly name: string;
}

/**
 * A graph builder whose weights need not be float32. An architecture emits plain products and lookups of float32
 * weights; for packed weights this builder emits a Cast of the weight, or a product in 4 bits, instead.
 */
export class PackedBuilder extends GraphBuilder {
  private readonly packed = new Map<string, Packed>();
  private readonly made = new Map<string, Value>();
  private readonly e = new Emitter(this);

  /** Declares a weight; returns the value of its float32 matrix. */
  weight(name: string, stored: StoredWeight): Value {
    const { form, shape } = stored;
    if (form === "float32") return this.initializer(name, form, shape, stored.place(name));
    this.packed.set(name, { ...stored, place: (part) => stored.place(part), name });
    return { name, dtype: "float32", shape };
  }

  override node(
    op: string,
    inputs: readonly (Value | undefined)[],
    attributes: Readonly<Record<string, Attribute>> = {},
    options: { domain?: string; count?: number; name?: string } = {},
  ): Value[] {
    const weights = inputs.map((v) => (v === undefined ? undefined : this.packed.get(v.name)));
    const weight = weights.find((w) => w !== undefined);
    if (weight === undefined) return super.node(op, inputs, attributes, options);
    if (weight.form === "nf4" || weight.form === "nf4-nested") return [this.product(weight, op, inputs, attributes)];
    // a lookup gathers its rows first: casting them is cheaper than casting the table
    if (op === "Gather" && weights[0] === weight) {
      const rows = super.node(op, [this.half(weight), inputs[1]], attributes, options)[0] as Value;
      return super.node("Cast", [rows], { to: DTYPE_CODE.float32 });
    }
    const operands = inputs.map((v, i) => (weights[i] === undefined ? v : this.decoded(weights[i])));
    return super.node(op, operands, attributes, options);
  }

  private once(key: string, make: () => Value): Value {
    const made = this.made.get(key);
    if (made !== undefined) return made;
    const value = make();
    this.made.set(key, value);
    return value;
  }

  private half(weight: Packed): Value {
    const { name, form, shape } = weight;
    return this.once(name, () => this.initializer(name, form as "bfloat16" | "float16", shape, weight.place(name)));
  }

  private decoded(weight: Packed): Value {
    const cast = (): Value => super.node("Cast", [this.half(weight)], { to: DTYPE_CODE.float32 })[0] as Value;
    return this.once(`${weight.name}/float32`, cast);
  }

  /** y = x W^T (+ bias) with W in 4 bits. */
  private product(
    weight: Packed,
    op: string,
    [x, w, bias]: readonly (Value | undefined)[],
    attributes: Readonly<Record<string, Attribute>>,
  ): Value {
    const isPlain = op === "Gemm" && Object.entries(attributes).every(([key, v]) => key === "transB" && v === 1);
    if (!isPlain || x === undefined || w?.name !== weight.name)
      throw new Error(`${weight.name} is kept in 4 bits, but is used by ${op} as more than y = x W^T`);
    const [n, k] = weight.shape as [number, number];
    const specs = partsOf(weight.name, weight.shape, weight.form);
    const part = (name: string, column = false): Value => {
      const spec = specs.get(name);
      if (spec === undefined) throw new Error(`no part ${name}`);
      // ONNX Runtime needs flat codes
      const shape = [sizeOf(spec.shape), ...(column ? [1] : [])];
      return this.once(name, () => this.initializer(name, spec.dtype, shape, weight.place(name)));
    };
    const codes = part(nf4Part.codes(weight.name));
    const absmax = weight.form === "nf4" ? part(nf4Part.absmax(weight.name)) : this.scales(weight, part);
    const y = super.node("MatMulBnb4", [x, codes, absmax], bnb4Attributes(n, k))[0] as Value;
    return bias === undefined ? y : this.e.add(y, bias);
  }

  /** Scales [blocks] from their codes: map[code] * nested[block / 256] + offset. */
  private scales(weight: Packed, part: (name: string, column?: boolean) => Value): Value {
    const { e } = this;
    const codes = part(nf4Part.absmax(weight.name));
    const nested = part(nf4Part.nestedAbsmax(weight.name), true);
    const [blocks, groups] = [codes.shape[0] as number, nested.shape[0] as number];
    const units = e.gather(part(nf4Part.nestedMap(weight.name)), e.cast(codes, "int32"));
    const repeated = e.reshape(e.expand(nested, [groups, NESTED_BLOCK]), [-1]);
    const scale = groups * NESTED_BLOCK === blocks ? repeated : e.slice(repeated, 0, 0, blocks);
    return e.add(e.mul(units, scale), weight.offset ?? 0);
  }
}
