import assert from "node:assert/strict";
import { test } from "node:test";
import { type Task, TIERS } from "../../../src/env/site.js";
import { FORMS, formOf } from "../../../src/features/embedded/catalog.js";
import type { Field } from "../../../src/features/embedded/fields.js";
import { fieldsOf } from "../../../src/features/embedded/form.js";
import { createApp } from "../../../src/features/embedded/server.js";
import { site } from "../../../src/features/embedded/sites/embedded.js";
import { embeddedTasks } from "../../../src/features/embedded/tasks.js";
import { userError } from "../../support/user-error.js";

const ONE = { train: 1, val: 1, test: 1, heldout: 1 };

/** What a browser posts for this task, name by name. */
function bodyOf(task: Task): FormData {
  const [body, form] = [new FormData(), formOf(task.form)];
  const code = (field: Field, text: unknown): string =>
    field.options?.find((o) => o.text === text)?.value ?? String(text);
  for (const field of fieldsOf(form, task.tier)) {
    const value = task.fields[field.label];
    if (field.kind === "checkbox") {
      if (value === true) body.append(field.name, "on");
    } else if (Array.isArray(value)) {
      for (const text of value) body.append(field.name, code(field, text));
    } else if (field.kind === "file" && form.encoding === "multipart") {
      body.append(field.name, new File(["x"], String(value)));
    } else {
      body.append(field.name, code(field, value));
    }
  }
  return body;
}

const app = createApp(FORMS);

function post({ form, url }: Task, body: FormData): Response | Promise<Response> {
  const text = (): URLSearchParams => new URLSearchParams([...body].map(([name, value]) => [name, String(value)]));
  return app.request(url, { method: "POST", body: formOf(form).encoding === "multipart" ? body : text() });
}
const taskOf = (form: string): Task => embeddedTasks("full", 1, ONE).find((task) => task.form === form) as Task;

test("every form answers GET and POST on one address, accepts its true values and echoes them by name", async () => {
  for (const tier of TIERS) {
    for (const task of embeddedTasks(tier, 1, ONE).filter(({ split }) => split === "train" || split === "heldout")) {
      const page = await app.request(task.url);
      assert.equal(page.status, 200);
      assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
      const answer = await post(task, bodyOf(task));
      const json = (await answer.json()) as { data: Record<string, string | string[]>; message: string };
      assert.equal(answer.status, 200, JSON.stringify(json));
      assert.equal(json.message, `${task.formTitle} Submitted Successfully!`);
      for (const field of fieldsOf(formOf(task.form), tier)) {
        const value = task.fields[field.label];
        if (field.kind === "file" || field.kind === "text") assert.equal(json.data[field.name], value);
        if (field.kind === "checkbox") assert.equal(json.data[field.name], value ? "on" : undefined);
      }
    }
  }
});

test("a missing required field is refused by its label, a star alone is not enforced", async () => {
  const task = taskOf("garden/plot-request");
  const body = bodyOf(task);
  body.delete("holder_mail");
  assert.equal((await post(task, body)).status, 200);
  body.set("holder", "  ");
  body.delete("rules_ok");
  const refused = await post(task, body);
  assert.equal(refused.status, 400);
  assert.deepEqual(await refused.json(), { error: "Required: Member Name, Accept Rules" });
});

test("repeated names come back as a list, a required file as its name", async () => {
  const task = taskOf("animals/pet-adoption");
  const body = bodyOf(task);
  body.delete("has_now");
  body.append("has_now", "dogs");
  body.append("has_now", "cats");
  const json = (await (await post(task, body)).json()) as { data: Record<string, unknown> };
  assert.deepEqual(json.data.has_now, ["dogs", "cats"]);
  body.set("house_pic", new File([], ""));
  assert.equal((await post(task, body)).status, 400);
});

test("the scripted form's configuration and the static files are there, other paths are not", async () => {
  const config = await app.request("/starter/events/open-stage/form-config");
  const { controls } = (await config.json()) as { controls: string[] };
  assert.match(
    controls[0] ?? "",
    /^<div class="field"><label for="c-act">Stage Name.*<input type="text" id="c-act" name="act" required>/,
  );
  assert.equal((await app.request("/favicon.ico")).status, 204);
  assert.match((await app.request("/static/form.js")).headers.get("content-type") ?? "", /javascript/);
  assert.equal((await app.request("/")).status, 200);
  assert.equal((await app.request("/library/none")).status, 404);
  assert.equal((await app.request("/library/card-request/form-config")).status, 404);
});

test("a body that is too large or not a form is refused: neither is the server's fault", async () => {
  const body = `buyer=${"x".repeat(1 << 20)}`;
  const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": String(body.length) };
  assert.equal((await app.request("/garden/plant-order", { method: "POST", body, headers })).status, 413);
  const broken = { method: "POST", body: "--c", headers: { "content-type": "multipart/form-data; boundary=b" } };
  assert.equal((await app.request("/library/book-request", broken)).status, 400);
});

test("the site starts on a free port and stops; a taken port is a UserError that names it", async () => {
  const options = site.schema.parse({ sizes: { train: 1, val: 1, test: 1, heldout: 1 } });
  const running = await site.start(options);
  try {
    assert.match(running.baseUrl, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(running.name, "embedded");
    assert.equal(running.tasks().length, 65);
    assert.ok(running.tasks().every((task) => task.tier === "starter"));
    const path = "/starter/library/card-request";
    const body = new URLSearchParams({ given_nm: "Nora", family_nm: "Sato" });
    assert.equal((await fetch(running.baseUrl + path, { method: "POST", body })).status, 200);
    const port = Number(new URL(running.baseUrl).port);
    await assert.rejects(site.start({ ...options, port }), userError(new RegExp(`127\\.0\\.0\\.1:${port}`)));
  } finally {
    await running.stop();
    await running.stop();
  }
  await assert.rejects(fetch(running.baseUrl));
});

test("options are strict and have defaults", () => {
  assert.deepEqual(site.schema.parse({}), {
    tier: "starter",
    seed: 1,
    sizes: { train: 64, val: 16, test: 16, heldout: 32 },
    letters: "off",
    generated: 0,
    port: 0,
  });
  assert.throws(() => site.schema.parse({ tiers: "full" }));
  assert.throws(() => site.schema.parse({ tier: "half" }));
  assert.throws(() => site.schema.parse({ port: 70000 }));
});
