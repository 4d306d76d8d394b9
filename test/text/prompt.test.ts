import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PromptTask, renderPrompt, renderValue } from "../../src/text/prompt.js";

const task: PromptTask = {
  formTitle: "Contact us",
  instruction: "Fill in the contact form for Ann.",
  fields: { "Full name": "Ann Lee", Guests: 4, Newsletter: true, Smoker: false, Topics: ["Sales", "Press"] },
};

describe("renderPrompt", () => {
  it("writes one line a field and ends with an empty line", () => {
    assert.equal(
      renderPrompt(task, "compact"),
      "form: Contact us\n Full name | Ann Lee\n Guests | 4\n Newsletter | yes\n Smoker | no\n Topics | Sales, Press\n\n",
    );
  });

  it("gives the instruction and the same lines to models that read prose", () => {
    const prompt = renderPrompt(task, "instruction");
    assert.ok(prompt.startsWith("Fill in the contact form for Ann.\n\n"));
    assert.ok(prompt.includes("Form: Contact us\n Full name | Ann Lee\n Guests | 4\n"));
    assert.ok(prompt.endsWith("\nActions:\n"));
  });

  it("never lets a label or a value start another line", () => {
    const prompt = renderPrompt(
      { formTitle: "A\nB", instruction: "", fields: { "La\nbel": " one\r\ntwo\tthree ", List: ["a\nb"] } },
      "compact",
    );
    assert.equal(prompt, "form: A B\n La bel | one two three\n List | a b\n\n");
  });

  it("writes empty values", () => {
    assert.equal(renderValue(""), "");
    assert.equal(renderValue([]), "");
    assert.equal(renderValue(0), "0");
  });
});
