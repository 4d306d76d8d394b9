import { resolve } from "node:path";
import type { Page } from "playwright";
import { closing } from "../../core/closing.js";
import { fail, messageOf, misuse, UserError } from "../../core/errors.js";
import { readSmall } from "../../core/files.js";
import { ownFunction } from "../../core/own-module.js";
import { BrowserHost } from "../../env/browser/browser.js";
import type { RunningSite } from "../../env/site.js";

export type StorageState = NonNullable<RunningSite["storageState"]>;

/** Time limit of a login, in milliseconds. */
const LOGIN_MS = 60_000;

/** Default export of a login module: it logs the page in; the cookies and the storage are then kept. */
export type Login = (page: Page, site: { readonly baseUrl: string }) => Promise<void>;

/**
 * Returns the storage state that every episode begins with: Playwright's file, changed by a login script, run once.
 * @throws UserError if the file is no storage state, or the script fails.
 */
export async function storageStateOf(
  given: { readonly file?: string | undefined; readonly stateFile?: string | undefined },
  site: { readonly baseUrl: string; readonly allowOrigins: readonly string[] },
): Promise<StorageState | undefined> {
  const state = given.stateFile === undefined ? undefined : readState(resolve(given.stateFile));
  return given.file === undefined ? state : logIn(given.file, site, state);
}

function readState(file: string): StorageState {
  const next = { hint: "It is the file that Playwright's `context.storageState({ path })` writes." };
  let state: unknown;
  try {
    state = JSON.parse(readSmall(file));
  } catch (error) {
    misuse(`site.storage_state: ${file} cannot be read: ${messageOf(error)}`, next);
  }
  const { cookies, origins } = (state ?? {}) as Partial<StorageState>;
  if (Array.isArray(cookies) && Array.isArray(origins)) return state as StorageState;
  misuse(`site.storage_state: ${file} has no cookies and origins.`, next);
}

async function logIn(
  file: string,
  { baseUrl, allowOrigins }: { readonly baseUrl: string; readonly allowOrigins: readonly string[] },
  state: StorageState | undefined,
): Promise<StorageState> {
  const login = await ownFunction<Login>(file, "site.login", "export default async (page, { baseUrl }) => { ... }");
  await using host = closing(new BrowserHost({ site: { baseUrl, allowOrigins }, headless: true }));
  try {
    const browser = await host.browser();
    const context = await browser.newContext({
      baseURL: baseUrl,
      ...(state === undefined ? {} : { storageState: state }),
    });
    context.setDefaultTimeout(LOGIN_MS);
    const page = await context.newPage();
    await login(page, { baseUrl });
    return await context.storageState();
  } catch (error) {
    if (error instanceof UserError) throw error;
    fail(`site.login: ${file} failed: ${messageOf(error).split("\n")[0]}`, {
      hint: "It gets a Playwright page and { baseUrl }, and leaves the page logged in.",
      cause: error,
    });
  }
}

/** Returns the state's cookies for an address as a header, to request pages behind a login. */
export function cookiesFor(state: StorageState | undefined, baseUrl: string): Record<string, string> {
  const { hostname } = new URL(baseUrl);
  const cookies = (state?.cookies ?? []).filter(({ domain }) => {
    const bare = domain.replace(/^\./, "");
    return hostname === bare || hostname.endsWith(`.${bare}`);
  });
  return cookies.length === 0 ? {} : { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; ") };
}
