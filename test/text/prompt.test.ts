import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PromptTask, renderPrompt, renderValue } from "../../src/text/prompt.js";
import { userError } from "../support/user-error.js";

const task: PromptTask = {
  formTitle: "Contact us",
  instruction: "Fill in the contact form for Ann.",
  fields: { "Full name": "Ann Lee", Guests: 4, Newsletter: true, Smoker: false, Topics: ["Sales", "Press"] },
};

describe("renderPrompt", () => {
  it("writes one line a field and ends with an empty line", () => {
    const lines = " Full name | Ann Lee\n Guests | 4\n Newsletter | yes\n Smoker | no\n Topics | Sales, Press\n\n";
    assert.equal(renderPrompt(task, "compact"), `form: Contact us\n${lines}`);
  });

  it("gives the instruction and the same lines to models that read prose", () => {
    const prompt = renderPrompt(task, "instruction");
    assert.ok(prompt.startsWith("Fill in the contact form for Ann.\n\n"));
    assert.ok(prompt.includes("Form: Contact us\n Full name | Ann Lee\n Guests | 4\n"));
    assert.ok(prompt.endsWith("\nActions:\n"));
  });

  it("gives the text that holds the values instead of them, and the options of choices", () => {
    const { fields } = task;
    const choices = { Topics: ["Sales", "Pr\ness"], Guests: [] };
    const prompt = renderPrompt({ ...task, document: " Dear all,\n\n\n\nI am Ann.\n", choices }, "document");
    const [first, last] = prompt.split("Answer");
    const said = "Fill in the contact form for Ann. What to enter is in this text:";
    assert.equal(first, `${said}\n\nDear all,\n\nI am Ann.\n\n`);
    const form = "Form: Contact us\n Full name\n Guests\n Newsletter\n Smoker\n Topics (Sales; Pr ess)\n\nActions:\n";
    assert.ok(last?.endsWith(form), last);
    for (const text of [{}, { document: " \n" }]) {
      const empty = { formTitle: "A", instruction: "", fields, ...text };
      assert.throws(() => renderPrompt(empty, "document"), userError(/a task of "A" has none/));
    }
  });

  it("never lets a label or a value start another line", () => {
    const fields = { "La\nbel": " one\r\ntwo\tthree ", List: ["a\nb"] };
    const prompt = renderPrompt({ formTitle: "A\nB", instruction: "", fields }, "compact");
    assert.equal(prompt, "form: A B\n La bel | one two three\n List | a b\n\n");
  });

  it("writes empty values", () => {
    assert.equal(renderValue(""), "");
    assert.equal(renderValue([]), "");
    assert.equal(renderValue(0), "0");
  });
});

it("page: controls as a person sees them, then the text; a record where there is no letter", () => {
  const page = {
    Name: { kind: "text", default: "", required: true, longest: 20, name: "who" },
    Guests: { kind: "number", default: 1, min: 1, max: 9 },
    Room: { kind: "select", default: "", options: ["Hall", "Bar"] },
    Tour: { kind: "checkbox", default: false },
  };
  const fields = { Name: "Ann Lee", Guests: 4, Room: "Bar", Tour: true };
  const shown =
    "page: Visit\n Name * (at most 20 characters)\n Guests (number 1 to 9) = 1\n Room: Hall; Bar\n Tour (box)\n\n";
  const task = { formTitle: "Visit", instruction: "", fields };
  assert.equal(renderPrompt({ ...task, document: "We are four." }, "page", page), `${shown}We are four.\n\n`);
  assert.equal(renderPrompt(task, "page", page), `${shown}who: Ann Lee\nguests: 4\nroom: Bar\ntour: yes\n\n`);
  const prompt = renderPrompt({ ...task, document: "Hi", choices: { Room: ["Hall"] } }, "page");
  assert.equal(prompt, "page: Visit\n Name\n Guests\n Room (Hall)\n Tour\n\nHi\n\n");
});
