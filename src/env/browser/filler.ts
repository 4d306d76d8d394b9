import type { JudgedForm } from "../forms/judge.js";
import { nativeFile } from "../forms/native.js";
import { type Action, textsOf } from "../forms/plan.js";
import type { Task } from "../site.js";
import type { ReadForm } from "./controls.js";
import { type ActionRecord, applySteps, resolveAction, type Step } from "./fill.js";
import { attachFile, emptyFiles } from "./page/actions.js";
import type { Session } from "./session.js";

export interface ExecuteOptions {
  readonly uploads: "dummy" | "none";
  /** The form, if it is known; else its page is read. */
  readonly known?: JudgedForm | undefined;
}

/** The part of carrying out a plan that differs from page to page. */
export interface Carrier {
  readonly records: ActionRecord[];
  resolve(action: Action): Step | Promise<Step>;
  /** Takes a step that enters a value, or fails. */
  put(action: Action, step: Step): Promise<void> | void;
  /** Presses the button that sends the form; one that is done ends the plan. */
  send(action: Action, button: number | undefined): Promise<ActionRecord> | ActionRecord;
}

/** Carries out actions in order, up to the one that sends the form. @returns whether one did. */
export async function carryOut(actions: readonly Action[], carrier: Carrier): Promise<boolean> {
  let isSent = false;
  for (const action of actions) {
    const step = isSent ? undefined : await carrier.resolve(action);
    if (step === undefined) carrier.records.push({ action, fate: "after-submit" });
    else if (step.do !== "submit") await carrier.put(action, step);
    else {
      const record = await carrier.send(action, step.button);
      carrier.records.push(record);
      isSent = record.fate === "done";
    }
  }
  return isSent;
}

/** Puts values into a form's controls; consecutive ones go to the page in one message. */
export abstract class Filler implements Carrier {
  readonly records: ActionRecord[] = [];
  /** Texts of the plans so far. */
  protected readonly written: string[] = [];
  private batch: { action: Action; step: Step }[] = [];
  /** Indices of controls that got a file without an action of the plan. */
  private readonly attached = new Set<number>();

  constructor(
    protected readonly session: Session,
    protected readonly task: Task,
    protected readonly form: ReadForm,
    protected readonly options: ExecuteOptions,
  ) {}

  /** Presses a button of the form that is filled in by then. */
  protected abstract press(action: Action, button: number | undefined): Promise<ActionRecord>;

  /** Carries out actions on the open page. @returns whether one of them has sent the form, or led on. */
  async carryOut(actions: readonly Action[]): Promise<boolean> {
    this.written.push(...textsOf(actions));
    const isSent = await carryOut(actions, this);
    await this.flush();
    return isSent;
  }

  /** Resolves an action on the current page: controls of earlier pages cannot be reached any more. */
  resolve(action: Action): Step | Promise<Step> {
    const { controls, buttons } = this.form;
    const present = controls.filter(({ present }) => present);
    const form = { controls: present.length < controls.length ? present : controls, buttons };
    return resolveAction(action, form, this.task.url);
  }

  async send(action: Action, button: number | undefined): Promise<ActionRecord> {
    await this.flush();
    await this.attachRequired();
    return this.press(action, button);
  }

  async put(action: Action, step: Step): Promise<void> {
    if (step.do !== "upload") {
      this.batch.push({ action, step });
      return;
    }
    await this.flush();
    const on = { action, control: step.control };
    if (this.options.uploads === "none") {
      // file fields then count neither as planned nor as needed
      this.records.push({ ...on, fate: "rejected", detail: "uploads are off", neutral: true });
      return;
    }
    await this.form.handle.evaluate(attachFile, { control: step.control, name: nativeFile(step.file) });
    this.records.push({ ...on, fate: "done" });
  }

  protected async flush(): Promise<void> {
    const { batch } = this;
    this.batch = [];
    this.records.push(...(await applySteps(this.form, batch)));
  }

  /**
   * Attaches a file to required file inputs without one: the form cannot be sent otherwise, even if a task's true value
   * is "None". Such a file earns no reward.
   */
  private async attachRequired(): Promise<void> {
    const required = this.form.controls.filter(({ kind, required, present }) => kind === "file" && required && present);
    if (required.length === 0 || this.options.uploads === "none") return;
    const { handle } = this.form;
    const empty = await handle.evaluate(
      emptyFiles,
      required.map(({ index }) => index),
    );
    for (const control of empty) {
      await handle.evaluate(attachFile, { control, name: "file.txt" });
      this.attached.add(control);
    }
  }

  /** Returns the files that no action of the plan attached as evidence: they earn nothing. Empty if there are none. */
  get unearnedFiles(): { readonly unearned?: readonly number[] } {
    const unearned = [...this.attached].filter((i) => !this.records.some((r) => r.control === i && r.fate === "done"));
    return unearned.length === 0 ? {} : { unearned };
  }
}
