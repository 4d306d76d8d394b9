import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { openForm } from "./form-site.js";

type Site = Awaited<ReturnType<typeof openForm>>;

/** A form of pages/NAME.html; a comment there says what is special about it. */
interface LearnedForm {
  /** Key of a field without which the server refuses. */
  readonly key: string;
  readonly answersInMs?: number | undefined;
  readonly people: readonly object[];
  /** Labels that plain ways do not reach. */
  readonly missing?: readonly string[];
  /** Checks what was learned, once two people's forms were played right. */
  readonly check: (fields: ReturnType<Site["contract"]>["fields"], site: Site) => void | Promise<void>;
}

const FORMS: Readonly<Record<string, LearnedForm>> = {
  stay: {
    key: "guest",
    answersInMs: 1500,
    // a window of its own with a button that takes over what was chosen
    missing: ["Wishes"],
    people: [
      { Guest: "Ann Lee", Board: "Full", Arrival: "2026-03-05", Wishes: ["Crib"] },
      { Guest: "Bo Fernandez", Board: "None", Arrival: "2027-11-28", Wishes: ["Desk", "View"] },
      { Guest: "Chidi Okoro", Board: "Half", Arrival: "2026-07-14", Wishes: ["Crib", "Desk", "View"] },
    ],
    async check({ Arrival, Board }, site) {
      assert.deepEqual(Arrival?.wire, { key: "day", notation: { as: "day" } });
      assert.deepEqual(Board?.wire?.notation, { as: "codes", codes: { Full: "b2", None: "b3", Half: "b1" } });
      const before = site.received.length;
      await site.policy("oracle", 1);
      assert.equal(site.received.length, before + 1, "sent once");
      assert.equal((await site.policy("empty", 0)).reward, 0);
      assert.ok(((await site.policy("submit-only", 0)).reward ?? 1) <= 0.05);
    },
  },
  car: {
    key: "holder",
    missing: ["Experience"],
    people: [
      { Holder: "Ann Lee", Experience: 3, Extras: ["Hail"], Cover: "Full", "Letters by post": true },
      { Holder: "Bo Berg", Experience: 1, Extras: ["Glass", "Hail"], Cover: "Liability", "Letters by post": false },
      { Holder: "Cy O", Experience: 4, Extras: ["Glass", "Theft", "Hail"], Cover: "Partial", "Letters by post": true },
    ],
    check({ Cover, "Letters by post": letters, Holder }, site) {
      assert.deepEqual([Cover?.step, letters?.default, Holder?.wire?.key], [1, true, "holder"]);
      // no play wrote the number of stars into the holder's field
      assert.ok(site.received.every((sent) => !/^\d*$/.test(sent.get("holder") ?? "")));
    },
  },
  loan: {
    key: "borrower",
    people: [
      ["Ann Lee", true, 1250, "A new roof", 12, "Soon"],
      ["Bo Berg", false, "", "A boat", 36, "By post"],
      ["Cy Dunn", true, 980, "A piano", 24, "Late"],
    ].map(([Borrower, insure, worth, Reason, Months, Remarks]) => ({
      ...{ Borrower, "Insure it": insure, "Insured value": worth, Reason, Months, Remarks },
    })),
    async check(_, site) {
      assert.equal(site.contract().steps.length, 2);
      assert.ok(((await site.policy("empty", 1)).reward ?? 1) <= 0.05);
      // nothing was sent before the form was whole
      assert.ok(site.received.slice(0, 3).every((sent) => sent.get("remarks") !== ""));
    },
  },
};

describe("forms that are learned from their server, and played right for two people", { concurrency: 3 }, () => {
  for (const [form, { key, answersInMs, people, missing = [], check }] of Object.entries(FORMS))
    it(form, async () => {
      const page = readFileSync(join(packageRoot(), "test/features/learned-pages/pages", `${form}.html`), "utf8");
      const answer = (sent: URLSearchParams): string => (sent.get(key) === "" ? "<h1>no</h1>" : "<h1>yes</h1>");
      const site = await openForm(form, people, page, answer, { answersInMs, success: { text: "yes" } });
      after(() => site.close());
      for (const i of [1, 2]) {
        const { detail } = await site.policy("oracle", i);
        const scores = Object.entries(detail.field_scores as Record<string, number>);
        const wrong = scores.filter(([label, score]) => score < 1 && !missing.includes(label));
        assert.deepEqual([detail.accepted, wrong], [true, []], `person ${i}`);
      }
      const contract = site.contract();
      assert.deepEqual(Object.keys(contract.not_proved), missing);
      await check(contract.fields, site);
    });
});
