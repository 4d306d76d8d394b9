/** A lower bound on the time of counted work on a card: arithmetic and memory traffic of products, copies, launches. */

const BYTES = { f64: 8, f32: 4, tf32: 4, f16: 2, bf16: 2 };
/** Least seconds between two launches by ONNX Runtime: of rounds with few tokens, on an H100 and a Xeon. */
const LAUNCH = 15e-6;

/** Lists the products in descending order of their arithmetic. */
export function gemmTable({ gemms }) {
  return Object.entries(gemms)
    .map(([key, count]) => {
      const [types, ...sizes] = key.split(" ");
      const [m, n, k, batch] = sizes.map(Number);
      return { types, m, n, k, batch, count, flop: 2 * m * n * k * batch * count };
    })
    .sort((a, b) => b.flop - a.flop);
}

/**
 * @param counters read from the stub.
 * @param rates of the card per second: `single` and `half` FLOP, bytes of `memory`, bytes of the `bus`.
 */
export function estimate(counters, rates) {
  let products = 0;
  let flop = 0;
  for (const { types, m, n, k, batch, count, flop: work } of gemmTable(counters)) {
    const width = BYTES[types.split(/[*>]/)[0]] ?? 4;
    const traffic = (m * k + k * n + m * n) * width * batch * count;
    products += Math.max(work / (width <= 2 ? rates.half : rates.single), traffic / rates.memory);
    flop += work;
  }
  const copies = (counters.toDevice.bytes + counters.toHost.bytes) / rates.bus;
  const launches = counters.launches * LAUNCH;
  return { flop, products, copies, launches, seconds: Math.max(products, launches) + copies };
}
