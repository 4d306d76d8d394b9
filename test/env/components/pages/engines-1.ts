import { click, of, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people } from "../page.js";

const among = (all: Readonly<Record<string, string>>) => (chosen: string[]) =>
  Object.fromEntries(Object.entries(all).map(([key, name]) => [key, chosen.includes(name)]));

export const pages: ComponentPage[] = [
  {
    id: "svelte/select-venue",
    title: "Venue",
    libraries: ["svelte-select", "felte"],
    people: people({
      Promoter: NAMES,
      Venue: ["Harbour Stage", "Old Station", "Glass House"],
      Acts: [["Choir"], ["Band", "Magician"], ["Band", "Comedian", "Magician"]],
      Visitors: [80, 450, 1200],
      "Doors open": ["18:30", "20:00", "16:15"],
      "All seated": [true, false, true],
    }),
    wire: {
      Promoter: "event.promoter",
      Venue: ["event.venue", { "Old Station": "v1", "Glass House": "v2", "Harbour Stage": "v3" }],
      Acts: ["event.acts", { Band: 1, Choir: 2, Comedian: 3, Magician: 4 }],
      Visitors: "event.visitors",
      "Doors open": "event.doors",
      "All seated": "event.seated",
    },
    required: ["Promoter", "Venue"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Promoter", "Visitors", "Doors open");
      await page.locator("#venue").click();
      await page
        .locator(".svelte-select-list .item")
        .filter({ hasText: p.text("Venue") })
        .click();
      for (const act of p.list("Acts")) {
        await page.locator("#acts").click();
        await page.locator(".svelte-select-list .item").filter({ hasText: act }).click();
      }
      await page.keyboard.press("Escape");
      await click(person, "All seated", page.getByLabel("All seated"));
    },
    send: "Ask for the venue",
  },
  {
    id: "svelte/bits-loan",
    title: "Book loan",
    libraries: ["bits-ui"],
    people: people({
      Borrower: NAMES,
      Book: ["Birds at home", "Cooking slowly", "Atlas of rivers"],
      "Return by": ["2026-12-16", "2027-03-05", "2026-11-28"],
      Weeks: [3, 6, 10],
      Collect: ["Locker", "Post", "Desk"],
      "Visiting days": [["Wed"], ["Mon", "Fri"], ["Mon", "Wed", "Fri"]],
      "Remind me": [true, false, true],
      "I know the rules": [false, true, false],
    }),
    wire: {
      Borrower: "borrower",
      Book: ["book", { "Atlas of rivers": "b-11", "Birds at home": "b-12", "Cooking slowly": "b-13" }],
      "Return by": "until",
      Weeks: "weeks",
      Collect: ["way", { Desk: "d", Locker: "l", Post: "p" }],
      "Visiting days": ["days", { Mon: "mon", Wed: "wed", Fri: "fri" }],
      "Remind me": ["remind", String],
      "I know the rules": ["agree", String],
    },
    required: ["Borrower", "Book"],
    answer: byFlag({ loan: "L-5" }, { loan: null }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Borrower");
      await page.getByText("Choose a book").click();
      await page.getByRole("option", { name: p.text("Book") }).click();
      await type(page, page.locator("[data-segment=month]"), day(p.text("Return by"), "MMDDYYYY"));
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Weeks") - 1);
      await page.getByRole("radio", { name: p.text("Collect") }).click();
      for (const name of p.list("Visiting days")) await page.getByRole("button", { name }).click();
      await click(person, "Remind me", page.getByRole("switch"));
      await click(person, "I know the rules", page.getByRole("checkbox"));
    },
    send: "Borrow",
  },
  {
    id: "svelte/flowbite-garden",
    title: "Allotment",
    libraries: ["flowbite-svelte"],
    people: people({
      Gardener: NAMES,
      Plot: ["South field", "By the pond", "North field"],
      Crops: [["Onions"], ["Beans", "Peas"], ["Carrots", "Onions", "Peas"]],
      "Tools to share": [["rake"], ["spade", "hose"], ["saw", "hoe", "barrow"]],
      "Square metres": [25, 60, 95],
      Water: ["Tap", "Well", "Rain barrel"],
      "With a shed": [true, false, true],
    }),
    wire: {
      Gardener: "gardener",
      Plot: ["plot", { "North field": "N", "South field": "S", "By the pond": "P" }],
      Crops: ["crops", { Beans: "B", Carrots: "C", Onions: "O", Peas: "P" }],
      "Tools to share": "tools",
      "Square metres": "size",
      Water: ["water", { Well: "w", "Rain barrel": "r", Tap: "t" }],
      "With a shed": "shed",
    },
    required: ["Gardener", "Plot"],
    answer: byFlag({ queue: 14 }, { queue: 0 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Gardener").fill(p.text("Gardener"));
      await page.getByLabel("Plot").selectOption({ label: p.text("Plot") });
      await page.getByRole("listbox").first().click();
      for (const crop of p.list("Crops"))
        await page.locator("[role=presentation] > [role=presentation]").filter({ hasText: crop }).click();
      await page.keyboard.press("Escape");
      for (const tool of p.list("Tools to share")) {
        await type(page, page.getByText("Tools to share").locator("..").getByRole("textbox"), tool);
        await page.keyboard.press("Enter");
      }
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", (p.number("Square metres") - 10) / 5);
      await page.getByLabel(p.text("Water")).check();
      await click(person, "With a shed", page.getByText("With a shed"));
    },
    send: "Apply for a plot",
  },
  {
    id: "engines/survey-visitor",
    title: "Museum visit",
    libraries: ["survey-core", "survey-js-ui"],
    people: people({
      "Visitor's name": NAMES,
      Exhibition: ["Maps", "Toys", "Glass"],
      "What did you like?": [["Café"], ["Guides", "Garden"], ["Café", "Shop", "Garden"]],
      "How did you come?": ["By tram", "By car", "On foot"],
      Grade: [3, 5, 4],
      "Will you come again?": [true, false, true],
      Remarks: ["More benches", "A quiet place", "Too dark"],
    }),
    wire: {
      "Visitor's name": "surveyResult.visitor",
      Exhibition: ["surveyResult.exhibition", { Glass: "g", Maps: "m", Toys: "t" }],
      "What did you like?": "surveyResult.liked",
      "How did you come?": ["surveyResult.came", { "On foot": 1, "By tram": 2, "By car": 3 }],
      Grade: "surveyResult.grade",
      "Will you come again?": "surveyResult.again",
      Remarks: "surveyResult.remarks",
    },
    required: ["Visitor's name"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("textbox", { name: "Visitor's name" }).fill(p.text("Visitor's name"));
      await page.getByText(p.text("Exhibition"), { exact: true }).click();
      for (const item of p.list("What did you like?")) await page.getByText(item, { exact: true }).click();
      await page.getByRole("combobox").selectOption({ label: p.text("How did you come?") });
      await page
        .locator(".sd-rating__item")
        .filter({ hasText: p.text("Grade") })
        .click();
      await page
        .locator(".sd-boolean__thumb-text, .sd-boolean__label")
        .filter({ hasText: p.on("Will you come again?") ? "Yes" : "No" })
        .first()
        .click();
      await page.getByRole("textbox", { name: "Remarks" }).fill(p.text("Remarks"));
    },
    send: "Complete",
  },
  {
    id: "engines/rjsf-supplier",
    title: "Supplier",
    libraries: ["@rjsf/core"],
    people: people({
      "Firm name": ["Lind & Sons", "Casa Verde", "Okoro Ltd"],
      "Legal form": ["Partnership", "Sole trader", "Limited company"],
      "Founded on": ["1998-03-14", "2011-10-02", "2020-07-27"],
      Staff: [12, 250, 37],
      Goods: [["Glass"], ["Doors", "Wood"], ["Doors", "Tiles", "Wood"]],
      "Contact mail": MAILS,
      "Uses green power": [true, false, true],
    }),
    wire: {
      "Firm name": "supplier.name",
      "Legal form": ["supplier.legal", { "Limited company": "AB", Partnership: "HB", "Sole trader": "EF" }],
      "Founded on": "supplier.founded",
      Staff: "supplier.staff",
      Goods: "supplier.goods",
      "Contact mail": "supplier.contact.mail",
      "Uses green power": ["supplier.green", (on: boolean) => (on ? true : undefined)],
    },
    required: ["Firm name", "Legal form"],
    answer: byFlag({ id: 3 }, { error: "Uppgifter saknas" }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Firm name").fill(p.text("Firm name"));
      await page.getByLabel(p.text("Legal form")).check();
      await page.getByLabel("Founded on").fill(p.text("Founded on"));
      await page.getByLabel("Staff").fill(p.text("Staff"));
      for (const item of p.list("Goods")) await page.getByLabel(item).check();
      await page.getByLabel("Contact mail").fill(p.text("Contact mail"));
      await click(person, "Uses green power", page.getByLabel("Uses green power"));
    },
    send: "Register supplier",
  },
  {
    id: "engines/jsonforms-asset",
    title: "Asset",
    libraries: ["@jsonforms/react", "@jsonforms/vanilla-renderers"],
    people: people({
      Asset: ["Press 4", "Van 17", "Barn"],
      "Kind of asset": ["Machine", "Vehicle", "Building"],
      "Bought on": ["2015-06-09", "2023-01-30", "2008-11-17"],
      Price: ["45000.5", "18900", "230000"],
      "Years of use": [12, 6, 40],
      Insured: [true, false, true],
    }),
    wire: {
      Asset: "asset",
      "Kind of asset": "kind",
      "Bought on": "bought",
      Price: ["price", Number],
      "Years of use": "years",
      Insured: ["insured", (on: boolean) => (on ? true : undefined)],
    },
    required: ["Asset", "Kind of asset"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      for (const label of ["Asset", "Bought on", "Price", "Years of use"])
        await page.getByLabel(new RegExp(`^${label}`)).fill(p.text(label));
      await page.getByLabel(/^Kind of asset/).selectOption({ label: p.text("Kind of asset") });
      await click(person, "Insured", page.getByLabel("Insured"));
    },
    send: "Save asset",
  },
  {
    id: "engines/formio-permit",
    title: "Permit",
    libraries: ["@formio/js"],
    people: people({
      Owner: NAMES,
      "Owner's mail": MAILS,
      "Kind of work": ["Garden wall", "Felling a tree", "New roof"],
      Zone: ["Village", "Old town", "Suburb"],
      "Height in metres": [2, 14, 7],
      "Papers at hand": [["Photographs"], ["Plan", "Deed"], ["Plan", "Photographs", "Deed"]],
      "Listed building": [true, false, true],
    }),
    wire: {
      Owner: "data.owner",
      "Owner's mail": "data.mail",
      "Kind of work": ["data.work", { "New roof": "roof", "Garden wall": "wall", "Felling a tree": "tree" }],
      Zone: ["data.zone", { "Old town": "a", Suburb: "b", Village: "c" }],
      "Height in metres": "data.height",
      "Papers at hand": ["data.papers", among({ plan: "Plan", photo: "Photographs", deed: "Deed" })],
      "Listed building": "data.monument",
    },
    required: ["Owner"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("input[name='data[owner]']").fill(p.text("Owner"));
      await page.getByLabel("Owner's mail").fill(p.text("Owner's mail"));
      await page.getByLabel("Kind of work").selectOption({ label: p.text("Kind of work") });
      await page.getByLabel(p.text("Zone")).check();
      await page.getByLabel("Height in metres").fill(p.text("Height in metres"));
      for (const paper of p.list("Papers at hand")) await page.getByLabel(paper).check();
      await click(person, "Listed building", page.getByLabel("Listed building"));
    },
    send: "Apply for a permit",
  },
  {
    id: "engines/preact-yoga",
    title: "Yoga class",
    libraries: ["preact"],
    people: people({
      Participant: NAMES,
      "Class day": ["Sunday", "Tuesday", "Thursday"],
      Mat: ["Bring my own", "Buy one", "Rent one"],
      Level: [2, 4, 3],
      Aches: [["Knees"], ["Back", "Neck"], ["Back", "Knees", "Neck"]],
      "My first class": [true, false, true],
    }),
    wire: {
      Participant: "0.variables.who",
      "Class day": "0.variables.input.day",
      Mat: ["0.variables.input.mat", { "Rent one": "m0", "Bring my own": "m1", "Buy one": "m2" }],
      Level: "0.variables.input.level",
      Aches: "0.variables.input.aches",
      "My first class": "0.variables.input.first",
    },
    required: ["Participant", "Mat"],
    answer: ({ accepted }) => ({
      status: 200,
      json: [accepted ? { data: { join: { ok: true } } } : { data: { join: null }, errors: [{ message: "missing" }] }],
    }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Participant", "Class day");
      await page
        .locator("div[role=option]")
        .filter({ hasText: p.text("Mat") })
        .click();
      for (let i = 1; i < p.number("Level"); i++) await page.getByRole("button", { name: "Raise level" }).click();
      for (const ache of p.list("Aches")) await page.getByLabel(ache).check();
      await click(person, "My first class", page.getByLabel("My first class"));
    },
    send: "Join class",
  },
];
