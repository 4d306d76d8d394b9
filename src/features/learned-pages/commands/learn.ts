import { readFileSync } from "node:fs";
import type { CliCommand, CliContext } from "../../../cli/shared.js";
import { closing } from "../../../core/closing.js";
import { EXIT, fail, messageOf, misuse } from "../../../core/errors.js";
import { Rng } from "../../../core/rng.js";
import type { FormsEnvironment } from "../../../env/environments/forms.js";
import { isLabelled } from "../../../env/forms/verdict.js";
import type { Task } from "../../../env/site.js";
import type { Contract } from "../contract.js";
import type { Contracts } from "../contracts.js";

interface LearnFlags {
  readonly config: string;
  readonly form?: string;
  readonly from?: string[];
  readonly record?: true;
  readonly check?: true;
}

/** Least reward of the true values by which a task counts as playable. */
const WON = 0.99;

/** `refusion-train learn`: learns the forms of a config's site, or reads how from a recording, and checks them. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("learn the forms of a site, or read how from a Playwright test, and print their contracts")
      .argument("[overrides...]", "key=value, over what the config says")
      .requiredOption("-c, --config <file>", "the config whose site is learned")
      .option("--form <name>", "this form only")
      .option("--from <tests...>", "Playwright tests that fill in the form, as `playwright codegen` writes them")
      .option("--record", "open a window and learn from what you do there for two tasks")
      .option(
        "--check",
        "play the known forms with the values of every task that has them, and print what was received",
      )
      .action(async (overrides: string[], flags: LearnFlags) => {
        // loaded on use: help must not wait for the environment
        const { loadConfig } = await import("../../../config/config.js");
        const { FormsEnvironment } = await import("../../../env/environments/forms.js");
        const { writeContract } = await import("../contract.js");
        const { openEnvironment } = await import("../../../env/open.js");
        const config = await loadConfig(flags.config, { overrides });
        const environment = await openEnvironment(config, context.log);
        await using _ = closing(environment);
        if (!(environment instanceof FormsEnvironment) || environment.contracts === undefined)
          misuse("The forms of this site are not learned.", {
            hint: "site.kind=url learns them, unless site.learn is null",
          });
        const forms = new Map(environment.tasks.map((task) => [task.form, task]));
        const chosen = [...forms.values()].filter(({ form }) => flags.form === undefined || form === flags.form);
        if (chosen.length === 0) misuse(`There is no form ${flags.form}.`);
        if (flags.check) return await check(environment, chosen, context);
        const contracts = environment.contracts as Contracts;
        contracts.mends = true;
        contracts.signal = context.signal;
        context.afterInterrupt = "what was found is written once the present try ends";
        const [first, ...more] = chosen;
        const isShown = flags.from !== undefined || flags.record;
        if (isShown && (first === undefined || more.length > 0))
          misuse("A recording is of one form.", { hint: `Name it: --form ${first?.form}` });
        for (const task of chosen) {
          const contract = isShown
            ? await recorded(environment, task, flags.from ?? [await window(environment, task, context)])
            : (await environment.form(task))?.contract;
          if (contract !== undefined)
            context.print(`# ${contracts.fileOf(task.form)}\n${writeContract(contract as Contract)}`);
          if (contracts.signal.aborted) {
            context.log(`Next: refusion-train learn -c ${flags.config} goes on with the fields that were found`);
            return context.exitWith(EXIT.interrupted);
          }
        }
        context.log(`Next: refusion-train learn --check -c ${flags.config}`);
      });
  },
};

/** Records two people in a window. @returns the test that was written. */
async function window(environment: FormsEnvironment, task: Task, { log }: CliContext): Promise<string> {
  const { recordPeople } = await import("../record/window.js");
  const { BrowserHost } = await import("../../../env/browser/browser.js");
  const file = (environment.contracts as Contracts).fileOf(task.form).replace(/yaml$/, "spec.ts");
  log(`What you do is written to ${file}; \`--from\` reads it again.`);
  const { site } = environment;
  await using host = closing(new BrowserHost({ headless: false, site }));
  await recordPeople(await host.browser(), site, environment.tasksOf(task), file);
  return file;
}

/** Makes a form's contract from Playwright tests. */
async function recorded(environment: FormsEnvironment, task: Task, files: readonly string[]): Promise<Contract> {
  const { runsIn } = await import("../record/spec.js");
  const tasks = environment.tasksOf(task);
  const runs = files.flatMap((file) => {
    try {
      return runsIn(readFileSync(file, "utf8"), file, tasks);
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      return misuse(`${file} cannot be read: ${messageOf(error)}`);
    }
  });
  return (environment.contracts as Contracts).record(task, await environment.runner(), runs);
}

/** Plays the true values of every task that has them. @throws UserError if one does not win. */
async function check(environment: FormsEnvironment, chosen: readonly Task[], { print }: CliContext): Promise<void> {
  let lost = 0;
  for (const task of chosen.flatMap((one) => environment.tasksOf(one)).filter(isLabelled)) {
    if ((environment.contracts?.kept(task) as Contract | undefined)?.request === undefined)
      misuse(`The form ${task.form} has no contract.`, { hint: "`refusion-train learn` without --check makes it." });
    const act = await environment.fixedPolicies.oracle?.(task, Rng.named(0, "check"));
    if (act === undefined) continue;
    const { reward, fault, detail } = await environment.play(task, act, new Map());
    if ((reward ?? 0) < WON) lost++;
    const scores = (detail.field_scores ?? {}) as Readonly<Record<string, number>>;
    const received = (detail.received ?? {}) as Readonly<Record<string, unknown>>;
    const verdict =
      fault ?? (detail.accepted === true ? "accepted" : `not accepted: ${detail.refusal ?? "nothing was sent"}`);
    print(`${task.id}: reward ${reward?.toFixed(2) ?? "none"}, ${verdict}`);
    for (const [label, value] of Object.entries(task.fields)) {
      const isRight = (scores[label] ?? 0) >= WON;
      print(
        `  ${isRight ? "right" : "WRONG"}  ${label}: sent ${JSON.stringify(value)}${isRight ? "" : `, received ${JSON.stringify(received[label] ?? null)}`}`,
      );
    }
  }
  if (lost > 0)
    fail(`${lost} of the tasks are not won by their own values.`, {
      hint: "Record the form once more (--from), or edit its contract (docs/contracts.md).",
    });
}
