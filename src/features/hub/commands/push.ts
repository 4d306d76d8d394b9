import type { Command } from "commander";
import { type CliCommand, type CliContext, checkpointName } from "../../../cli/shared.js";
import { misuse } from "../../../core/errors.js";
import { isRepoName } from "../access.js";

interface PushFlags {
  readonly checkpoint: "best" | "last" | number;
  readonly base?: string;
  readonly rollouts: boolean;
  readonly private?: boolean;
  readonly dryRun?: boolean;
}

/** `refusion-train push RUN OWNER/NAME`: uploads a run's adapter, its card and its rollouts to the Hugging Face Hub. */
export const command: CliCommand = {
  register(program: Command, context: CliContext): void {
    program
      .description("upload a run's adapter and rollouts to the Hugging Face Hub")
      .argument("<run>", "run directory")
      .argument("<repo>", "repository, as owner/name: a model, and a data set of the same name")
      .option("--checkpoint <which>", "best, last, or a step", checkpointName, "last")
      .option("--base <repo>", "name of the base model on the Hub, for the card")
      .option("--no-rollouts", "leave the rollouts out")
      .option("--private", "repositories that are made are private")
      .option("--dry-run", "write the folder RUN/push, and upload nothing")
      .action(async (dir: string, repo: string, flags: PushFlags) => {
        for (const name of [repo, ...(flags.base === undefined ? [] : [flags.base])])
          if (!isRepoName(name)) misuse(`"${name}" names no repository.`, { hint: "write owner/name" });
        // imported lazily: help should not wait for them
        const { loadConfig } = await import("../../../config/config.js");
        const { findCheckpoint } = await import("../../../runs/checkpoint.js");
        const { RunDirectory } = await import("../../../runs/run-directory.js");
        const { writePushFolder } = await import("../push-folder.js");
        const { upload } = await import("../upload.js");
        const run = RunDirectory.open(dir);
        const config = await loadConfig(run.config, { command: run.readEnvironment().command });
        const { checkpoint, base, rollouts } = flags;
        const which = String(checkpoint);
        const options = { repo, checkpoint: findCheckpoint(run, checkpoint), which, base, rollouts };
        const written = await writePushFolder(run, config, options);
        context.log(`written: ${written.dir}`);
        if (flags.dryRun === true) return;
        const about = { isPrivate: flags.private === true, title: `refusion-train: ${which}`, signal: context.signal };
        context.print(await upload("model", repo, written.model, about));
        if (written.dataset !== undefined) context.print(await upload("dataset", repo, written.dataset, about));
      });
  },
};
