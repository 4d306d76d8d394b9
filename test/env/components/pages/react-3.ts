import { click, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "react/rsuite-expense",
    title: "Expense claim",
    libraries: ["rsuite"],
    people: people({
      Claimant: NAMES,
      Project: ["Bridge", "Harbour", "Tower"],
      "Date of expense": ["2025-05-06", "2024-09-18", "2026-01-25"],
      Cost: ["18.40", "250.00", "7.05"],
      Kinds: [["Fuel"], ["Meals", "Tickets"], ["Meals", "Tools", "Fuel"]],
      "Paid by": ["Card", "Advance", "Cash"],
      "Billable to the client": [true, false, true],
    }),
    wire: {
      Claimant: "claimant",
      Project: ["project", { Harbour: 1, Tower: 2, Bridge: 3 }],
      "Date of expense": "on",
      Cost: ["cost", (cost: string) => Number(cost)],
      Kinds: ["kinds", { Meals: 1, Tickets: 2, Tools: 3, Fuel: 4 }],
      "Paid by": ["pay", { Cash: "cash", Card: "card", Advance: "loan" }],
      "Billable to the client": "billable",
    },
    required: ["Claimant", "Project", "Date of expense"],
    answer: byFlag({ code: 0 }, { code: 17 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Claimant").fill(p.text("Claimant"));
      await pick(page, page.locator("#project"), p.text("Project"));
      await type(page, page.getByLabel("Date of expense"), day(p.text("Date of expense"), "YYYYMMDD"));
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await page.getByLabel("Cost").fill(p.text("Cost"));
      await pick(page, page.locator("#kinds"), ...p.list("Kinds"));
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Paid by"), { exact: true }).click();
      await click(person, "Billable to the client", page.getByRole("switch"));
    },
    send: "Save claim",
  },
  {
    id: "react/blueprint-incident",
    title: "Incident",
    libraries: ["@blueprintjs/core", "@blueprintjs/select"],
    people: people({
      Reporter: NAMES,
      Plant: ["Cork", "Aveiro", "Dresden"],
      "Kind of incident": ["Leak", "Fall", "Fire"],
      "People injured": [2, 1, 14],
      Witnesses: [["Mia Holt"], ["Per Dahl", "Ute Kern"], ["Ida Berg", "Lars Moe", "Tom Ray"]],
      Grade: ["Serious", "Minor", "Grave"],
      "Production stopped": [true, false, true],
    }),
    wire: {
      Reporter: "incident.reporter",
      Plant: "incident.plant",
      "Kind of incident": "incident.kind",
      "People injured": "incident.injured",
      Witnesses: "incident.witnesses",
      Grade: ["incident.grade", { Minor: "1", Serious: "2", Grave: "3" }],
      "Production stopped": "incident.stopped",
    },
    required: ["Reporter", "Plant"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Reporter");
      await page.getByText("Select a plant").click();
      await page.getByPlaceholder("Filter...").fill(p.text("Plant").slice(0, 3));
      await page.getByRole("option", { name: p.text("Plant") }).click();
      await page.getByLabel("Kind of incident").selectOption(p.text("Kind of incident"));
      await page.getByLabel("People injured").fill(p.text("People injured"));
      for (const name of p.list("Witnesses")) {
        await type(page, page.locator("#witnesses"), name);
        await page.keyboard.press("Enter");
      }
      await page.getByText(p.text("Grade")).click();
      await click(person, "Production stopped", page.getByText("Production stopped"));
    },
    send: "Report incident",
  },
  {
    id: "react/dropzone-job",
    title: "Work with us",
    libraries: ["react-dropzone", "rc-slider"],
    people: people({
      "Full name": NAMES,
      "Earliest start": ["2026-03-01", "2027-10-15", "2026-08-20"],
      "Salary in thousands": [35, 60, 85],
      "Hours at least": [8, 15, 22],
      "Hours at most": [20, 32, 38],
      Certificate: ["welding.pdf", "first-aid.pdf", "diploma.png"],
    }),
    wire: {
      "Full name": "name",
      "Earliest start": "start",
      "Salary in thousands": "salary",
      "Hours at least": "hours.from",
      "Hours at most": "hours.to",
      Certificate: ["attachments", (name: string) => [`stored/${name}`]],
    },
    required: ["Full name"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Full name", "Earliest start");
      await page.getByRole("slider").first().focus();
      await press(page, "ArrowRight", (p.number("Salary in thousands") - 20) / 5);
      await page.getByRole("slider", { name: "Hours at least" }).focus();
      await press(page, "ArrowRight", p.number("Hours at least"));
      await page.getByRole("slider", { name: "Hours at most" }).focus();
      await press(page, "ArrowLeft", 40 - p.number("Hours at most"));
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: p.text("Certificate"), mimeType: "text/plain", buffer: Buffer.from("c") });
      await page.getByText(`stored/${p.text("Certificate")}`).waitFor();
    },
    send: "Send application",
  },
  {
    id: "react/ariakit-member",
    title: "Membership",
    libraries: ["@ariakit/react"],
    people: people({
      "Member name": NAMES,
      "Member since": ["2019-03", "2023-11", "2021-07"],
      "Home branch": ["Kuopio", "Turku", "Espoo"],
      Sports: [["Curling"], ["Bowling", "Tennis"], ["Curling", "Rowing", "Tennis"]],
      Plan: ["Family", "Senior", "Basic"],
      "I accept the rules": [true, false, true],
    }),
    wire: {
      "Member name": "name",
      "Member since": "since",
      "Home branch": "branch",
      Sports: "sports",
      Plan: ["plan", { Basic: "BASIC", Family: "FAMILY", Senior: "SENIOR" }],
      "I accept the rules": "terms",
    },
    required: ["Member name", "Plan"],
    answer: byFlag({ status: "created" }, { status: "invalid" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Member name", "Member since");
      await type(page, page.getByLabel("Home branch"), p.text("Home branch").slice(0, 2));
      await page.getByRole("option", { name: p.text("Home branch") }).click();
      await pick(page, page.getByRole("combobox", { name: "Sports" }), ...p.list("Sports"));
      await page.keyboard.press("Escape");
      await page.getByLabel(p.text("Plan")).check();
      await click(person, "I accept the rules", page.getByLabel("I accept the rules"));
    },
    send: "Become a member",
  },
  {
    id: "react/base-ui-subscription",
    title: "Subscription",
    libraries: ["@base-ui/react"],
    people: people({
      Subscriber: NAMES,
      Paper: ["The Weekly", "The Daily", "The Monthly"],
      Copies: [3, 25, 8],
      Payment: ["Yearly", "Every two years", "Monthly"],
      "Digital edition too": [true, false, true],
      "This is a gift": [false, true, false],
    }),
    wire: {
      Subscriber: "subscriber",
      Paper: ["paper", { "The Daily": "d", "The Weekly": "w", "The Monthly": "m" }],
      Copies: "copies",
      Payment: ["payment", { Monthly: "P1", Yearly: "P12", "Every two years": "P24" }],
      "Digital edition too": ["digital", (on: boolean) => (on ? "on" : undefined)],
      "This is a gift": ["gift", (on: boolean) => (on ? "on" : undefined)],
    },
    required: ["Subscriber", "Paper", "Payment"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Subscriber");
      await pick(page, page.getByRole("combobox", { name: "Paper" }), p.text("Paper"));
      await page.getByLabel("Copies").first().fill(p.text("Copies"));
      await page.getByText(p.text("Payment"), { exact: true }).click();
      await click(person, "Digital edition too", page.getByRole("switch"));
      await click(person, "This is a gift", page.getByRole("checkbox"));
    },
    send: "Subscribe",
  },
  {
    id: "react/carbon-request",
    title: "Spare parts",
    libraries: ["@carbon/react"],
    people: people({
      Requester: NAMES,
      Site: ["Namur", "Ghent", "Liège"],
      "Needed by": ["2026-12-11", "2027-02-26", "2026-11-30"],
      "Spare parts": [["Valve"], ["Pump", "Sensor"], ["Pump", "Filter", "Sensor"]],
      Amount: [6, 14, 40],
      Shipping: ["Plane", "Truck", "Train"],
      Urgent: [true, false, true],
    }),
    wire: {
      Requester: "requester",
      Site: ["site", { Ghent: "s1", Liège: "s2", Namur: "s3" }],
      "Needed by": ["needed", (iso: string) => day(iso, "YYYY/MM/DD")],
      "Spare parts": ["parts", { Pump: "p1", Valve: "p2", Filter: "p3", Sensor: "p4" }],
      Amount: "amount",
      Shipping: ["way", { Truck: "road", Train: "rail", Plane: "air" }],
      Urgent: "urgent",
    },
    required: ["Requester", "Site"],
    answer: byFlag({ reference: "D-31" }, { reference: null }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Requester");
      await pick(page, page.getByRole("combobox", { name: "Site" }), p.text("Site"));
      await page.getByLabel("Needed by").click();
      const calendar = page.locator(".flatpickr-calendar.open");
      const heading = async () =>
        `${await calendar.locator(".cur-month").innerText()} ${await calendar.locator(".cur-year").inputValue()}`;
      const arrow = (way: string) => calendar.locator(`.flatpickr-${way}-month`);
      await toMonth(p.text("Needed by"), heading, arrow("prev"), arrow("next"));
      const days = calendar.locator(".flatpickr-day:not(.prevMonthDay):not(.nextMonthDay)");
      await days.getByText(String(Number(p.text("Needed by").slice(8))), { exact: true }).click();
      await pick(page, page.getByRole("combobox", { name: "Spare parts" }), ...p.list("Spare parts"));
      await page.keyboard.press("Escape");
      await page.getByLabel("Amount").fill(p.text("Amount"));
      await page.getByText(p.text("Shipping"), { exact: true }).click();
      await click(person, "Urgent", page.locator(".cds--toggle__appearance"));
    },
    send: "Request parts",
  },
  {
    id: "react/tanstack-course",
    title: "Summer course",
    libraries: ["@tanstack/react-form"],
    people: people({
      Pupil: ["Ida Lee", "Leo Fernandez", "Ngozi Okoro"],
      "Date of birth": ["2012-02-19", "2014-06-30", "2011-10-05"],
      Course: ["Theatre", "Robots", "Pottery"],
      Level: ["Advanced", "Expert", "Beginner"],
      "Guardian's name": NAMES,
      "Guardian's phone": ["0201 555 010", "0911 400 271", "0803 222 9190"],
      "With lunch": [true, false, true],
    }),
    wire: {
      Pupil: "payload.pupil",
      "Date of birth": "payload.born",
      Course: ["payload.course", { Pottery: "A1", Theatre: "A2", Robots: "S1" }],
      Level: ["payload.level", { Beginner: "B", Advanced: "A", Expert: "E" }],
      "Guardian's name": "payload.guardians.0.name",
      "Guardian's phone": "payload.guardians.0.phone",
      "With lunch": "payload.lunch",
    },
    required: ["Pupil", "Date of birth"],
    answer: ({ accepted }) => ({ status: 200, html: accepted ? "OK 4410 enrolled" : "ERR incomplete" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Pupil", "Date of birth", "Guardian's name", "Guardian's phone");
      await page.getByLabel("Course").selectOption({ label: p.text("Course") });
      await page.getByLabel(p.text("Level")).check();
      await click(person, "With lunch", page.getByLabel("With lunch"));
    },
    send: "Enrol",
  },
];
