import { click, of, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people, redirect } from "../page.js";

const yes = (on: string) => (value: boolean) => (value ? on : undefined);

export const pages: ComponentPage[] = [
  {
    id: "react/multidate-charter",
    title: "Charter",
    libraries: ["react-multi-date-picker", "react-tagsinput", "react-phone-input-2"],
    people: people({
      Skipper: NAMES,
      "Mobile number": ["+4915123456789", "+4917698765432", "+4916011223344"],
      Boat: ["Motor cruiser", "House boat", "Sailing dinghy"],
      Cruise: ["2026-12-05 - 2026-12-12", "2027-01-09 - 2027-01-16", "2027-02-20 - 2027-02-24"],
      Harbours: [["Kiel"], ["Rostock", "Wismar"], ["Husum", "Amrum", "Sylt"]],
      Crew: [4, 2, 6],
      Licence: ["Coastal", "Inland", "High seas"],
      "Message to us": ["We arrive at noon", "Two bicycles on board", "Please fill the tank"],
      "Final cleaning": [true, false, true],
    }),
    wire: {
      Skipper: "skipper.name",
      "Mobile number": "skipper.phone",
      Boat: ["boat", { "Sailing dinghy": "b1", "Motor cruiser": "b2", "House boat": "b3" }],
      Cruise: ["from", (range: string) => range.slice(0, 10)],
      Harbours: "harbours",
      Crew: "crew",
      Licence: ["skipper.licence", { Inland: "inland", Coastal: "coast", "High seas": "sea" }],
      "Message to us": "note",
      "Final cleaning": "finalCleaning",
    },
    required: ["Skipper", "Boat"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Skipper").fill(p.text("Skipper"));
      await page.locator("#phone").click();
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(p.text("Mobile number"), { delay: 20 });
      await page.getByLabel("Boat").selectOption({ label: p.text("Boat") });
      await page.locator(".rmdp-input").fill(
        p
          .text("Cruise")
          .split(" - ")
          .map((iso) => day(iso, "DD/MM/YYYY"))
          .join(" - "),
      );
      await page.keyboard.press("Escape");
      await page.mouse.click(900, 20);
      for (const name of p.list("Harbours")) {
        await type(page, page.locator(".react-tagsinput-input"), name);
        await page.keyboard.press("Enter");
      }
      await page.getByLabel("Crew").fill(p.text("Crew"));
      await page.getByLabel(p.text("Licence"), { exact: true }).check();
      await page.getByLabel("Message to us").fill(p.text("Message to us"));
      await click(person, "Final cleaning", page.getByLabel("Final cleaning"));
    },
    send: "Charter boat",
  },
  {
    id: "vue/nutui-laundry",
    title: "Laundry",
    libraries: ["@nutui/nutui"],
    people: people({
      Customer: NAMES,
      Branch: ["Castle street", "Harbour gate", "Station square"],
      Laundry: [["Towels"], ["Shirts", "Curtains"], ["Shirts", "Bed linen", "Towels"]],
      Collection: ["2026-12-10", "2027-01-12", "2027-02-09"],
      Bags: [3, 2, 5],
      Payment: ["Debit", "Monthly bill", "Cash"],
      "Service so far": [4, 2, 5],
      Note: ["Ring twice", "Leave it with the neighbour", "No bleach please"],
      Express: [true, false, true],
    }),
    wire: {
      Customer: "order.customer",
      Branch: ["order.branch", { "Station square": "s1", "Castle street": "s2", "Harbour gate": "s3" }],
      Laundry: ["order.kinds", { Shirts: "shirt", "Bed linen": "bed", Towels: "towel", Curtains: "curtain" }],
      Collection: "order.day",
      Bags: "order.bags",
      Payment: ["order.pay", { Cash: "cash", Debit: "debit", "Monthly bill": "bill" }],
      "Service so far": "order.stars",
      Note: "order.note",
      Express: "order.express",
    },
    required: ["Customer", "Branch"],
    answer: byFlag({ success: true }, { success: false, reason: "incomplete" }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) => page.locator(".nut-form-item").filter({ hasText: label });
      await item("Customer").locator("input").fill(p.text("Customer"));
      await item("Collection").locator("input").fill(p.text("Collection"));
      await item("Note").locator("textarea").fill(p.text("Note"));
      for (const name of p.list("Laundry")) await page.getByText(name, { exact: true }).click();
      await item("Bags").locator("input").fill(p.text("Bags"));
      await page.keyboard.press("Tab");
      await page.getByText(p.text("Payment"), { exact: true }).click();
      await item("Service so far")
        .locator(".nut-rate-item")
        .nth(p.number("Service so far") - 1)
        .click();
      await click(person, "Express", item("Express").locator(".nut-switch"));
      await item("Branch").locator(".nut-cell").last().click();
      await page
        .locator(".nut-action-sheet__item")
        .filter({ hasText: p.text("Branch") })
        .click();
      await page.waitForTimeout(500);
    },
    async send(page) {
      await page.locator(".nut-button").last().click();
    },
  },
  {
    id: "solid/suid-plumber",
    title: "Plumber",
    libraries: ["@suid/material"],
    people: people({
      Tenant: NAMES,
      Job: ["Blocked drain", "Leaking pipe", "Cold boiler"],
      Rooms: [["Cellar"], ["Kitchen", "Laundry room"], ["Kitchen", "Bathroom", "Cellar"]],
      "Date of the visit": ["2026-12-15", "2027-01-20", "2027-02-17"],
      "Minutes allowed": [45, 90, 120],
      "Time of day": ["Afternoon", "Evening", "Forenoon"],
      Floor: ["First floor", "Attic", "Ground floor"],
      "What happened": ["Water on the floor", "It gurgles at night", "No warm water since Monday"],
      Urgent: [true, false, true],
      "Keys are with the porter": [false, true, false],
    }),
    wire: {
      Tenant: "visit[name]",
      Job: ["visit[job]", { "Leaking pipe": "leak", "Blocked drain": "drain", "Cold boiler": "boiler" }],
      Rooms: [
        "visit[rooms][]",
        { Kitchen: "kitchen", Bathroom: "bathroom", Cellar: "cellar", "Laundry room": "laundry_room" },
      ],
      "Date of the visit": "visit[date]",
      "Minutes allowed": ["visit[minutes]", String],
      "Time of day": ["visit[slot]", { Forenoon: "am", Afternoon: "pm", Evening: "ev" }],
      Floor: ["visit[floor]", { "Ground floor": "0", "First floor": "1", Attic: "2" }],
      "What happened": "visit[details]",
      Urgent: ["visit[urgent]", (on: boolean) => (on ? "1" : "0")],
      "Keys are with the porter": ["visit[keys]", yes("on")],
    },
    required: ["Tenant", "Job"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Tenant", "Date of the visit", "Minutes allowed", "What happened");
      await page.locator("#job").click();
      await page
        .locator("[role=option]")
        .filter({ hasText: p.text("Job") })
        .click();
      for (const name of p.list("Rooms")) await page.getByLabel(name, { exact: true }).check();
      await page.getByLabel(p.text("Time of day"), { exact: true }).check();
      await page.getByRole("button", { name: p.text("Floor") }).click();
      await click(person, "Urgent", page.getByLabel("Urgent"));
      await click(person, "Keys are with the porter", page.getByLabel("Keys are with the porter"));
    },
    send: "Call plumber",
  },
  {
    id: "elements/onsen-pony",
    title: "Pony camp",
    libraries: ["onsenui"],
    people: people({
      Child: NAMES,
      "Date of birth": ["2014-03-09", "2016-11-21", "2012-07-30"],
      Week: ["First week of July", "First week of August", "Second week of July"],
      "Riding level": ["Rides in the paddock", "Never rode", "Jumps"],
      "Bring along": [["Helmet"], ["Boots", "Sleeping bag"], ["Boots", "Helmet", "Sleeping bag"]],
      "Pocket money": [35, 12, 48],
      Allergies: ["Hay and dust", "None that we know of", "Nuts"],
      "May swim": [true, false, true],
    }),
    wire: {
      Child: "params.child",
      "Date of birth": "params.born",
      Week: [
        "params.week",
        { "First week of July": "w27", "Second week of July": "w28", "First week of August": "w32" },
      ],
      "Riding level": ["params.level", { "Never rode": "beg", "Rides in the paddock": "mid", Jumps: "adv" }],
      "Bring along": ["params.gear", { Boots: "boots", Helmet: "helm", "Sleeping bag": "bag" }],
      "Pocket money": "params.money",
      Allergies: "params.allergy",
      "May swim": "params.swim",
    },
    required: ["Child", "Week"],
    answer: byFlag(
      { jsonrpc: "2.0", id: 1, result: { camp: 3 } },
      { jsonrpc: "2.0", id: 1, error: { code: -32602, message: "Child and week are needed" } },
    ),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#child").fill(p.text("Child"));
      await page.locator("#born").fill(p.text("Date of birth"));
      await page.locator("#week-select").selectOption({ label: p.text("Week") });
      await page.getByText(p.text("Riding level"), { exact: true }).click();
      for (const name of p.list("Bring along")) await page.getByText(name, { exact: true }).click();
      await page.locator("#money input").first().focus();
      const ahead = p.number("Pocket money") - 20;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.locator("#allergy").fill(p.text("Allergies"));
      await click(person, "May swim", page.locator("#swim"));
    },
    async send(page) {
      await page.locator("#go").click();
    },
  },
  {
    id: "plain/uikit-wedding",
    title: "Wedding",
    libraries: ["uikit", "nice-select2", "pickadate"],
    people: people({
      Couple: ["Lee and Moss", "Fernandez and Ito", "Okoro and Berg"],
      Package: ["Garden party", "Castle ball", "Registry office"],
      Services: [["Flowers"], ["Photographer", "Horse coach"], ["Photographer", "Wedding cake", "Flowers"]],
      "Wedding day": ["2026-12-12", "2027-01-22", "2027-02-19"],
      "Ceremony at": ["14:30", "10:15", "16:45"],
      Guests: [80, 35, 120],
      Dinner: ["Menu", "Buffet", "Grill"],
      "Seating plan": ["tables.pdf", "hall.png", "places.xlsx"],
      "Your story": ["We met on a train", "Neighbours for ten years", "She repaired my bicycle"],
      "Live band": [true, false, true],
    }),
    wire: {
      Couple: "couple",
      Package: ["package", { "Registry office": "P1", "Garden party": "P2", "Castle ball": "P3" }],
      Services: [
        "services[]",
        { Photographer: "photo", "Wedding cake": "cake", Flowers: "flowers", "Horse coach": "coach" },
      ],
      "Wedding day": "day",
      "Ceremony at": "begin",
      Guests: ["guests", String],
      Dinner: ["dinner", { Buffet: "b", Menu: "m", Grill: "g" }],
      "Seating plan": "plan",
      "Your story": "story",
      "Live band": ["band", yes("yes")],
    },
    required: ["Couple", "Package"],
    answer: redirect("Names and package are needed."),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Couple", "Your story");
      await page.locator(".nice-select").nth(0).click();
      await page
        .locator(".nice-select .option:visible")
        .filter({ hasText: p.text("Package") })
        .click();
      await page.locator(".nice-select").nth(1).click();
      for (const name of p.list("Services"))
        await page.locator(".nice-select .option:visible").filter({ hasText: name }).click();
      await page.mouse.click(1000, 900);
      await page.locator("#day").click();
      const iso = p.text("Wedding day");
      for (let i = 0; i < 12; i++) {
        const cell = page.locator(`.picker--opened [aria-label="${day(iso, "D MMMM, YYYY")}"]`);
        if ((await cell.count()) > 0) {
          await cell.click();
          break;
        }
        await page.locator(".picker--opened .picker__nav--next").click();
      }
      await page.locator("#begin").click();
      const [hour = 0, minute = "00"] = p.text("Ceremony at").split(":");
      const text = `${Number(hour) % 12 || 12}:${minute} ${Number(hour) < 12 ? "AM" : "PM"}`;
      await page.locator(".picker--opened .picker__list-item").getByText(text, { exact: true }).click();
      await page.locator("#guests").fill(p.text("Guests"));
      await page.getByLabel(p.text("Dinner"), { exact: true }).check();
      const file = { name: p.text("Seating plan"), mimeType: "application/pdf", buffer: Buffer.from("x") };
      await page.locator("#plan").setInputFiles(file);
      await click(person, "Live band", page.getByLabel("Live band"));
    },
    send: "Send enquiry",
  },
];
