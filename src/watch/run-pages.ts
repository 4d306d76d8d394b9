import type { RunConfig } from "../config/schema.js";
import { loadFolder } from "../core/registry.js";
import type { Environment } from "../env/environment.js";
import type { RunDirectory } from "../runs/run-directory.js";
import type { Speller } from "../text/token-text.js";
import type { Watcher } from "./watcher.js";

export interface ReportOptions {
  /** Number of rollouts that it shows. */
  readonly rollouts: number;
  /** Number of pictures that it takes of the worst of them in the environment. */
  readonly screenshots: number;
  readonly environment: Environment;
  /** Spells the tokens; undefined: the one of the model's directory. */
  readonly tokenizer: Speller | undefined;
}

/** Pages of a run for a browser. A file under run-pages/ of a feature exports them as `pages`. */
export interface RunPages {
  /** Writes the report of a run that has ended. A failure is a note. */
  report(run: RunDirectory, watch: Pick<Required<Watcher>, "note" | "phase">, options: ReportOptions): Promise<void>;
  /** Serves a page that follows a run. @throws UserError where the port is not available. */
  live(
    port: number,
    config: Pick<RunConfig, "name" | "model" | "sampler" | "environment">,
  ): Promise<Watcher & { readonly address: string }>;
}

/** Loads the pages of a feature; undefined where there are none. */
export async function runPages(): Promise<RunPages | undefined> {
  const [pages] = (await loadFolder<RunPages>(new URL("./run-pages/", import.meta.url), "pages")).values();
  return pages;
}
