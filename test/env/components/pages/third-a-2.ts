import { click, days, of, pick, suggest, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

const range = (text: string) => ({ from: days(text)[0], to: days(text)[1] });

/** Writes 14:30 as `2:30 PM`. */
function twelve(time: string): string {
  const [hour = "", minute = ""] = time.split(":");
  return `${Number(hour) % 12 || 12}:${minute} ${Number(hour) < 12 ? "AM" : "PM"}`;
}

export const pages: ComponentPage[] = [
  {
    id: "react/headlessui-bike",
    title: "Bike repair",
    libraries: ["@headlessui/react", "react-datepicker", "@tanstack/react-form"],
    people: people({
      Customer: NAMES,
      Brand: ["Gazelle", "Trek", "Cube"],
      "What needs work": [["Chain"], ["Brakes", "Tyres"], ["Brakes", "Chain", "Lights"]],
      Plan: ["Express", "Economy", "Standard"],
      "Drop-off": ["2026-12-08 09:30", "2027-01-19 14:00", "2027-02-05 16:30"],
      "Lend me a bike": [true, false, true],
      Remarks: ["It squeaks in the rain", "The rear wheel wobbles", "Please keep the old parts"],
    }),
    wire: {
      Customer: "customer",
      Brand: ["brand", { Bergamont: 1, Cube: 2, Gazelle: 3, Koga: 4, Trek: 5 }],
      "What needs work": ["jobs", { Brakes: "brake", Chain: "chain", Lights: "light", Tyres: "tyre" }],
      Plan: ["plan", { Economy: "eco", Standard: "std", Express: "exp" }],
      "Drop-off": "dropoff",
      "Lend me a bike": "courtesy",
      Remarks: "remarks",
    },
    required: ["Customer", "Brand", "Drop-off"],
    answer: byFlag({ status: "ok", ticket: 5120 }, { status: "invalid" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Customer", "Remarks");
      await type(page, page.getByRole("combobox", { name: "Brand" }), p.text("Brand").slice(0, 3));
      await page.getByRole("option", { name: p.text("Brand") }).click();
      await pick(page, page.getByRole("button", { name: "What needs work" }), ...p.list("What needs work"));
      await page.keyboard.press("Escape");
      await page
        .getByRole("radio")
        .filter({ hasText: p.text("Plan") })
        .click();
      const [date = "", time = ""] = p.text("Drop-off").split(" ");
      await page.locator("#dropoff").fill(`${day(date, "MM/DD/YYYY")} ${twelve(time)}`);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await click(person, "Lend me a bike", page.getByRole("switch"));
    },
    send: "Book the repair",
  },
  {
    id: "react/bootstrap-move",
    title: "Moving quote",
    libraries: ["react-bootstrap", "react-select", "react-datepicker", "react-phone-number-input", "react-hook-form"],
    people: people({
      "Your name": NAMES,
      Phone: ["+31612345678", "+31201234567", "+31687654321"],
      "Moving to": ["Utrecht", "Leiden", "Groningen"],
      "Moving day": ["2026-12-30", "2027-02-01", "2027-03-15"],
      Rooms: ["Three rooms", "One room", "Four or more"],
      "Volume in m³": [45, 12, 80],
      "Additional services": [["Storage"], ["Packing", "Final cleaning"], ["Packing", "Furniture assembly", "Storage"]],
      "There is a lift": [true, false, true],
    }),
    wire: {
      "Your name": "quote.name",
      Phone: "quote.phone",
      "Moving to": "quote.to",
      "Moving day": "quote.day",
      Rooms: ["quote.rooms", { "One room": "1", "Two rooms": "2", "Three rooms": "3", "Four or more": "4+" }],
      "Volume in m³": "quote.volume",
      "Additional services": [
        "quote.services",
        { Packing: "pack", "Furniture assembly": "assembly", Storage: "storage", "Final cleaning": "clean" },
      ],
      "There is a lift": "quote.lift",
    },
    required: ["Your name", "Phone", "Moving to", "Moving day"],
    answer: byStatus({ quote: "Q-3391" }),
    lookup: ["Amsterdam", "Groningen", "Haarlem", "Leiden", "Maastricht", "Rotterdam", "Utrecht"],
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Your name").fill(p.text("Your name"));
      await type(page, page.locator("#phone"), p.text("Phone"));
      await suggest(page, "#to", p.text("Moving to"));
      await page.locator("#day").fill(day(p.text("Moving day"), "DD-MM-YYYY"));
      await page.keyboard.press("Enter");
      await page.getByLabel("Rooms").selectOption({ label: p.text("Rooms") });
      await page.getByLabel("Volume in m³").fill(p.text("Volume in m³"));
      await pick(page, page.locator("#services"), ...p.list("Additional services"));
      await page.keyboard.press("Escape");
      await click(person, "There is a lift", page.getByLabel("There is a lift"));
    },
    send: "Send request",
  },
  {
    id: "angular/material-enrol",
    title: "Course enrolment",
    libraries: ["@angular/material", "@angular/forms"],
    people: people({
      Participant: NAMES,
      Course: ["Pottery", "Yoga", "Photography"],
      "First day": ["2027-01-11", "2026-12-03", "2027-04-26"],
      "Lessons begin at": ["18:30", "09:00", "16:30"],
      Interests: [["Music"], ["Cooking", "Languages"], ["Art", "History", "Sports"]],
      "Previous knowledge": ["Some experience", "Beginner", "Advanced"],
      "I need a certificate": [true, false, true],
      Comment: ["I bring my own camera", "Is there parking?", "We come as two"],
    }),
    wire: {
      Participant: "participant",
      Course: ["course", { Photography: "C-100", Pottery: "C-210", "Spanish for travellers": "C-305", Yoga: "C-411" }],
      "First day": "start",
      "Lessons begin at": "time",
      Interests: "interests",
      "Previous knowledge": "level",
      "I need a certificate": "certificate",
      Comment: "comment",
    },
    required: ["Participant", "Course", "First day"],
    answer: byStatus({ enrolment: 902 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Participant").fill(p.text("Participant"));
      await pick(page, page.locator("mat-select"), p.text("Course"));
      await page.getByLabel("First day").fill(day(p.text("First day"), "M/D/YYYY"));
      await page.getByLabel("Lessons begin at").fill(twelve(p.text("Lessons begin at")));
      await page.keyboard.press("Escape");
      for (const name of p.list("Interests")) await suggest(page, "input[name=currentInterest]", name);
      await page.getByLabel(p.text("Previous knowledge"), { exact: true }).check();
      await click(person, "I need a certificate", page.getByRole("switch"));
      await page.getByLabel("Comment").fill(p.text("Comment"));
    },
    send: "Enrol",
  },
  {
    id: "elements/shoelace-flowers",
    title: "Flower order",
    libraries: ["@shoelace-style/shoelace"],
    people: people({
      Recipient: NAMES,
      "Phone of the recipient": ["+44 20 7946 0018", "+44 161 496 0233", "+44 29 2018 0455"],
      "Delivery date": ["2026-12-24", "2027-02-14", "2027-05-09"],
      Bouquet: ["Red roses", "Wild meadow", "White lilies"],
      Size: ["Large", "Small", "Medium"],
      Extras: [["Chocolate"], ["Vase", "Bottle of wine"], ["Vase", "Chocolate", "Teddy bear"]],
      "Message on the card": ["Get well soon", "With love from us all", "Happy birthday, Chidi"],
      "Send it anonymously": [true, false, true],
    }),
    wire: {
      Recipient: "recipient",
      "Phone of the recipient": "phone",
      "Delivery date": "date",
      Bouquet: [
        "bouquet",
        { "Wild meadow": "meadow", "Autumn light": "autumn", "Red roses": "roses", "White lilies": "lilies" },
      ],
      Size: ["size", { Small: "s", Medium: "m", Large: "l" }],
      Extras: ["extras", { Vase: "vase", Chocolate: "choc", "Bottle of wine": "wine", "Teddy bear": "bear" }],
      "Message on the card": "message",
      "Send it anonymously": ["anonymous", (on: boolean) => (on ? "yes" : undefined)],
    },
    required: ["Recipient", "Delivery date", "Bouquet"],
    answer: byStatus({ order: 61 }),
    async fill(page, person) {
      const p = of(person);
      for (const label of ["Recipient", "Phone of the recipient", "Delivery date", "Message on the card"])
        await page.getByLabel(label, { exact: true }).fill(p.text(label));
      await pick(page, page.locator("sl-select[name=bouquet]"), p.text("Bouquet"));
      await page
        .locator("sl-radio-button")
        .filter({ hasText: p.text("Size") })
        .click();
      await pick(page, page.locator("sl-select[name=extras]"), ...p.list("Extras"));
      await page.keyboard.press("Escape");
      if (p.on("Send it anonymously")) await page.locator("sl-checkbox").click({ position: { x: 10, y: 10 } });
    },
    send: "Order now",
  },
  {
    id: "elements/ui5-absence",
    title: "Absence request",
    libraries: ["@ui5/webcomponents"],
    people: people({
      Employee: NAMES,
      "Kind of absence": ["Parental leave", "Training", "Annual leave"],
      Period: ["2026-12-14 - 2026-12-18", "2027-01-25 - 2027-02-05", "2027-03-01 - 2027-03-03"],
      "Handover at": ["08:30", "15:45", "11:20"],
      Deputies: [["Emil Santos"], ["Dora Winter", "George Hall"], ["Dora Winter", "Emil Santos", "Fatima Noor"]],
      "Part of the day": ["Morning", "Whole day", "Afternoon"],
      "Reachable by phone": [true, false, true],
      Comment: ["The keys are in my desk", "Back on Monday", "Ask George about the budget"],
    }),
    wire: {
      Employee: "employee",
      "Kind of absence": "kind",
      Period: ["period", range],
      "Handover at": "handover",
      Deputies: "deputies",
      "Part of the day": ["share", { "Whole day": "full", Morning: "am", Afternoon: "pm" }],
      "Reachable by phone": "reachable",
      Comment: "comment",
    },
    required: ["Employee", "Kind of absence", "Period"],
    answer: byFlag({ id: "A-77", error: null }, { id: null, error: "fields are missing" }),
    lookup: [...NAMES, "Annika Berg", "Boris Weld", "Chiara Rossi"],
    async fill(page, person) {
      const p = of(person);
      await type(page, page.locator("#employee input"), p.text("Employee").slice(0, 4));
      await page
        .locator("ui5-suggestion-item")
        .filter({ hasText: p.text("Employee") })
        .click();
      await type(page, page.locator("#kind input"), p.text("Kind of absence"));
      await page.keyboard.press("Enter");
      const dates = days(p.text("Period")).map((date) => day(date, "DD/MM/YYYY"));
      await page.locator("#period input").fill(dates.join(" - "));
      await page.keyboard.press("Enter");
      await page.locator("#handover input").fill(p.text("Handover at"));
      await page.keyboard.press("Enter");
      for (const name of p.list("Deputies")) {
        await type(page, page.locator("#deputies input").first(), name);
        await page.keyboard.press("Enter");
      }
      await page.keyboard.press("Tab");
      await page
        .locator("ui5-segmented-button-item")
        .filter({ hasText: p.text("Part of the day") })
        .click();
      if (p.on("Reachable by phone")) await page.locator("#reachable").click({ position: { x: 20, y: 20 } });
      await page.locator("#comment textarea").fill(p.text("Comment"));
    },
    send: "Submit request",
  },
];
