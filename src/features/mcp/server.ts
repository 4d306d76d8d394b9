import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Page, Request } from "playwright";
import { z } from "zod";
import { fail, messageOf, misuse, UserError } from "../../core/errors.js";
import { optional } from "../../core/optional.js";
import { Semaphore } from "../../core/semaphore.js";
import { within } from "../../core/within.js";
import { submitButton } from "../../env/browser/controls.js";
import { Hold } from "../../env/browser/network/hold.js";
import { aimAt, applyOps } from "../../env/browser/page/actions.js";
import type { Agent } from "../../library/agent.js";
import { fieldsOf, withForm } from "../../library/filling.js";
import { Pages, type Where } from "./pages.js";

/** Time that the form's request may take to appear after a click, and its answer to load, in milliseconds. */
const SEND_MS = 5000;
const ANSWER_MS = 30_000;
/** Most characters of the page's text that are returned after a form was sent. */
const MOST_TEXT = 2000;

const WHERE = {
  url: z.string().optional().describe("address of the page; with endpoint: which of its pages"),
  endpoint: z
    .string()
    .optional()
    .describe("a Chromium of this machine that shows the page already, as http://127.0.0.1:9222; else one is opened"),
};
const VALUE = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/** The parts that all servers of a process share: a model, a browser, and a lock for one call at a time. */
export class FormTools {
  private readonly pages: Pages;
  private readonly turn = new Semaphore(1);
  /** Labels of the last filling of a page, which identify the form. */
  private readonly filled = new WeakMap<Page, readonly string[]>();

  constructor(
    private readonly agent: Agent,
    origins: readonly string[],
    private readonly version: string,
  ) {
    this.pages = new Pages(origins);
  }

  /** Makes a server with the three tools, for one connection. @throws UserError if the SDK is not installed. */
  async server(): Promise<McpServer> {
    const { McpServer } = await sdk(() => import("@modelcontextprotocol/sdk/server/mcp.js"));
    const server = new McpServer({ name: "refusion-train", version: this.version });
    server.registerTool(
      "read_form",
      { description: "Lists the fields of the form on a page: label, kind, options.", inputSchema: WHERE },
      (where) => this.call(() => this.read(where)),
    );
    server.registerTool(
      "fill_form",
      {
        description:
          "Fills in the form on a page and reads every field back from it. Nothing is sent: submit_form does that.",
        inputSchema: {
          ...WHERE,
          text: z
            .string()
            .optional()
            .describe("what to enter, as `Label: value` a line; or prose, if the model reads it"),
          values: z.record(z.string(), VALUE).optional().describe("what to enter, by label"),
        },
      },
      ({ text, values, ...where }) => this.call(() => this.fill(where, text, values)),
    );
    server.registerTool(
      "submit_form",
      {
        description:
          "Sends the form that fill_form has filled in, and tells what was asked of the server and what it answered.",
        inputSchema: WHERE,
      },
      (where) => this.call(() => this.submit(where)),
    );
    return server;
  }

  async close(): Promise<void> {
    await this.turn.run(() => this.pages.close());
    await this.agent.close();
  }

  private read(where: Where): Promise<object> {
    return this.pages.on(where, true, (page) =>
      withForm(page, this.filled.get(page) ?? [], async (open) => ({
        url: page.url(),
        title: await page.title(),
        fields: (await fieldsOf(open, {}, false))
          .filter(({ present }) => present)
          .map(({ label, kind, required, options }) => {
            const texts = kind === "checkbox" ? [] : options.flatMap(({ text, value }) => (value === "" ? [] : [text]));
            return { label, kind, required, ...(texts.length === 0 ? {} : { options: texts }) };
          }),
      })),
    );
  }

  private fill(
    where: Where,
    text: string | undefined,
    values: Readonly<Record<string, z.infer<typeof VALUE>>> | undefined,
  ): Promise<object> {
    if ((text === undefined) === (values === undefined)) misuse("Give either text or values.");
    return this.pages.on(where, true, async (page) => {
      const { fields: all, unresolved, sent, held } = await this.agent.fill(page, values ?? text ?? "");
      const fields = all.map(({ probability: p, ...field }) =>
        p === undefined ? field : { ...field, probability: Number(p.toFixed(3)) },
      );
      const faults = fields.flatMap(({ label, fault }) => (fault === undefined ? [] : [{ label, fault }]));
      const absent = new Set(faults.flatMap(({ label, fault }) => (fault === "no-such-control" ? [label] : [])));
      // absent labels would never be found when the form is looked up
      this.filled.set(
        page,
        Object.keys(values ?? {}).filter((label) => !absent.has(label)),
      );
      return { url: page.url(), fields, faults, unresolved, sent: sent.length > 0 && sent, held };
    });
  }

  private async submit(where: Where): Promise<object> {
    const done = await this.pages.on(where, false, (page) => this.send(page));
    if (where.endpoint === undefined && where.url !== undefined) await this.pages.forget(where.url);
    return done;
  }

  /** Clicks the form's button, and waits for the request and its answer. */
  private async send(page: Page): Promise<object> {
    await Hold.release(page);
    const isSent = (request: Request): boolean =>
      request.isNavigationRequest() || !["GET", "HEAD", "OPTIONS"].includes(request.method());
    // no timeout here: the time limit begins after the click
    const sent = Promise.race([
      page.waitForRequest(isSent, { timeout: 0 }),
      page.waitForEvent("popup", { timeout: 0 }).then(() => undefined),
    ]).catch(() => undefined);
    const pressed = await withForm(page, this.filled.get(page) ?? [], async ({ form }) => {
      const button = submitButton(form);
      if (button === undefined) fail("The form has no button that sends it.");
      const { invalid, address, method, hit, point } = await form.handle.evaluate(aimAt, button);
      if (invalid !== undefined) fail(`The form was not sent: the page refuses ${invalid}`);
      if (method !== "" && !this.pages.allows(address)) this.pages.refuse(address);
      if (hit) await page.mouse.click(point.x, point.y);
      else await form.handle.evaluate(applyOps, [{ op: "press", button }]);
      return form.buttons[button]?.label;
    });
    const request = (await within(sent, SEND_MS)) ? await sent : undefined;
    if (request === undefined) fail(`The button "${pressed}" was pressed, and nothing was sent.`);
    let last = request;
    for (let next = last.redirectedTo(); next !== null; next = last.redirectedTo()) last = next;
    const response = await last.response();
    if (response === null) fail(`No answer to ${request.method()} ${request.url()}: ${last.failure()?.errorText}`);
    if (request.isNavigationRequest()) await page.waitForLoadState("load", { timeout: ANSWER_MS });
    const text = await page.innerText("body");
    return {
      sent: { button: pressed, method: request.method(), url: request.url(), status: response.status() },
      page: { url: page.url(), title: await page.title(), text: text.slice(0, MOST_TEXT) },
    };
  }

  /** Runs one call at a time; errors become the tool's answer, with the next step. */
  private async call(work: () => Promise<object>): Promise<CallToolResult> {
    const answer = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });
    try {
      return answer(JSON.stringify(await this.turn.run(work)));
    } catch (error) {
      const next = error instanceof UserError && error.hint !== undefined ? ` Next: ${error.hint}` : "";
      return { ...answer(`${messageOf(error)}${next}`), isError: true };
    }
  }
}

/** Imports a part of the SDK. @throws UserError if it is not installed. */
export async function sdk<T>(load: () => Promise<T>): Promise<T> {
  return optional("The Model Context Protocol needs", "@modelcontextprotocol/sdk", load);
}
