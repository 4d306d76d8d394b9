import { join } from "node:path";
import { type CliCommand, type CliContext, checkpointName } from "../../../cli/shared.js";
import { formatTables } from "../../../cli/tables.js";
import { closing } from "../../../core/closing.js";
import { misuse, nearest } from "../../../core/errors.js";
import type { EnvironmentTask } from "../../../env/environment.js";
import type { Task } from "../../../env/site.js";
import { checkBelow } from "../../agent/agent-flags.js";
import { writeFilm } from "../film.js";
import { fillShown, inWindow, type PageFlags, tryPage } from "../try-page.js";

interface TryFlags extends PageFlags {
  readonly config?: string;
  readonly task?: string;
  readonly policy: string;
  readonly plan?: string;
}

/** Default: a form that the shipped model has not seen in training, and a letter. */
const SHIPPED = {
  config: "configs/tiny/letters-flow-grpo.yaml",
  model: "models/tiny-refusion-letters",
  task: "embedded/starter/library/archive-visit/heldout/0006",
};

/** `refusion-train try`: shows how a policy fills in one task, or a page of the user. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("fill in one form and show it: a shipped one, a page of yours, or a task of a run")
      .argument("[overrides...]", "key=value, over what the config says")
      .option("-u, --url <address>", "a page of yours, or its file; nothing is sent")
      .option("--text <file>", "what somebody wrote who wants to fill it in; - reads stdin")
      .option("-m, --model <dir>", "model directory that fills --url")
      .option("--adapter <dir>", "adapter in PEFT's layout that fills --url")
      .option("--contracts <dir>", "learned forms, operated as they say; by default those of the run")
      .option("-r, --run <dir>", "run directory whose checkpoint plays or fills")
      .option("-c, --config <file>", "config whose model plays, without any training")
      .option("-t, --task <id>", "the task of --run or --config, as in per_task of an evaluation")
      .option("--checkpoint <which>", "best, last, or a step of --run", checkpointName, "last")
      .option("--policy <name>", "model, or one that the environment has itself: oracle", "model")
      .option("--plan <text>", "play this answer; lines are parted by a line break or by ;;")
      .addOption(checkBelow())
      .option("--film", "pictures in place of a window, where there is a display")
      .option("-o, --out <dir>", "where the pictures go; a folder try/ of the run, or of this folder, by default")
      .addHelpText(
        "after",
        `
Examples:
  refusion-train try
  refusion-train try --url http://127.0.0.1:8080/visit --text letter.txt
  refusion-train try --run runs/letters-flow-grpo --task embedded/starter/library/card-request/test/0001`,
      )
      .action((overrides: string[], flags: TryFlags) =>
        flags.url === undefined ? tryTask(overrides, flags, context) : tryPage(overrides, flags, context),
      );
  },
};

async function tryTask(overrides: readonly string[], flags: TryFlags, context: CliContext): Promise<void> {
  const { text, model, adapter, contracts, checkBelow: below } = flags;
  if ([text, model, adapter, contracts, below].some((flag) => flag !== undefined))
    misuse("--text, --model, --adapter, --contracts and --check-below are for a page of yours.", {
      hint: "name the page: --url ADDRESS",
    });
  const isShipped = flags.run === undefined && flags.config === undefined;
  const wanted = flags.task ?? (isShipped ? SHIPPED.task : misuse("No task is named: --task ID is missing."));
  // imported lazily: help and usage errors should not wait for the runtime
  const { playOne } = await import("../play-one.js");
  const { environmentKinds } = await import("../../../env/open.js");
  const played = await playOne({
    ...flags,
    config: isShipped ? SHIPPED.config : flags.config,
    // greedy decoding by default
    overrides: isShipped ? ["evaluation.temperature=0", ...overrides] : overrides,
    answer: flags.plan?.replaceAll(/\s*;;\s*/g, "\n"),
    pick: (tasks) => {
      const found = tasks.find((task) => task.id === wanted);
      if (found !== undefined) return found;
      const ids = tasks.map((task) => task.id);
      misuse(`There is no task ${wanted}.`, { hint: `there is ${nearest(wanted, ids) ?? ids[0]}` });
    },
  });
  const { task, actions, outcome, frames, rounds, seen, kind } = played;
  context.print(`${task.id}\n`);
  if (seen !== undefined) context.print(`the policy reads:\n\n${seen.trim()}\n`);
  if (rounds.length > 1) for (const [i, text] of rounds.entries()) context.print(`round ${i + 1}:\n${text}\n`);
  else context.print(`${actions.map(({ text }) => text ?? "").join("\n---\n")}\n`);
  const view = (await environmentKinds(kind)).get(kind)?.view?.(outcome.detail) ?? [];
  if (view.length > 0) context.print(formatTables(view));
  const { reward, success } = outcome;
  context.print(reward === null ? `\nno reward: ${outcome.fault}` : `\nreward ${reward.toFixed(3)}`);
  if (frames.length === 0) return;
  const folder = flags.out ?? join(flags.run ?? ".", "try", task.id.replaceAll(/[^\w.-]+/g, "_"));
  const verdict =
    reward === null
      ? `No reward: ${outcome.fault}`
      : `Reward ${reward.toFixed(3)}. ${success ? "The form was filled in right." : "Not everything is right."}`;
  const { document: letter, formTitle: title } = task as Partial<Task>;
  context.print(
    writeFilm(folder, title ?? task.id, frames, { letter, verdict, isGood: success === true, tables: view }),
  );
  if (isShipped && inWindow(flags)) await showShipped(task, flags, context);
}

/** Shows the same page and letter in a window. */
async function showShipped(task: EnvironmentTask, flags: TryFlags, context: CliContext): Promise<void> {
  const { url, document: text = "" } = task as Task;
  const { serveForms } = await import("../../embedded/server.js");
  const { FORMS } = await import("../../embedded/catalog.js");
  const server = await serveForms(FORMS, 0);
  await using _ = closing({ close: server.stop });
  await fillShown({ address: server.baseUrl + url, text, source: { model: SHIPPED.model } }, flags, context);
}
