import { writeAtomic } from "../core/files.js";
import type { EpisodeRunner } from "../env/browser/episode.js";
import type { Task } from "../env/site.js";
import type { RolloutRecord } from "../runs/rollout-record.js";
import type { RunDirectory } from "../runs/run-directory.js";

/**
 * Plays recorded plans again, up to their submit, and keeps a picture of each filled form in the run's screenshots/.
 * Nothing is sent. Records of tasks that the site does not have, and pages that fail, get none.
 * @returns how many pictures were taken.
 */
export async function takeScreenshots(
  run: RunDirectory,
  runner: Pick<EpisodeRunner, "photograph">,
  tasks: readonly Task[],
  records: readonly RolloutRecord[],
): Promise<number> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const taken = await Promise.all(
    records.map(async (record) => {
      const task = byId.get(record.task_id);
      const image = task === undefined ? undefined : await runner.photograph(task, record.response);
      if (image === undefined) return 0;
      await writeAtomic(run.screenshot(record), image);
      return 1;
    }),
  );
  return taken.reduce<number>((sum, one) => sum + one, 0);
}
