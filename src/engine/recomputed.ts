import { ALL_LAYERS, findBlocks } from "../autodiff/recompute.js";
import { LARGE } from "../autodiff/selective.js";
import type { Graph } from "../onnx/types.js";
import type { TrainedModel } from "./graphs.js";

interface Candidate {
  readonly graph: Graph;
  bytes(graph: Graph): number;
}

/**
 * The training graph that computes as little again as a budget allows: nothing, then large results of cheap ops, then
 * the first layers as wholes, as many as it takes. What a layer saves is about the same for all.
 * @param budget bytes of a session; undefined: any.
 * @returns the smallest one where none fits.
 */
export function recomputedWithin(
  budget: number | undefined,
  model: TrainedModel,
  build: (model: TrainedModel) => Candidate,
): Graph {
  const given = build(model);
  if (budget === undefined || model.recomputed?.layers !== undefined || given.bytes(given.graph) <= budget)
    return given.graph;
  const cheap = build({ ...model, recomputed: { cheap: LARGE } });
  const most = cheap.bytes(cheap.graph);
  if (most <= budget) return cheap.graph;
  const all = build({ ...model, recomputed: { layers: ALL_LAYERS } });
  const least = all.bytes(all.graph);
  const layers = findBlocks(given.graph.nodes.filter(({ name }) => !name.startsWith("/grad/"))).size;
  const needed = Math.ceil((layers * (most - budget)) / (most - least));
  if (least > budget || needed >= layers) return all.graph;
  const some = build({ ...model, recomputed: { layers: needed, cheap: LARGE } });
  return some.bytes(some.graph) <= budget ? some.graph : all.graph;
}
