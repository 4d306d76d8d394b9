import { basename } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { messageOf, UserError } from "../../core/errors.js";
import { readSmall } from "../../core/files.js";
import { problemsOf } from "../../core/problems.js";
import { shellWord } from "../shared.js";

/** A job for a cluster: what is run, on what, and how often it is tried. */
const schema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,60}$/, "may hold letters, digits, '.', '_' and '-' only"),
  command: z.enum(["train", "evaluate"]).default("train"),
  /** Path of the config: sent along where it is here, else a path on the cluster. */
  config: z.string().min(1),
  /** Folder of the run; on a disk that outlives a machine, where a retry is to resume. */
  run_dir: z.string().min(1),
  /** key=value; not of secrets. */
  settings: z.array(z.string()).default([]),
  /** Arguments of an evaluation besides the run. */
  arguments: z.array(z.string()).default([]),
  /** How the package is called on the cluster. */
  program: z.string().default("npx"),
  /** Machines' share of the job, as Ray counts it. */
  cpus: z.number().positive().optional(),
  gpus: z.number().nonnegative().optional(),
  memory_gib: z.number().positive().optional(),
  /** Further jobs that run `refusion-train worker` beside it, and end with it. */
  workers: z.int().min(0).default(0),
  /** Files and modules that the config names, sent along. */
  files: z.array(z.string()).default([]),
  /** Ready-made working directory: s3://, gs://, https:// of a zip; then nothing is sent. */
  working_dir: z.string().optional(),
  env: z.record(z.string(), z.string()).default({}),
  /** Variables whose values are taken from the submitter's environment: secrets. */
  env_from: z.array(z.string()).default([]),
  retries: z.int().min(0).default(2),
  /** Anyscale only. */
  image: z.string().optional(),
  compute: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
});
export type Job = z.infer<typeof schema>;

/** @throws UserError with every problem. */
export function jobOf(values: unknown, where: string): Job {
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  throw new UserError(`${where} is no job:${problemsOf(result.error)}`, {
    hint: "jobs/ has examples; docs/cluster.md says what the keys mean",
    exitCode: 2,
  });
}

/** A job from its YAML. @throws UserError where it cannot be read. */
export function readJob(path: string): Job {
  let values: unknown;
  try {
    values = parse(readSmall(path));
  } catch (error) {
    throw new UserError(`Cannot read the job ${path}: ${messageOf(error)}`, { exitCode: 2 });
  }
  return jobOf(values, path);
}

/** The shell command of a job: it starts the run, or resumes it where it has begun. */
export function entrypoint(job: Job): string {
  const { command, run_dir: run, settings } = job;
  const words = (list: readonly string[]): string => list.map((word) => ` ${shellWord(word)}`).join("");
  const config = shellWord(configPath(job));
  if (command === "evaluate")
    return `${job.program} refusion-eval --run ${shellWord(run)}${words(job.arguments)}${words(settings)}`;
  const train = `${job.program} refusion-train train`;
  const dir = shellWord(run);
  return (
    `if [ -f ${shellWord(`${run}/env.json`)} ]; then ${train} --resume --run-dir ${dir}; ` +
    `else ${train} --config ${config} --run-dir ${dir}${words(settings)}; fi`
  );
}

/** Where the config lies for the job: beside it, where it was sent along. */
export function configPath({ config, working_dir }: Pick<Job, "config" | "working_dir">): string {
  return working_dir === undefined && !config.startsWith("/") ? basename(config) : config;
}

/** The entry point of a worker beside a job. */
export function workerEntrypoint({ program }: Pick<Job, "program">): string {
  return `${program} refusion-train worker`;
}

/** Values of a job's environment. @throws UserError naming a variable that is not set here. */
export function environmentOf(
  { env, env_from }: Pick<Job, "env" | "env_from">,
  here: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const missing = env_from.filter((name) => here[name] === undefined);
  if (missing.length > 0)
    throw new UserError(`The job takes ${missing.join(", ")} from the environment, where it is not set.`, {
      hint: `export ${missing[0]}=...`,
      exitCode: 2,
    });
  return { ...env, ...Object.fromEntries(env_from.map((name) => [name, here[name] as string])) };
}

/** An Anyscale job as YAML (https://docs.anyscale.com/reference/job-api); secrets stay out: its own store has them. */
export function anyscaleYaml(job: Job): string {
  const { name, image, compute, working_dir, env, env_from, retries, workers } = job;
  const comments = [
    ` anyscale job submit --config-file THIS_FILE; a retry resumes ${job.run_dir}`,
    ...(env_from.length > 0 ? [` set from a secret store, not here: ${env_from.join(", ")}`] : []),
    ...(workers > 0 ? [` ${workers} workers run as a job of their own: ${workerEntrypoint(job)}`] : []),
  ];
  const fields = {
    name,
    ...(image === undefined ? {} : { image_uri: image }),
    ...(compute === undefined ? {} : { compute_config: compute }),
    working_dir: working_dir ?? ".",
    entrypoint: entrypoint({ ...job, working_dir: working_dir ?? "." }),
    ...(Object.keys(env).length > 0 ? { env_vars: env } : {}),
    max_retries: retries,
  };
  return comments.map((line) => `#${line}\n`).join("") + stringify(fields, { lineWidth: 0 });
}
