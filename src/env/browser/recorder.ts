import type { BrowserContext, Request } from "playwright";
import { misuse } from "../../core/errors.js";
import { loadFolder } from "../../core/registry.js";
import type { ServerAnswer } from "./network/exchange.js";

/** Records the requests of a context's episodes. */
export interface Recorder {
  /** Begins an episode. */
  begin(): void;
  /** Returns the episode's archive. */
  end(): Promise<object>;
}

/**
 * Opens a recorder. A file under recorders/ of a feature exports it as `recorder`.
 * @param kept the server's answer if the page got another one.
 */
export type OpenRecorder = (context: BrowserContext, kept: (request: Request) => ServerAnswer | undefined) => Recorder;

/** Loads what records requests. @throws UserError where no feature does. */
export async function recorder(): Promise<OpenRecorder> {
  const [open] = (await loadFolder<OpenRecorder>(new URL("./recorders/", import.meta.url), "recorder")).values();
  return (
    open ?? misuse("This build records no requests: the feature `har` is missing.", { hint: "Set browser.har=false." })
  );
}
