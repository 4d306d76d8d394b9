import { misuse } from "../../core/errors.js";
import type { AgentSource } from "./agent-config.js";

/** Flags that choose the policy of a command that fills pages. */
export interface AgentFlags {
  readonly run?: string;
  readonly checkpoint: "best" | "last" | number;
  readonly model?: string;
  readonly adapter?: string;
  readonly contracts?: string;
}

/** @param overrides key=value settings of a model. @throws UserError where both a run and another model are named. */
export function agentSource(
  overrides: readonly string[],
  { run, checkpoint, model, adapter, contracts }: AgentFlags,
): AgentSource {
  const known = contracts === undefined ? {} : { contracts };
  if (run === undefined) return { overrides, ...(model && { model }), ...(adapter && { adapter }), ...known };
  if (model !== undefined || adapter !== undefined || overrides.length > 0)
    misuse("A run has its own model, adapter and config.", { hint: "leave out --model, --adapter and key=value" });
  return { run, checkpoint, ...known };
}
