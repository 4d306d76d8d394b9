/**
 * Optimisations that a session on CUDA does without: a folded weight would be held once more by each session, and a
 * merged decoding of one would stay from the forward to the backward pass.
 */
export const NOT_ON_CUDA = "ConstantFolding;CommonSubexpressionElimination";
