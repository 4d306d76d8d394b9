import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { openForm } from "./form-site.js";

/** The words of an answer. */
const text = (html: string): string => /<h1>(.*)<\/h1>/.exec(html)?.[1] ?? html;

type Site = Awaited<ReturnType<typeof openForm>>;

/** A form of pages/NAME.html; a comment there says what is special about it. */
interface LearnedForm {
  /** Key of a field without which the server refuses. */
  readonly key: string;
  /** The server's answers, refused and accepted; default: in English. */
  readonly answers?: readonly [string, string];
  readonly answersInMs?: number;
  /** Fields by hand: their ways come last in a search, which would try all others before them. */
  readonly byHand?: Readonly<Record<string, object>>;
  readonly people: readonly object[];
  /** Checks what was learned, once two people's forms were played right. */
  readonly check: (fields: ReturnType<Site["contract"]>["fields"], site: Site) => void | Promise<void>;
}

const GERMAN = ["<h1>nein</h1>", "<h1>ja</h1>"] as const;

const FORMS: Readonly<Record<string, LearnedForm>> = {
  order: {
    key: "buyer",
    people: [
      { Buyer: "Ann Lee", Price: 1250.5, Deposit: 99.9, Account: "Postage", Extras: ["Card"] },
      { Buyer: "Bo Berg", Price: 89.95, Deposit: 12.5, Account: "Steel", Extras: ["Gift wrap", "Insurance"] },
      { Buyer: "Cy Dunn", Price: 16400, Deposit: 300, Account: "Paint", Extras: ["Gift wrap", "Card", "Insurance"] },
    ],
    check({ Price, Deposit }, site) {
      assert.deepEqual([Price?.variant.by, Deposit?.variant.by], ["comma", "hundredths"]);
      assert.equal(site.received.at(-1)?.get("price"), "16400");
    },
  },
  ferry: {
    key: "guest",
    byHand: {
      "Leaves at": { way: "wheels", variant: { confirm: true }, kind: "time" },
      Metres: { way: "nudge", variant: { by: "drag" }, kind: "number" },
    },
    people: [
      { Guest: "Ann Lee", "Leaves at": "09:15", Cabins: 3, Metres: 7, Mobile: "41234567", "Sails on": "2027-01-22" },
      { Guest: "Bo Berg", "Leaves at": "17:40", Cabins: 2, Metres: 12, Mobile: "92345678", "Sails on": "2026-12-09" },
      { Guest: "Cy Dunn", "Leaves at": "11:05", Cabins: 5, Metres: 4, Mobile: "48765432", "Sails on": "2026-10-30" },
    ],
    check({ Mobile }) {
      assert.deepEqual(Mobile?.wire?.notation, { as: "part", of: "+47{Mobile}" });
    },
  },
  hall: {
    key: "guest",
    byHand: { "Opens at": { way: "clock", variant: { time: "H:mm" }, kind: "time" } },
    people: [
      { Guest: "Ann Lee", "Opens at": "12:30", "Price a day": "500 - 1200", Room: "Green room" },
      { Guest: "Bo Berg", "Opens at": "09:05", "Price a day": "250 - 350", Room: "Blue room" },
      { Guest: "Cy Dunn", "Opens at": "19:45", "Price a day": "1000 - 1500", Room: "Red room" },
    ],
    check({ "Price a day": price, Room }) {
      assert.deepEqual([price?.way, Room?.wire?.notation.as], ["handles", "codes"]);
    },
  },
  claim: {
    key: "policy",
    answers: GERMAN,
    people: [
      { Policy: "AB-1234", Happened: "2026-03-05 10:30", Trust: 4, Photo: "dent.jpg" },
      { Policy: "QX-0007", Happened: "2025-11-28 18:00", Trust: 2, Photo: "roof.png" },
      { Policy: "KL-5550", Happened: "2026-07-14 09:15", Trust: 5, Photo: "bike.gif" },
    ],
    check({ Trust, Photo }, site) {
      assert.deepEqual(site.contract().submit, { locator: 'text="Send it"', nth: 0 });
      assert.deepEqual([Trust?.variant.by, Photo?.variant.late, Photo?.wire?.key], ["row", true, "token"]);
    },
  },
  stay: {
    key: "guest",
    answersInMs: 1500,
    answers: ["<title>x</title><h1>nein</h1>", "<title>y</title><h1>ja</h1>"],
    people: [
      { Guest: "Ann Lee", Board: "Full", Arrival: "2026-03-05", Wishes: ["Crib"] },
      { Guest: "Bo Fernandez", Board: "None", Arrival: "2027-11-28", Wishes: ["Desk", "View"] },
      { Guest: "Chidi Okoro", Board: "Half", Arrival: "2026-07-14", Wishes: ["Crib", "Desk", "View"] },
    ],
    async check({ Arrival, Board, Wishes }, site) {
      const wishes = [...(site.received.at(-1)?.keys() ?? [])].filter((key) => key.startsWith("wish"));
      assert.deepEqual(wishes, ["wish[0]", "wish[1]", "wish[2]"]);
      assert.deepEqual(Arrival?.wire, { key: "day", notation: { as: "day" } });
      assert.deepEqual(Board?.wire?.notation, { as: "codes", codes: { Full: "b2", None: "b3", Half: "b1" } });
      assert.equal(Wishes?.wire?.key, "wish[#]");
      const before = site.received.length;
      assert.equal((await site.policy("oracle", 1)).reward, 1);
      assert.equal(site.received.length, before + 1, "sent once");
      assert.equal((await site.policy("empty", 0)).reward, 0);
      assert.ok(((await site.policy("submit-only", 0)).reward ?? 1) <= 0.05);
    },
  },
  pizza: {
    key: "guest",
    people: [
      { Guest: "Ann Lee", Toppings: ["Ham"], Size: "Large", Slices: 7 },
      { Guest: "Bo Berg", Toppings: ["Corn", "Olives"], Size: "Small", Slices: 3 },
      { Guest: "Cy Dunn", Toppings: ["Ham", "Corn", "Olives"], Size: "Medium", Slices: 9 },
    ],
    check({ Slices }, site) {
      assert.deepEqual(site.contract().submit, { locator: 'text="Bake it"', nth: 0 });
      assert.equal(Slices?.way, "slider");
    },
  },
  car: {
    key: "holder",
    answers: GERMAN,
    people: [
      { Holder: "Ann Lee", Experience: 3, Extras: ["Hail"], Cover: "Full", "Letters by post": true },
      { Holder: "Bo Berg", Experience: 1, Extras: ["Glass", "Hail"], Cover: "Liability", "Letters by post": false },
      { Holder: "Cy O", Experience: 4, Extras: ["Glass", "Theft", "Hail"], Cover: "Partial", "Letters by post": true },
    ],
    check({ Cover, "Letters by post": letters, Experience }, site) {
      assert.deepEqual([Cover?.step, letters?.default, Experience?.wire?.key], [1, true, "skill"]);
      // no attempt wrote the number of stars into the holder's field
      assert.ok(site.received.slice(0, 3).every((sent) => /[a-z]/.test(sent.get("holder") ?? "")));
    },
  },
  call: {
    key: "host",
    people: [
      { Host: "Ann Lee", Participants: ["kim@lee.example"], Topics: "Budget of the year", "Begins at": "14:30" },
      { Host: "Bo", Participants: ["rosa@b.example", "tom@b.example"], Topics: "Holidays", "Begins at": "09:15" },
      {
        Host: "Cy",
        Participants: ["ada@c.example", "al@c.example", "yu@c.example"],
        Topics: "Strike",
        "Begins at": "16:45",
      },
    ],
    check({ Participants }, site) {
      assert.equal(Participants?.way, "rows");
      assert.deepEqual(site.received.at(-1)?.getAll("who"), ["ada@c.example", "al@c.example", "yu@c.example"]);
    },
  },
  accident: {
    key: "holder",
    answers: GERMAN,
    people: [
      ["Ann Lee", "2026-11-03 08:25", "Valve", 6, "2026-12-24", "Mills"],
      ["Bo Fernandez", "2026-10-19 17:40", "Motor", 2.5, "2027-01-09", "Harbour"],
      ["Chidi Okoro", "2026-12-11 13:05", "Belt", 12, "2026-11-30", "Garage"],
    ].map(([Holder, at, Part, lost, by, to]) => ({
      ...{ Holder, "Time of the accident": at, Part, "Hours lost": lost, "Paid by": by, "Paid to": to },
    })),
    check({ "Time of the accident": at, Part, "Hours lost": lost, "Paid to": to }, site) {
      assert.deepEqual(site.contract().steps, [{ locator: 'role=button[name="New claim"s]', nth: 0 }]);
      assert.deepEqual([at?.way, Part?.way, to?.way], ["segments", "open-pick", "fill"]);
      assert.deepEqual(lost?.wire, { key: "minutes", notation: { as: "number", times: 60 } });
      assert.ok(site.received.length < 12);
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
      // nothing was sent before the form was whole, but to see what is refused
      assert.ok(site.received.slice(0, 3).every((sent) => sent.get("remarks") !== ""));
    },
  },
};

describe("forms that are learned from their server, and played right for two people", { concurrency: 3 }, () => {
  for (const [form, { key, answers, answersInMs, byHand, people, check }] of Object.entries(FORMS))
    it(form, async () => {
      const page = readFileSync(join(packageRoot(), "test/features/learned-pages/pages", `${form}.html`), "utf8");
      const [refused, accepted] = answers ?? ["<h1>no</h1>", "<h1>yes</h1>"];
      const answer = (sent: URLSearchParams): string => (sent.get(key) === "" ? refused : accepted);
      const site = await openForm(form, people, page, answer, answersInMs, {}, { success: { text: text(accepted) } });
      const fields = Object.entries(byHand ?? {}).map(([label, field]) => [
        label,
        { locator: `field=${JSON.stringify(label)}`, hand: true, ...field },
      ]);
      const given = { form, url: "/", fields: Object.fromEntries(fields) };
      mkdirSync(dirname(site.file), { recursive: true });
      if (byHand !== undefined) writeFileSync(site.file, JSON.stringify(given));
      try {
        for (const i of [1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1, `person ${i}`);
        const contract = site.contract();
        assert.deepEqual(contract.not_proved, {});
        await check(contract.fields, site);
      } finally {
        await site.close();
      }
    });
});
