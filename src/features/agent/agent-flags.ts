import { InvalidArgumentError, Option } from "commander";
import { misuse } from "../../core/errors.js";
import type { AgentSource } from "./agent-config.js";

/** Flags that choose the policy of a command that fills pages. */
export interface AgentFlags {
  readonly run?: string;
  readonly checkpoint: "best" | "last" | number;
  readonly model?: string;
  readonly adapter?: string;
  readonly contracts?: string;
  /** Values with a lower probability are to be checked, 0 to 1. */
  readonly checkBelow?: number;
}

/** The option of what is sure enough. */
export const checkBelow = (): Option =>
  new Option("--check-below <p>", "values less probable than this are to be checked (default: 0.9)").argParser(
    (text) => {
      if (text.trim() !== "" && Number(text) >= 0 && Number(text) <= 1) return Number(text);
      throw new InvalidArgumentError("Expected a probability, 0 to 1.");
    },
  );

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
