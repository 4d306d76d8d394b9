import type { Page, Request } from "playwright";
import { fail, messageOf } from "../../core/errors.js";
import { within } from "../../core/within.js";
import { type Control, submitButton } from "../../env/browser/controls.js";
import { ownerOf } from "../../env/browser/network/exchange.js";
import { aimAt, applyOps } from "../../env/browser/page/actions.js";
import { press } from "../../env/browser/press.js";
import { carriedOf } from "../../env/forms/native.js";
import { readPosted, readQuery } from "../../env/forms/posted.js";
import { type OpenPage, withForm } from "../agent/filling.js";
import { Hold } from "../agent/hold.js";
import type { Pages } from "./pages.js";

/**
 * Time limits after a click for a request, for one that carries the form, for its answer, and for reading the page, in
 * milliseconds; together less than clients wait for a call.
 */
const SEND_MS = 5000;
const FORM_MS = 1000;
const ANSWER_MS = 20_000;
const READ_MS = 8000;
/** Most characters of the page's text that are returned after a form was sent. */
const MOST_TEXT = 2000;

/** One press of a form's button, and the requests of its own server that followed. */
export class Submission {
  private button = "";
  private readonly requests: { readonly request: Request; rank: number }[] = [];

  constructor(private readonly pages: Pages) {}

  /** Tells whether the form, or a part of it, may have arrived. */
  get isSent(): boolean {
    return this.requests.length > 0;
  }

  /**
   * Clicks the form's button, and waits for the request and its answer.
   * @param labels identify the form. @param stopped addresses that were blocked.
   * @throws UserError where nothing has left the page.
   */
  async send(page: Page, labels: readonly string[], stopped: readonly string[]): Promise<object> {
    const context = page.context();
    let controls: readonly Control[] = [];
    const onRequest = async (request: Request): Promise<void> => {
      const isPosted = request.isNavigationRequest() || !["GET", "HEAD", "OPTIONS"].includes(request.method());
      // a redirect is a part of the request before it
      if (!isPosted || request.redirectedFrom() !== null || !this.pages.allows(request.url())) return;
      if (ownerOf(request, page) === "popup") return;
      const ranked = { request, rank: 0 };
      this.requests.push(ranked);
      ranked.rank = await rankOf(request, controls);
    };
    const pressed = withForm(page, labels, async (open) => {
      controls = open.form.controls;
      await Hold.release(page);
      const watched = {
        traffic: { arm: () => void context.on("request", onRequest) },
        answered: async () => undefined,
      };
      await press(
        { ...open.surface, ...watched },
        {
          ...{ phase: "submit", isForm: () => true },
          sent: () => this.requests.filter(({ rank }) => rank > 1),
          click: () => this.click(page, open),
          waits: [
            [SEND_MS, () => this.isSent || stopped.length > 0],
            [FORM_MS, () => !this.isSent],
          ],
        },
      );
    });
    try {
      await pressed.catch((error: unknown) => {
        // the form's page may be gone already
        if (!this.isSent) throw error;
      });
      if (!this.isSent) await this.nothing(page, stopped);
      return await this.result(page, stopped);
    } finally {
      context.off("request", onRequest);
    }
  }

  private async click(page: Page, { form }: OpenPage): Promise<true> {
    const button = submitButton(form);
    if (button === undefined) fail("The form has no button that sends it.");
    const { invalid, address, method, hit, point } = await form.handle.evaluate(aimAt, button);
    if (invalid !== undefined) fail(`The form was not sent: the page refuses ${JSON.stringify(invalid)}.`);
    if (method !== "" && !this.pages.allows(address)) this.pages.refuse(address);
    this.button = form.buttons[button]?.label ?? "";
    if (hit) await page.mouse.click(point.x, point.y);
    else await form.handle.evaluate(applyOps, [{ op: "press", button }]);
    return true;
  }

  /** Holds the page again, so that it cannot send later what is reported as not sent. */
  private async nothing(page: Page, [stopped]: readonly string[]): Promise<void> {
    await Hold.drop(page);
    if (this.isSent) return;
    if (stopped !== undefined) this.pages.refuse(stopped);
    fail(`The button ${JSON.stringify(this.button)} was pressed, and no form was sent.`);
  }

  /** Describes what was sent, as far as it is known. @param page absent where it is lost. */
  async result(page: Page | undefined, stopped: readonly string[]): Promise<object> {
    // of equals, the last: others come before it
    const [{ request } = { request: undefined }] = this.requests.toReversed().sort((a, b) => b.rank - a.rank);
    const status = request === undefined ? null : await statusOf(request, page === undefined ? 0 : ANSWER_MS);
    const isNew = request?.isNavigationRequest() === true;
    const shown = page === undefined || status === null ? null : await shownBy(page, isNew);
    return {
      sent: { button: this.button, method: request?.method(), url: request?.url(), status },
      ...(status === null ? { warning: "No answer was seen. The form may have arrived: do not send it again." } : {}),
      ...(stopped.length === 0 ? {} : { stopped: [...new Set(stopped)] }),
      page: shown,
    };
  }
}

/** Reads a page. @param isNew whether it is a new document, which has to load first. */
async function shownBy(page: Page, isNew: boolean): Promise<object> {
  try {
    if (isNew) await page.waitForLoadState("load", { timeout: READ_MS }).catch(() => undefined);
    const text = await page.innerText("body", { timeout: READ_MS });
    return { url: page.url(), title: await page.title(), text: text.slice(0, MOST_TEXT) };
  } catch (error) {
    return { url: page.url(), unreadable: messageOf(error).split("\n")[0] };
  }
}

/** Ranks a request by the controls that it carries; a beacon is the last to be the form's. */
async function rankOf(request: Request, controls: readonly Control[]): Promise<number> {
  const body = await readPosted(request.postDataBuffer(), request.headers()["content-type"] ?? "");
  const isBeacon = ["ping", "beacon"].includes(request.resourceType());
  return 2 * carriedOf(controls, [...body, ...readQuery(request.url())]) + (isBeacon ? 0 : 1);
}

/** Returns the status of the last answer that a request and its redirects got; null without one in time. */
async function statusOf(request: Request, ms: number): Promise<number | null> {
  let status: number | null = null;
  for (let next: Request | null = request; next !== null; next = next.redirectedTo()) {
    const answer = next.response();
    const response = (await within(answer, ms)) ? await answer.catch(() => null) : null;
    if (response === null) break;
    status = response.status();
  }
  return status;
}
