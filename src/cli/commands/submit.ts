import type { Command } from "commander";
import { EXIT, UserError } from "../../core/errors.js";
import { writeAtomic } from "../../core/files.js";
import type { CliCommand, CliContext } from "../shared.js";
import { follow, stopped } from "../submit/follow.js";
import { anyscaleYaml, type Job, jobOf, readJob } from "../submit/job.js";
import { RayJobs, type RayStatus } from "../submit/ray.js";
import { submitToRay } from "../submit/submit.js";

interface Flags {
  readonly job?: string;
  readonly config?: string;
  readonly runDir?: string;
  readonly ray?: string;
  readonly anyscale?: string;
  readonly follow?: string;
  readonly stop?: boolean;
}

/** `refusion-train submit`: a run as a job of a cluster. */
export const command: CliCommand = {
  register(program: Command, context: CliContext): void {
    program
      .description("put a run on a Ray cluster, follow it, and resume it where it fails (docs/cluster.md)")
      .argument("[overrides...]", "key=value, over what the config says; no secrets: a job's command can be seen")
      .option("--job <file>", "YAML of the job: jobs/ has four")
      .option("-c, --config <file>", "config of the run, in place of the job's, or of a job without a file")
      .option("--run-dir <dir>", "where the run is kept on the cluster; a retry resumes it")
      .option("--ray <url>", "address of the head's dashboard, as http://127.0.0.1:8265")
      .option("--anyscale <file>", "write an Anyscale job instead of submitting one")
      .option("--stop", "Ctrl-C stops the job, not only the looking on")
      .option("--follow <id>", "look on at a job that was submitted before")
      .action((overrides: string[], flags: Flags) => submit(overrides, flags, context));
  },
};

async function submit(overrides: readonly string[], flags: Flags, context: CliContext): Promise<void> {
  if ((flags.ray === undefined) === (flags.anyscale === undefined))
    throw new UserError("Give --ray URL or --anyscale FILE, one of the two.", { exitCode: EXIT.usage });
  const print = (text: string): void => void process.stdout.write(text);
  context.afterInterrupt = flags.stop === true ? "stopping the job" : "the job goes on without being looked at";
  if (flags.follow !== undefined && flags.ray !== undefined) {
    const ray = new RayJobs(flags.ray);
    let ended = await follow(ray, flags.follow, print, context.signal);
    if (ended === undefined && flags.stop === true) ended = await stopped(ray, flags.follow, print);
    context.log(`${flags.follow}: ${ended?.status ?? "goes on"}`);
    context.exitWith(exitOf(ended?.status));
    return;
  }
  const job = jobFrom(flags, overrides);
  if (flags.anyscale !== undefined) {
    await writeAtomic(flags.anyscale, anyscaleYaml(job));
    context.log(`submit it with:\n  anyscale job submit --config-file ${flags.anyscale}`);
    context.print(flags.anyscale);
    return;
  }
  const code = await submitToRay({
    ray: new RayJobs(flags.ray as string),
    job,
    stop: flags.stop === true,
    signal: context.signal,
    print,
    say: (text) => context.log(text),
    stamp: Date.now().toString(36),
  });
  context.exitWith(code);
}

function exitOf(status: RayStatus["status"] | undefined): number {
  if (status === "SUCCEEDED") return EXIT.ok;
  return status === "FAILED" ? EXIT.failed : EXIT.interrupted;
}

function jobFrom(flags: Flags, overrides: readonly string[]): Job {
  const given = {
    ...(flags.config === undefined ? {} : { config: flags.config }),
    ...(flags.runDir === undefined ? {} : { run_dir: flags.runDir }),
  };
  if (flags.job !== undefined) {
    const job = readJob(flags.job);
    return jobOf({ ...job, ...given, settings: [...job.settings, ...overrides] }, flags.job);
  }
  if (flags.config === undefined || flags.runDir === undefined)
    throw new UserError("A job needs --job FILE, or --config FILE and --run-dir DIR.", {
      hint: "refusion-train submit --ray http://127.0.0.1:8265 --config configs/tiny/quickstart.yaml --run-dir /shared/runs/quickstart",
      exitCode: EXIT.usage,
    });
  const name = (flags.config.split("/").at(-1) ?? "run").replace(/\.ya?ml$/, "");
  return jobOf({ name, ...given, settings: [...overrides] }, "the command line");
}
