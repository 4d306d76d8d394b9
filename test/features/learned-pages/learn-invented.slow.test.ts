import assert from "node:assert/strict";
import { test } from "node:test";
import { Rng } from "../../../src/core/rng.js";
import { openForm } from "./form-site.js";
import { type InventedForm, inventForm, objectOf } from "./learn/invented-forms.js";

/** Writes an invented form as a page. */
function pageOf({ fields, requests }: InventedForm): string {
  const control = (i: number, options: readonly string[] | undefined): string =>
    options === undefined
      ? `<input id=c${i}>`
      : `<select id=c${i}><option value="">-</option>${options.map((text) => `<option>${text}</option>`).join("")}</select>`;
  const rows = fields.map(({ label, options }, i) => `<p><label>${label} ${control(i, options)}</label></p>`).join("");
  const values = fields
    .map(({ label }, i) => `${JSON.stringify(label)}: document.getElementById("c${i}").value`)
    .join(", ");
  const posts = requests.map(
    (request) =>
      `r = await fetch("${request.path}", { method: "POST", body: new URLSearchParams(${objectOf(request)}) });`,
  );
  return `<!doctype html><title>Form</title><form id=f>${rows}<button>Send</button></form><p id=say></p><script>
let n = 0; f.onsubmit = async (e) => { e.preventDefault(); const v = { ${values} }; n++; const t = Math.random().toString(36).slice(2); let r;
${posts.join("\n")} say.textContent = r.ok ? "Kept" : "No"; };</script>`;
}

test("no invented page gives a reward of 1 for what its server did not receive", async () => {
  for (let i = 0; i < 5; i++) {
    const form = inventForm(`f${i}`, Rng.named(11, `page ${i}`));
    const site = await openForm(form.id, form.people, pageOf(form), () => "ok", { success: { text: "Kept" } });
    try {
      await site.env.form(site.task(0));
      for (const [person, truth] of form.people.entries())
        for (const [label, value] of Object.entries(truth)) {
          const { options } = form.fields.find((one) => one.label === label) ?? {};
          const other =
            (options ?? form.people.map((one) => one[label] as string)).find((one) => one !== value) ?? "Zed";
          const own = await site.policy("oracle", person);
          const got = form.received(Object.fromEntries(site.received.at(-1) ?? []));
          const isTaken = Object.entries(truth).every(([name, one]) => got[name] === one);
          assert.ok((own.reward ?? 0) < 0.999 || isTaken, `${i}: the true plan`);
          const lines = Object.entries({ ...truth, [label]: other }).map(
            ([name, one]) =>
              `${form.fields.find((of) => of.label === name)?.options ? "select" : "fill"} ${name} | ${one}`,
          );
          const text = [...lines, "submit"].join("\n");
          const { reward } = await site.env.play(site.task(person), async () => ({ text }), new Map());
          assert.ok((reward ?? 0) < 0.999, `${i}: ${label} is ${other}, not ${value}`);
          break;
        }
    } finally {
      await site.close();
    }
  }
});
