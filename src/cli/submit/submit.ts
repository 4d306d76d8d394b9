import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { shippedOr } from "../../config/config.js";
import { EXIT, UserError } from "../../core/errors.js";
import { follow, stopped } from "./follow.js";
import { entrypoint, environmentOf, type Job, workerEntrypoint } from "./job.js";
import type { RayJob, RayJobs } from "./ray.js";
import { type ZipEntry, zip } from "./zip.js";

/** What a job sends along: its config and files, by the names that it finds them under. @throws UserError for a missing one. */
export function filesOf({ config, files, working_dir }: Pick<Job, "config" | "files" | "working_dir">): ZipEntry[] {
  if (working_dir !== undefined) return [];
  const own = config.startsWith("/") ? [] : [shippedOr(config)];
  const walk = (path: string, name: string): ZipEntry[] => {
    if (!existsSync(path)) throw new UserError(`${path} is not there to be sent along.`, { exitCode: EXIT.usage });
    if (!statSync(path).isDirectory()) return [{ name, bytes: readFileSync(path) }];
    return readdirSync(path)
      .sort()
      .flatMap((entry) => walk(join(path, entry), `${name}/${entry}`));
  };
  return [...own, ...files].flatMap((path) => walk(path, basename(path)));
}

export interface SubmitOptions {
  readonly ray: RayJobs;
  readonly job: Job;
  /** Whether Ctrl-C ends the job, or only the looking on. */
  readonly stop: boolean;
  readonly signal: AbortSignal;
  /** The job's own output. */
  readonly print: (text: string) => void;
  readonly say: (text: string) => void;
  /** Makes submission ids unique. */
  readonly stamp: string;
}

/** Runs a job on Ray to its end; one that fails is submitted again, and resumes its run. @returns the exit code. */
export async function submitToRay(options: SubmitOptions): Promise<number> {
  const { ray, job, signal, say } = options;
  const entries = filesOf(job);
  const working_dir = job.working_dir ?? (entries.length > 0 ? await ray.upload(zip(entries)) : undefined);
  const runtime_env = { ...(working_dir === undefined ? {} : { working_dir }), env_vars: environmentOf(job) };
  const share = {
    ...(job.cpus === undefined ? {} : { entrypoint_num_cpus: job.cpus }),
    ...(job.gpus === undefined ? {} : { entrypoint_num_gpus: job.gpus }),
    ...(job.memory_gib === undefined ? {} : { entrypoint_memory: Math.round(job.memory_gib * 2 ** 30) }),
  };
  const make = (id: string, command: string): RayJob => ({
    entrypoint: command,
    submission_id: id,
    runtime_env,
    ...share,
  });
  const workers = Array.from({ length: job.workers }, (_, i) => `${job.name}-${options.stamp}-worker-${i}`);
  for (const id of workers) await ray.submit(make(id, workerEntrypoint(job)));
  try {
    for (let attempt = 0; ; attempt++) {
      const id = `${job.name}-${options.stamp}-try-${attempt + 1}`;
      await ray.submit(make(id, entrypoint(job)));
      say(`submitted ${id}`);
      const ended = await follow(ray, id, options.print, signal);
      if (ended === undefined) return await leave(options, id, workers);
      if (ended.status === "SUCCEEDED") return EXIT.ok;
      if (ended.status === "STOPPED") {
        say(`${id} was stopped; the same command resumes it`);
        return EXIT.interrupted;
      }
      say(`${id} failed${ended.message ? `: ${ended.message.split("\n")[0]}` : ""}`);
      if (attempt === job.retries)
        throw new UserError(`${job.name} failed ${attempt + 1} times.`, {
          hint: `its log is above; the same command resumes ${job.run_dir}`,
        });
    }
  } finally {
    if (!signal.aborted || options.stop) for (const id of workers) await ray.stop(id).catch(() => undefined);
  }
}

async function leave(
  { ray, stop, say, print }: SubmitOptions,
  id: string,
  workers: readonly string[],
): Promise<number> {
  if (stop) {
    await stopped(ray, id, print);
    say(`${id} was stopped; the same command resumes it`);
  } else {
    const beside = workers.length === 0 ? "" : ` (its ${workers.length} workers too, until they are stopped)`;
    say(`${id} goes on${beside}; look on again with:\n  refusion-train submit --ray ${ray.url} --follow ${id}`);
  }
  return EXIT.interrupted;
}
