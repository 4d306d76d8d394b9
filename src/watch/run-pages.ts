import type { RunConfig } from "../config/schema.js";
import type { Environment } from "../env/environment.js";
import type { RunDirectory } from "../runs/run-directory.js";
import type { Speller } from "../text/token-text.js";
import type { Watcher } from "./watcher.js";

/** Writes the report of a run that has ended. A failure is a note. */
export type ReportAtEnd = (
  run: RunDirectory,
  watch: Pick<Required<Watcher>, "note" | "phase">,
  options: {
    /** Number of rollouts that it shows. */
    readonly rollouts: number;
    /** Number of pictures that it takes of the worst of them in the environment. */
    readonly screenshots: number;
    readonly environment: Environment;
    /** Spells the tokens; undefined: the one of the model's directory. */
    readonly tokenizer: Speller | undefined;
  },
) => Promise<void>;

/** Serves a page that follows a run. @throws UserError where the port is not available. */
export type OpenLivePage = (
  port: number,
  config: Pick<RunConfig, "name" | "model" | "sampler" | "environment">,
) => Promise<Watcher & { readonly address: string }>;
