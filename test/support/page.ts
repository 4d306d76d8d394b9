import { after } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright";
import { findBrowser } from "../../src/env/browser/find-browser.js";

/** Starts the browser that the environment uses, for the project's own pages. */
export async function openBrowser(): Promise<Browser> {
  const found = findBrowser();
  if (found === undefined) throw new Error("no Chromium was found; `npm test` installs one");
  return chromium.launch({
    ...(found.path === undefined ? {} : { executablePath: found.path }),
    chromiumSandbox: process.getuid?.() !== 0,
  });
}

/** Starts a browser for a file of tests; it is closed after them. */
export async function testBrowser(): Promise<Browser> {
  const browser = await openBrowser();
  after(() => browser.close());
  return browser;
}

export interface WatchedPage {
  readonly page: Page;
  /** Errors, warnings, violations of the page's security policy, and requests outside of `allowed`. */
  problems(): string[];
  close(): Promise<void>;
}

/** Records the problems of a page. @param allowed prefix of the allowed request addresses. */
export async function watchPage(
  browser: Browser,
  options: BrowserContextOptions = {},
  allowed: readonly string[] = ["file:", "data:"],
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems: string[] = [];
  // the console reports violations of a policy as errors
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => {
    if (!allowed.some((start) => request.url().startsWith(start))) problems.push(`request: ${request.url()}`);
  });
  return { page, problems: () => problems, close: () => context.close() };
}
