import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { misuse, nearest } from "../../core/errors.js";
import { type CliCommand, type CliContext, checkpointName } from "../shared.js";
import { formatTables } from "../tables.js";
import { filmPage } from "../try/film.js";

interface TryFlags {
  readonly run?: string;
  readonly config?: string;
  readonly task: string;
  readonly checkpoint: "best" | "last" | number;
  readonly policy: string;
  readonly plan?: string;
  readonly out?: string;
}

/** `refusion-train try`: one task by a policy, frame by frame. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("play one task and show it: what was answered, done and received, with a picture of every step")
      .argument("[overrides...]", "key=value, over what the config says")
      .option("-r, --run <dir>", "run directory whose checkpoint plays")
      .option("-c, --config <file>", "config whose model plays, without any training")
      .requiredOption("-t, --task <id>", "the task, as in per_task of an evaluation")
      .option("--checkpoint <which>", "best, last, or a step of --run", checkpointName, "last")
      .option("--policy <name>", "model, or one that the environment has itself: oracle", "model")
      .option("--plan <text>", "play this answer; lines are parted by a line break or by ;;")
      .option("-o, --out <dir>", "where the pictures go; a folder try/ of the run, or of this folder, by default")
      .addHelpText(
        "after",
        "\nExample:\n  refusion-train try --run runs/quickstart --task embedded/starter/library/card-request/test/0001",
      )
      .action((overrides: string[], flags: TryFlags) => tryTask(overrides, flags, context));
  },
};

async function tryTask(overrides: readonly string[], flags: TryFlags, context: CliContext): Promise<void> {
  // loaded when they are needed: help and usage errors should not wait for the runtime
  const [{ playOne }, { environmentKinds }] = await Promise.all([
    import("../../train/play-one.js"),
    import("../../env/open.js"),
  ]);
  const played = await playOne({
    run: flags.run,
    config: flags.config,
    overrides,
    checkpoint: flags.checkpoint,
    policy: flags.policy,
    answer: flags.plan?.replaceAll(/\s*;;\s*/g, "\n"),
    pick: (tasks) => {
      const found = tasks.find((task) => task.id === flags.task);
      if (found !== undefined) return found;
      const ids = tasks.map((task) => task.id);
      const close = nearest(flags.task, ids) ?? ids[0];
      misuse(`There is no task ${flags.task}.`, { hint: `there is ${close}` });
    },
  });
  const { task, actions, outcome, frames, kind } = played;
  const folder = flags.out ?? join(flags.run ?? ".", "try", task.id.replaceAll(/[^\w.-]+/g, "_"));
  const answer = actions.map(({ text }) => text ?? "").join("\n---\n");
  context.print(`${task.id}\n\n${answer}\n`);
  const view = (await environmentKinds(kind)).get(kind)?.view?.(outcome.detail) ?? [];
  if (view.length > 0) context.print(formatTables(view));
  context.print(outcome.reward === null ? `\nno reward: ${outcome.fault}` : `\nreward ${outcome.reward.toFixed(3)}`);
  if (frames.length === 0) return;
  mkdirSync(folder, { recursive: true });
  for (const [i, { image }] of frames.entries()) writeFileSync(join(folder, `${i}.jpg`), image);
  const page = join(folder, "index.html");
  writeFileSync(
    page,
    filmPage(
      task.id,
      frames.map(({ caption }) => caption),
    ),
  );
  context.print(page);
}
