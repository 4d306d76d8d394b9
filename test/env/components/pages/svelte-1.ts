import { click, of, pick, press, type } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, NAMES, people } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "svelte/multi-festival",
    title: "Festival",
    libraries: ["svelte-multiselect"],
    people: people({
      Visitor: NAMES,
      Ticket: ["Backstage", "One day", "Weekend"],
      "Favourite bands": [["Salt"], ["The Herons", "Kraken Choir"], ["Blue Anvil", "Kraken Choir", "Salt"]],
      Nights: [2, 5, 7],
      Shirt: ["Size L", "Size S", "Size M"],
      Camping: [true, false, true],
    }),
    wire: {
      Visitor: "booking.visitor",
      Ticket: ["booking.ticket", { "One day": "d", Weekend: "w", Backstage: "b" }],
      "Favourite bands": "booking.bands",
      Nights: "booking.nights",
      Shirt: ["booking.shirt", (text: string) => text.slice(-1)],
      Camping: "booking.camping",
    },
    required: ["Visitor"],
    answer: byFlag({ status: "booked" }, { status: "open" }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Visitor").fill(p.text("Visitor"));
      await pick(page, page.locator("#ticket"), p.text("Ticket"));
      await page.keyboard.press("Escape");
      for (const band of p.list("Favourite bands")) {
        await page.locator("#bands").fill(band);
        await page.getByRole("option", { name: band, exact: true }).click();
      }
      await page.keyboard.press("Escape");
      await page.locator("#nights").fill(p.text("Nights"));
      await page.getByLabel(p.text("Shirt")).check();
      await click(person, "Camping", page.getByLabel("Camping"));
    },
    send: "Get the ticket",
  },
  {
    id: "svelte/carbon-audit",
    title: "Audit",
    libraries: ["carbon-components-svelte"],
    people: people({
      Auditor: NAMES,
      Unit: ["Stores", "Kitchen", "Laundry"],
      City: ["Porto", "Faro", "Lisbon"],
      Checks: [["Electrics"], ["Hygiene", "Fire safety"], ["Hygiene", "Fire safety", "Electrics"]],
      "Audit day": ["2026-12-08", "2027-01-21", "2027-03-05"],
      "Staff present": [4, 18, 27],
      Score: [35, 60, 85],
      Result: ["Failed", "Passed", "With conditions"],
      Remarks: ["Door is stuck", "All is clean", "Lamp broken"],
      "Second audit": [true, false, true],
      "Photos taken": [false, true, false],
    }),
    wire: {
      Auditor: "auditor",
      Unit: ["unit", { Kitchen: "u1", Laundry: "u2", Stores: "u3" }],
      City: ["city", { Lisbon: "lis", Porto: "por", Faro: "far" }],
      Checks: ["checks", { Hygiene: "hy", "Fire safety": "fi", Electrics: "el" }],
      "Audit day": "day",
      "Staff present": "staff",
      Score: "score",
      Result: ["result", { Passed: "pass", "With conditions": "cond", Failed: "fail" }],
      Remarks: "remarks",
      "Second audit": "again",
      "Photos taken": "photos",
    },
    required: ["Auditor", "Unit"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      for (const label of ["Auditor", "Remarks"]) await page.getByLabel(label).fill(p.text(label));
      await page.locator(".bx--number input").first().fill(p.text("Staff present"));
      await page.getByLabel("Unit").selectOption({ label: p.text("Unit") });
      await page.locator(".bx--combo-box input").click();
      await page.getByText(p.text("City"), { exact: true }).click();
      await page.getByText("Choose checks").click();
      for (const name of p.list("Checks")) await page.locator(".bx--list-box__menu").getByText(name).click();
      await page.keyboard.press("Escape");
      await page.getByLabel("Audit day").fill(p.text("Audit day"));
      await page.keyboard.press("Enter");
      await page.getByRole("slider").first().focus();
      await press(page, "ArrowRight", p.number("Score") / 5);
      await page.getByText(p.text("Result"), { exact: true }).click();
      await click(person, "Second audit", page.locator(".bx--toggle__switch"));
      await click(person, "Photos taken", page.getByText("Photos taken"));
    },
    send: "File audit",
  },
  {
    id: "solid/kobalte-rental",
    title: "Bicycle hire",
    libraries: ["@kobalte/core", "solid-js"],
    people: people({
      Rider: NAMES,
      Bike: ["Mountain bike", "City bike", "Cargo bike"],
      Shop: ["Lake side", "Station", "Old market"],
      Days: [3, 5, 9],
      "Height in cm": [182, 165, 174],
      Extras: [["Basket"], ["Helmet", "Lock"], ["Helmet", "Lock", "Basket"]],
      Payment: ["Invoice", "Cash", "Debit card"],
      "Theft cover": [true, false, true],
      "Over eighteen": [false, true, false],
    }),
    wire: {
      Rider: "name",
      Bike: "bike",
      Shop: "shop",
      Days: "days",
      "Height in cm": "height",
      Extras: ["extras", { Helmet: "he", Lock: "lo", Basket: "ba" }],
      Payment: ["pay", { Cash: "c", "Debit card": "d", Invoice: "i" }],
      "Theft cover": "cover",
      "Over eighteen": "terms",
    },
    required: ["Rider", "Bike"],
    answer: byFlag({ result: "RESERVED" }, { result: "MISSING" }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Rider").fill(p.text("Rider"));
      await pick(page, page.getByRole("button", { name: "Bike" }), p.text("Bike"));
      await type(page, page.getByRole("combobox", { name: "Shop" }), p.text("Shop"));
      await page.getByRole("option", { name: p.text("Shop") }).click();
      await page.getByRole("spinbutton", { name: "Days" }).fill(p.text("Days"));
      await page.keyboard.press("Tab");
      await page.locator("span[role=slider]").focus();
      for (let i = 170; i < p.number("Height in cm"); i++) await page.keyboard.press("ArrowRight");
      for (let i = 170; i > p.number("Height in cm"); i--) await page.keyboard.press("ArrowLeft");
      for (const name of p.list("Extras")) await page.getByRole("button", { name, exact: true }).click();
      await page.getByText(p.text("Payment"), { exact: true }).click();
      await click(person, "Theft cover", page.getByText("Theft cover"));
      await click(person, "Over eighteen", page.getByText("Over eighteen"));
    },
    send: "Reserve",
  },
];
