import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright";
import type { CliContext } from "../../cli/shared.js";
import { formatTables } from "../../cli/tables.js";
import { shippedOr } from "../../config/config.js";
import { closing } from "../../core/closing.js";
import { fail, messageOf, misuse } from "../../core/errors.js";
import { readSmall } from "../../core/files.js";
import { findBrowser } from "../../env/browser/find-browser.js";
import type { DetailCell, DetailTable } from "../../env/environment.js";
import type { Filled, FilledField } from "../agent/agent.js";
import type { AgentSource } from "../agent/agent-config.js";
import { type AgentFlags, agentSource } from "../agent/agent-flags.js";
import { type Frame, writeFilm } from "./film.js";

export interface PageFlags extends AgentFlags {
  readonly url?: string;
  readonly text?: string;
  readonly film?: boolean;
  readonly out?: string;
}

/** Largest size of the text, in bytes. */
const MOST_TEXT = 1 << 16;
/** Time limit for opening a page, in milliseconds. */
const OPEN_MS = 30_000;

/** Fills in the user's page from a text. */
export async function tryPage(overrides: readonly string[], flags: PageFlags, context: CliContext): Promise<void> {
  const [address, text] = [addressOf(flags.url as string), textOf(flags.text)];
  await fillShown({ address, text, source: agentSource(overrides, flags) }, flags, context);
}

/** Tells whether a window is possible and wanted. */
export function inWindow({ film }: Pick<PageFlags, "film">): boolean {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  const hasDisplay = process.platform !== "linux" || Boolean(DISPLAY || WAYLAND_DISPLAY);
  return film !== true && hasDisplay && findBrowser({ headless: false }) !== undefined;
}

/** Fills in a page in a window that stays open, or without a display as pictures. The form is not sent. */
export async function fillShown(
  { address, text, source }: { readonly address: string; readonly text: string; readonly source: AgentSource },
  { film, out, checkBelow }: Pick<PageFlags, "film" | "out" | "checkBelow">,
  context: CliContext,
): Promise<void> {
  // imported lazily: help and usage errors should not wait for the runtime
  const { BrowserHost } = await import("../../env/browser/browser.js");
  const { loadAgent } = await import("../agent/agent.js");
  const headless = !inWindow({ film: film ?? false });
  // the user's page may load anything
  await using host = closing(new BrowserHost({ headless }));
  context.signal.addEventListener("abort", () => void host.close());
  // a low picture: a short form is not mostly empty space
  const page = await (await host.browser()).newPage(headless ? { viewport: { width: 1000, height: 400 } } : {});
  await page.goto(address, { timeout: OPEN_MS }).catch((error: unknown) =>
    fail(`${address} does not open: ${/(?:net::)?(ERR_\w+)/.exec(messageOf(error))?.[1] ?? messageOf(error)}.`, {
      hint: "start the site, and check the address",
    }),
  );
  await using agent = closing(await loadAgent(source));
  const before = await photograph(page);
  const filled = await agent.fill(page, text, checkBelow === undefined ? {} : { checkBelow });
  const tables = groupTables(filled, text);
  context.print(formatTables(tables));
  const requests = filled.sent.length === 0 ? "" : ` The page itself asked for ${filled.sent.join(", ")}.`;
  context.log(`The form was not sent.${requests}`);
  const strange = filled.unknownWords.join(", ");
  if (strange !== "") context.log(`This text has words that the model was not made for: ${strange}`);
  if (headless) {
    const frames = [text, ...filled.rounds].map((caption) => ({ caption, image: before }));
    const last: Frame = { caption: filled.plan, image: await photograph(page) };
    context.print(
      writeFilm(out ?? join("try", "page"), await page.title(), [...frames, last], {
        letter: text,
        verdict: `${tables.map(({ title, rows }) => `${rows.length} ${title.toLowerCase()}`).join(", ")}. Not sent.`,
        isGood: filled.fields.every(({ fault, required }) => fault === undefined && !required),
        tables,
      }),
    );
    return;
  }
  context.log("Look at the window, correct what is wrong, send it yourself; close it to end.");
  await page.waitForEvent("close", { timeout: 0 }).catch(() => undefined);
}

const photograph = (page: Page): Promise<Buffer> => page.screenshot({ type: "jpeg", fullPage: true });

/** Makes a table of each group of fields that has any; what is left for the person has the reason. */
function groupTables({ groups, leftOut }: Filled, text: string): DetailTable[] {
  const shown = ({ label, value, fault, probability, from }: FilledField): DetailCell[] => [
    { text: label },
    { text: typeof value === "boolean" ? (value ? "yes" : "no") : String(value) },
    // .899 is not shown as 90 %
    { text: probability === undefined ? "" : `${Math.floor(100 * probability)} %` },
    fault === undefined
      ? { text: from === undefined ? "" : text.slice(from.start, from.end) }
      : { text: fault, tone: "bad" },
  ];
  const left = groups["left for you"].map(({ label, fault, required }): DetailCell[] => [
    { text: label },
    required ? { text: "required", tone: "bad" } : { text: fault ?? "not in the text", tone: "dim" },
  ]);
  const others = leftOut.map(({ label, reason }): DetailCell[] => [{ text: label }, { text: reason, tone: "dim" }]);
  const head = ["field", "value", "sure", "from the words"];
  return [
    { title: "Filled", head, rows: groups.filled.map(shown) },
    { title: "To check", head, rows: groups["to check"].map(shown) },
    { title: "Left for you", rows: [...left, ...others] },
  ].filter(({ rows }) => rows.length > 0);
}

/** Returns an address, or the address of a file. */
function addressOf(url: string): string {
  if (existsSync(shippedOr(url))) return pathToFileURL(resolve(shippedOr(url))).href;
  if (/^(?:https?|file):/i.test(url) && URL.canParse(url)) return url;
  const address = /^[\w.-]+(?::\d|\/)/.test(url) ? url : "127.0.0.1:8080/visit";
  misuse(`${url} is neither an address nor a file.`, {
    hint: `write an address as http://${address}, or the path of an HTML file that exists`,
  });
}

function textOf(file: string | undefined): string {
  if (file === undefined) misuse("No text to fill the page from.", { hint: "--text FILE, or --text - for stdin" });
  let text: string;
  try {
    text = file === "-" ? readFileSync(0, "utf8") : readSmall(shippedOr(file), MOST_TEXT);
  } catch (error) {
    misuse(`Cannot read the text ${file}: ${messageOf(error)}`);
  }
  return text.trim() === "" ? misuse(`The text ${file} is empty.`) : text.trim();
}
