import { writeAtomic } from "../../core/files.js";
import type { Environment } from "../../env/environment.js";
import type { RolloutRecord } from "../../runs/rollout-record.js";
import type { RunDirectory } from "../../runs/run-directory.js";

/**
 * Replays recorded answers as far as a picture needs, and saves it in the run's screenshots/. Nothing is sent. Records
 * of tasks that the environment does not have, and episodes that fail, get none.
 * @returns the number of pictures taken.
 */
export async function takeScreenshots(
  run: RunDirectory,
  environment: Pick<Environment, "tasks" | "photograph">,
  records: readonly RolloutRecord[],
): Promise<number> {
  const byId = new Map(environment.tasks.map((task) => [task.id, task]));
  const taken = await Promise.all(
    records.map(async (record): Promise<number> => {
      const task = byId.get(record.task_id);
      const actions = record.turns.map(({ response }) => ({ text: response }));
      const image = task === undefined ? undefined : await environment.photograph?.(task, actions);
      if (image === undefined) return 0;
      await writeAtomic(run.screenshot(record), image);
      return 1;
    }),
  );
  return taken.reduce((sum, one) => sum + one, 0);
}
