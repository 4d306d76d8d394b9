import { findBrowser } from "../../src/env/browser/find-browser.js";

/** The environment of a program that finds this machine's browser, wherever it looks for its files. */
export function programEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const browser = findBrowser()?.path;
  return { ...process.env, ...(browser === undefined ? {} : { REFUSION_BROWSER: browser }), ...more };
}
