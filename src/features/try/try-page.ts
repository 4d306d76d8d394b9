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
import type { Filled } from "../agent/agent.js";
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
  { film, out }: Pick<PageFlags, "film" | "out">,
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
  const filled = await agent.fill(page, text);
  const fields = fieldTable(filled, text);
  context.print(formatTables([fields]));
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
        verdict: "Filled in, not sent.",
        isGood: filled.fields.every(({ fault }) => fault === undefined),
        tables: [fields],
      }),
    );
    return;
  }
  context.log("Look at the window, correct what is wrong, send it yourself; close it to end.");
  await page.waitForEvent("close", { timeout: 0 }).catch(() => undefined);
}

const photograph = (page: Page): Promise<Buffer> => page.screenshot({ type: "jpeg", fullPage: true });

/** Makes a table of the fields: value, probability, and the words that it was taken from. */
function fieldTable({ fields }: Filled, text: string): Parameters<typeof formatTables>[0][number] {
  return {
    title: "Filled in",
    head: ["field", "value", "sure", "from the words"],
    rows: fields.map(({ label, value, fault, probability, from }) => [
      { text: label },
      { text: value === undefined ? "" : typeof value === "boolean" ? (value ? "yes" : "no") : String(value) },
      { text: probability === undefined ? "" : `${Math.round(100 * probability)} %` },
      fault === undefined
        ? { text: from === undefined ? "" : text.slice(from.start, from.end) }
        : { text: fault, tone: "bad" as const },
    ]),
  };
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
