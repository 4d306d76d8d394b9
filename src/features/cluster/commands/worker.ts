import { type Command, InvalidArgumentError } from "commander";
import type { CliCommand, CliContext } from "../../../cli/shared.js";
import { REDIS_VARIABLE } from "../queue/connection.js";
import { JOB_KINDS, type JobKind } from "../queue/protocol.js";
import type { WorkerOptions } from "../work/worker.js";

/** `refusion-train worker`: executes jobs for runs of other machines. */
export const command: CliCommand = {
  register(program: Command, context: CliContext): void {
    program
      .description("work for the runs that a Redis announces (docs/cluster.md)")
      .argument(
        "[overrides...]",
        "key=value, over what a run's config says: runtime.threads=2 site.tasks=/here/tasks.json",
      )
      .option(
        "--redis <url>",
        `redis://host:6379, rediss:// for TLS, or env:NAME; without it what ${REDIS_VARIABLE} holds. A password comes from the environment only`,
        `env:${REDIS_VARIABLE}`,
      )
      .option("--jobs <kinds>", "what it takes", jobKinds, [...JOB_KINDS])
      .option("--model <dir>", "where the model lies on this machine, if not where the run says")
      .option("--name <name>", "its name among the workers; this machine's and its process by default", workerName)
      .option(
        "--allow-modules",
        "load the modules of this machine that a run's config names, where they are those of the coordinator",
      )
      .action(async (overrides: string[], flags: Omit<WorkerOptions, "overrides" | "signal" | "say">) => {
        const { work } = await import("../work/worker.js");
        context.afterInterrupt = "finishing the job at hand";
        await work({ ...flags, overrides, signal: context.signal, say: (text) => context.log(text) });
      });
  },
};

function jobKinds(text: string): JobKind[] {
  const kinds = text.split(",").map((kind) => kind.trim());
  const wrong = kinds.find((kind) => !(JOB_KINDS as readonly string[]).includes(kind));
  if (wrong !== undefined) throw new InvalidArgumentError(`${wrong} is none of ${JOB_KINDS.join(", ")}.`);
  return kinds as JobKind[];
}

function workerName(text: string): string {
  if (!/^[\w.-]{1,100}$/.test(text)) throw new InvalidArgumentError("letters, digits, '.', '_' and '-' only.");
  return text;
}
