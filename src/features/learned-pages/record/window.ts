import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { html } from "hono/html";
import type { Browser, BrowserContext, Page } from "playwright";
import { misuse } from "../../../core/errors.js";
import type { FieldValue, RunningSite, Task } from "../../../env/site.js";

/** Playwright's own recorder, which `playwright codegen` uses; it has no public name. */
interface Recorder {
  _startRecording?(
    options: { readonly language: string; readonly mode: string },
    sink: Record<"actionAdded" | "actionUpdated" | "signalAdded", (page: Page, action: object, code: string) => void>,
  ): Promise<void>;
}

/** Number of people who are recorded: where the value stands in a step shows only in two. */
const PEOPLE = 2;
const SIZE = { width: 1280, height: 1400 };

/** Writes the panel: the values of a person, each copied by a click, and the button for the next one. */
const panelOf = (task: Task, i: number): string =>
  String(html`<!doctype html><meta charset="utf-8"><title>Values</title>
<style>body{font:15px sans-serif;margin:1.2em}button{font:inherit;cursor:pointer;text-align:left}dt{margin-top:.7em;color:#555}</style>
<h2>Person ${i + 1} of ${PEOPLE}</h2><p>Fill in the form with these values and send it. A click copies a value.</p>
<dl>${Object.entries(task.fields).map(rowOf)}</dl>
<p><button id="sent"><b>I have sent it</b></button></p>
<script>for (const b of document.querySelectorAll("[data-copy]")) b.onclick = () => navigator.clipboard?.writeText(b.textContent);
document.getElementById("sent").onclick = () => sent();</script>`);

const rowOf = ([label, value]: [string, FieldValue]) =>
  html`<dt>${label}<dd>${itemsOf(value).map((text) => html`<button data-copy>${text}</button> `)}`;

const itemsOf = (value: FieldValue): string[] =>
  value === true ? ["yes, tick it"] : value === false ? ["no, leave it"] : [value].flat().map(String);

/**
 * Opens a form's page beside a panel of values, and records what a person does there for two tasks. The test is written
 * as it grows, so that nothing is lost.
 * @param file gets a Playwright test. @param opened is called with the page and its panel for each task.
 */
export async function recordPeople(
  browser: Browser,
  { baseUrl, storageState }: RunningSite,
  tasks: readonly Task[],
  file: string,
  opened: (page: Page, panel: Page, task: Task) => void = () => undefined,
): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  const tests: string[] = [];
  const write = (): void => writeFileSync(file, `import { test } from '@playwright/test';\n\n${tests.join("\n\n")}\n`);
  for (const [i, task] of tasks.slice(0, PEOPLE).entries()) {
    const context = await browser.newContext({
      viewport: SIZE,
      locale: "en-US",
      timezoneId: "UTC",
      ...(storageState && { storageState }),
    });
    const beside = await browser.newContext({ viewport: null });
    try {
      const lines: string[] = [];
      const name = JSON.stringify(task.id);
      const note = (): void => {
        tests[i] = `test(${name}, async ({ page }) => {\n${lines.filter((line) => line !== "").join("\n")}\n});`;
        write();
      };
      await startRecording(context, lines, note);
      const [page, panel] = [await context.newPage(), await beside.newPage()];
      const sent = new Promise<void>((done) => {
        void panel.exposeBinding("sent", () => done());
        page.once("close", () => done());
        panel.once("close", () => done());
      });
      await panel.setContent(panelOf(task, i));
      await page.goto(new URL(task.url, baseUrl).href);
      opened(page, panel, task);
      await sent;
    } finally {
      await Promise.all([context.close(), beside.close()]);
    }
  }
}

/** Most characters of an option, and most pixels between press and release of a click. */
const LIMITS = { text: 80, px: 5 };

/**
 * Runs IN THE PAGE: gives the recorder the click on an option that is pressed and gone before its click comes. The
 * recorder sees none, or one on what lies behind.
 */
function reportGone({ text: most, px }: typeof LIMITS): void {
  const on = <K extends "pointerdown" | "pointerup" | "click">(kind: K, then: (e: WindowEventMap[K]) => void): void =>
    addEventListener(kind, then, true);
  let [at, down, isInstead]: [Element?, PointerEvent?, boolean?] = [];
  on("pointerdown", (event) => {
    [down, isInstead] = [event, false];
    at = (event.composedPath() as Element[]).find((one) => one.textContent?.trim());
  });
  on("click", (event) => {
    if (at !== undefined && event.composedPath().includes(at)) down = undefined;
    else isInstead = true;
  });
  on("pointerup", ({ x, y }) => {
    const text = (at?.textContent ?? "").trim().replace(/\s+/g, " ");
    if (down === undefined || Math.hypot(x - down.x, y - down.y) > px || text === "" || text.length > most) return;
    const selector = `internal:text=${JSON.stringify(text)}s`;
    const click = { name: "click", selector, button: "left", modifiers: 0, clickCount: 1 };
    const { __pw_recorderRecordAction: add } = window as unknown as Record<string, (action: object) => void>;
    setTimeout(() => down !== undefined && add?.({ ...click, isInstead }));
  });
}

async function startRecording(context: BrowserContext & Recorder, lines: string[], note: () => void): Promise<void> {
  if (context._startRecording === undefined)
    misuse("This version of Playwright has no recorder for programs.", {
      hint: "Record with `npx playwright codegen URL`, once for each of two tasks, and use `learn --from`.",
    });
  await context.addInitScript(reportGone, LIMITS);
  const updated = (at: number) => (_page: Page, action: { readonly isInstead?: boolean }, code: string) => {
    lines[lines.length + (action.isInstead ? -1 : at)] = code;
    note();
  };
  await context._startRecording(
    { language: "playwright-test", mode: "recording" },
    { actionAdded: updated(0), actionUpdated: updated(-1), signalAdded: () => undefined },
  );
}
