import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { misuse, nearest } from "../../core/errors.js";
import { cspHash, escapeHtml } from "../../core/html.js";
import { type CliCommand, type CliContext, checkpointName } from "../shared.js";
import { formatTables } from "../tables.js";

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

/** Time that a picture stands, in milliseconds. */
const FRAME_MS = 900;

const STYLE = `body { font: 16px system-ui, sans-serif; margin: 1.5rem; max-width: 860px }
img { max-width: 100%; border: 1px solid #999 } pre { white-space: pre-wrap; min-height: 3em }`;
const SCRIPT = `const frames = [...document.querySelectorAll("figure")], show = (n) => frames.forEach((f, i) => { f.hidden = i !== n; });
let at = 0, timer; const play = () => { show(at = 0); clearInterval(timer); timer = setInterval(() => { if (++at < frames.length) show(at); else clearInterval(timer); }, ${FRAME_MS}); };
document.querySelector("button").onclick = play; play();`;

/** A page that shows `0.jpg`, `1.jpg`, ... of its own folder one after the other, each with its caption. */
function filmPage(title: string, captions: readonly string[]): string {
  const figures = captions.map(
    (caption, i) =>
      `<figure><figcaption><pre>${escapeHtml(caption)}</pre></figcaption><img src="${i}.jpg" alt=""></figure>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; img-src 'self' file:; style-src ${cspHash(STYLE)}; script-src ${cspHash(SCRIPT)}">
<title>${escapeHtml(title)}</title><style>${STYLE}</style><h1>${escapeHtml(title)}</h1><button>Play</button>
${figures.join("\n")}<script>${SCRIPT}</script></html>
`;
}
