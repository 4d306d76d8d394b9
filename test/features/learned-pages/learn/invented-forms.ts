/** Invents forms whose requests hold more than their fields: constants, copies, numbers that count, tokens, statistics. */
import type { Rng } from "../../../../src/core/rng.js";

export type Entered = Readonly<Record<string, string>>;

export interface InventedField {
  readonly label: string;
  /** The texts of its options, if it is chosen. */
  readonly options?: readonly string[];
}

/** A request that the page's script sends: for each key a JavaScript expression over `v` (values by label), `n` and `t`. */
export interface InventedRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
}

export interface InventedForm {
  readonly id: string;
  readonly fields: readonly InventedField[];
  readonly people: readonly Entered[];
  /** The requests in their order; the server takes the values from the last one. */
  readonly requests: readonly InventedRequest[];
  /** Reads a body of the last request as the server does: what it holds for each label. */
  received(body: Readonly<Record<string, unknown>>): Readonly<Record<string, string>>;
}

const LABELS = ["Name", "Town", "Room", "Plan", "Seat", "Colour"] as const;
const WORDS = "Ann Lee,Bo Fern,Cy Dale,Oslo,Rome,Lima,Cedar,Maple,Birch,Red,Blue,Green".split(",");

/** Writes the way in which a field is sent, and how its server reads it. */
interface Sending {
  readonly keys: Readonly<Record<string, string>>;
  readonly read: (body: Readonly<Record<string, unknown>>) => string;
  /** Set if the server cannot tell the value: what else the page says of it would stand for it. */
  readonly isLost?: true;
}

const text = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

function sendingOf(label: string, options: readonly string[] | undefined, i: number, rng: Rng): Sending {
  const v = `v[${JSON.stringify(label)}]`;
  const key = rng.pick([label.toLowerCase(), `k${i}`, `data.f${i}`.replace(".", "_")]);
  const plain: Sending = { keys: { [key]: v }, read: (body) => text(body[key]) };
  if (options === undefined) {
    const how = rng.pick(["plain", "plain", "template", "none"] as const);
    if (how === "template")
      return { keys: { [key]: `"[" + ${v} + "]"` }, read: (body) => text(body[key]).slice(1, -1) };
    return how === "none" ? { keys: {}, read: () => "", isLost: true } : plain;
  }
  const how = rng.pick(["plain", "codes", "shared", "none"] as const);
  if (how === "plain") return plain;
  if (how === "none") return { keys: {}, read: () => "", isLost: true };
  // two options may share a code: the server then knows neither
  const codes = options.map((option, n) => [option, `c${how === "shared" ? Math.floor(n / 2) : n}`] as const);
  const readBack = (code: string): string => {
    const named = codes.filter(([, one]) => one === code).map(([option]) => option);
    return named.length === 1 ? (named[0] as string) : "";
  };
  return {
    keys: { [key]: `(${JSON.stringify(Object.fromEntries(codes))})[${v}]` },
    read: (body) => readBack(text(body[key])),
    ...(how === "shared" && { isLost: true }),
  };
}

/** Lists what stands beside the fields of a request: it is like their values, but none of them. */
function noiseOf(labels: readonly string[], people: readonly Entered[], rng: Rng): Record<string, string> {
  const noise: Record<string, string> = {};
  const some = (label: string): string => `v[${JSON.stringify(label)}]`;
  if (labels.length === 0) return { nr: "n" };
  const kinds = rng
    .shuffle(["constant", "copy", "serial", "token", "length", "filled", "first", "clock"] as const)
    .slice(0, 4);
  for (const kind of kinds) {
    const label = rng.pick(labels);
    if (kind === "constant") noise[`x_${label.toLowerCase()}`] = JSON.stringify(people[0]?.[label] ?? "");
    if (kind === "copy") noise.copy = some(label);
    if (kind === "serial") noise.nr = "n";
    if (kind === "token") noise.token = "t";
    if (kind === "length") noise.length = `(${some(label)} || "").length`;
    if (kind === "filled") noise.filled = "Object.values(v).filter((x) => x).length";
    if (kind === "first") noise.first = `(${some(label)} || "")[0]`;
    if (kind === "clock") noise.clock = "Math.floor(n / 3)";
  }
  return noise;
}

/** Invents one form. */
export function inventForm(id: string, rng: Rng): InventedForm {
  const labels = rng.shuffle(LABELS).slice(0, 2 + rng.int(3));
  const words = rng.shuffle(WORDS);
  const fields = labels.map((label, i): InventedField => {
    const own = [0, 1, 2, 3].map((n) => words[(i * 3 + n) % words.length] as string);
    return rng.int(2) === 0 ? { label } : { label, options: own };
  });
  // two fields may have equal values in all tasks, and one the same value in all of them
  const [twin, constant] = [rng.int(3) === 0, rng.int(3) === 0];
  const people = [0, 1, 2].map((n) =>
    Object.fromEntries(
      fields.map(({ label, options }, i): [string, string] => {
        const at = constant && i === 0 ? 0 : n;
        const free = twin && i < 2 ? words[at] : words[(i * 3 + at) % words.length];
        return [label, (options?.[at] ?? free) as string];
      }),
    ),
  );
  const sendings = fields.map(({ label, options }, i) => [label, sendingOf(label, options, i, rng)] as const);
  const own = Object.assign({}, ...sendings.map(([, { keys }]) => keys)) as Record<string, string>;
  const sent = sendings.filter(([, { isLost }]) => isLost !== true).map(([label]) => label);
  const body = { ...noiseOf(sent, people, rng), ...own };
  const all = Object.fromEntries(labels.map((label) => [`c_${label.toLowerCase()}`, `v[${JSON.stringify(label)}]`]));
  const check: InventedRequest = { path: "/check", body: rng.int(2) === 0 ? all : {} };
  return {
    ...{ id, fields, people },
    requests: [...(sent.length === labels.length && rng.int(2) === 0 ? [check] : []), { path: "/save", body }],
    received: (sent) => Object.fromEntries(sendings.map(([label, { read }]) => [label, read(sent)])),
  };
}

/** Writes the object of a request's body as JavaScript. */
export const objectOf = ({ body }: InventedRequest): string =>
  `({ ${Object.entries(body)
    .map(([key, expression]) => `${JSON.stringify(key)}: ${expression}`)
    .join(", ")} })`;
