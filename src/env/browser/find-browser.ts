import { existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { UserError } from "../../core/errors.js";
import { playwright } from "./playwright.js";

/** A Chromium to start. */
export interface FoundBrowser {
  /** `executablePath` for Playwright; undefined for Playwright's own download. */
  readonly path: string | undefined;
  /** The place where it was found, for logs. */
  readonly source: string;
}

/** The environment variable that names a browser and wins over everything else. */
export const BROWSER_VARIABLE = "REFUSION_BROWSER";

const SYSTEM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** Browsers without a window system: they take a third of the processor time of a full browser. */
const HEADLESS_NAMES = ["chromium-headless-shell"];

/**
 * Finds a Chromium without installing anything: $REFUSION_BROWSER, else Playwright's own, else one on the PATH (a
 * headless shell first, if no window is wanted).
 * @throws UserError if $REFUSION_BROWSER names no file: another browser would be a surprise.
 */
export function findBrowser(
  options: { env?: NodeJS.ProcessEnv; own?: string; headless?: boolean } = {},
): FoundBrowser | undefined {
  const { env = process.env, own = playwright().chromium.executablePath(), headless = true } = options;
  const named = env[BROWSER_VARIABLE];
  if (named !== undefined && named !== "") {
    if (!isFile(named)) {
      throw new UserError(`${BROWSER_VARIABLE} is ${named}, which is no file that can be read`, {
        hint: `Set ${BROWSER_VARIABLE} to a Chromium or Chrome executable, or unset it.`,
      });
    }
    return { path: named, source: `$${BROWSER_VARIABLE}` };
  }
  if (own !== "" && existsSync(own)) return { path: undefined, source: "Playwright's own Chromium" };
  const dirs = (env.PATH ?? "").split(delimiter).filter((dir) => dir !== "");
  const lists = headless ? [HEADLESS_NAMES, SYSTEM_NAMES] : [SYSTEM_NAMES];
  const path = lists.flatMap((names) => dirs.flatMap((dir) => names.map((name) => join(dir, name)))).find(isFile);
  return path === undefined ? undefined : { path, source: "system browser on the PATH" };
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // a file in an unreadable folder cannot be used
    return false;
  }
}
