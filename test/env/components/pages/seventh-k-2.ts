import { click, of, press } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, graphql, MAILS, NAMES, people } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "svelte/skeleton-dental",
    title: "Dental practice",
    libraries: ["@skeletonlabs/skeleton-svelte"],
    people: people({
      Patient: NAMES,
      Telephone: ["020 7946 0123", "0151 496 0771", "0113 496 0882"],
      Dentist: ["Dr. Moreau", "Dr. Brandt", "Dr. Santos"],
      "Preferred day": ["2027-01-19", "2026-12-10", "2027-02-25"],
      "Times that suit you": [["Morning"], ["Before 9", "After 18"], ["Morning", "Afternoon", "After 18"]],
      Reason: ["Cleaning", "Check-up", "Toothache"],
      "Pain (0 to 10)": [2, 1, 7],
      "X-ray picture": ["lee.png", "fernandez.png", "okoro.png"],
      "I am afraid of the dentist": [true, false, true],
    }),
    wire: {
      Patient: "patient",
      Telephone: "phone",
      Dentist: [
        "dentist",
        { "Dr. Brandt": "brandt", "Dr. Ilves": "ilves", "Dr. Moreau": "moreau", "Dr. Santos": "santos" },
      ],
      "Preferred day": "day",
      "Times that suit you": ["times", { "Before 9": "early", Morning: "am", Afternoon: "pm", "After 18": "late" }],
      Reason: ["treatment", (reason: string) => reason.toLowerCase()],
      "Pain (0 to 10)": "pain",
      "X-ray picture": "xray",
      "I am afraid of the dentist": ["anxious", (is: boolean) => (is ? "1" : "0")],
    },
    required: ["Patient", "Dentist"],
    answer: byStatus({ request: "D-204" }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Patient").fill(p.text("Patient"));
      await page.getByLabel("Telephone").fill(p.text("Telephone"));
      await page.getByRole("option", { name: p.text("Dentist") }).click();
      await page.locator("[data-scope=date-picker][data-part=input]").fill(day(p.text("Preferred day"), "MM/DD/YYYY"));
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      for (const name of p.list("Times that suit you")) await page.getByRole("button", { name, exact: true }).click();
      await page.getByText(p.text("Reason"), { exact: true }).click();
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Pain (0 to 10)"));
      const picture = { name: p.text("X-ray picture"), mimeType: "image/png", buffer: Buffer.from("f") };
      await page.locator("input[type=file]").setInputFiles(picture);
      await click(person, "I am afraid of the dentist", page.getByText("I am afraid of the dentist"));
    },
    send: "Request appointment",
  },
  {
    id: "elements/ionic-boat",
    title: "Boat hire",
    libraries: ["@ionic/core"],
    people: people({
      "Your name": NAMES,
      "E-mail": MAILS,
      Boat: ["Sailing dinghy", "Rowing boat", "Electric boat"],
      Day: ["2027-05-14", "2027-04-30", "2027-07-08"],
      Start: ["10:30", "09:00", "14:15"],
      "Persons on board": [4, 3, 6],
      Duration: ["Half a day", "1 hour", "Whole day"],
      Extras: [["Picnic basket"], ["Life jackets", "Fishing rod"], ["Life jackets", "Picnic basket", "Sun shade"]],
      "I hold a boat licence": [true, false, true],
    }),
    wire: {
      "Your name": "variables.hire.name",
      "E-mail": "variables.hire.email",
      Boat: [
        "variables.hire.boatId",
        { "Rowing boat": 10, "Pedal boat": 20, "Sailing dinghy": 30, "Electric boat": 40 },
      ],
      Day: "variables.hire.start.day",
      Start: "variables.hire.start.time",
      "Persons on board": "variables.hire.persons",
      Duration: ["variables.hire.hours", { "1 hour": 1, "Half a day": 4, "Whole day": 9 }],
      Extras: [
        "variables.hire.extras",
        { "Life jackets": "jackets", "Picnic basket": "picnic", "Fishing rod": "rod", "Sun shade": "shade" },
      ],
      "I hold a boat licence": "variables.hire.licence",
    },
    required: ["Your name", "Boat"],
    answer: graphql("hireBoat"),
    async fill(page, person) {
      const p = of(person);
      for (const [name, label] of [
        ["name", "Your name"],
        ["email", "E-mail"],
        ["day", "Day"],
        ["time", "Start"],
        ["persons", "Persons on board"],
      ])
        await page.locator(`[name=${name}] input`).fill(p.text(label ?? ""));
      await page.locator("ion-select").click();
      const sheet = page.locator("ion-action-sheet");
      await sheet.getByRole("radio", { name: p.text("Boat") }).click();
      await sheet.waitFor({ state: "detached" });
      await page
        .locator("ion-segment-button")
        .filter({ hasText: p.text("Duration") })
        .click();
      for (const name of p.list("Extras")) await page.locator("ion-checkbox").filter({ hasText: name }).click();
      await click(person, "I hold a boat licence", page.locator("ion-toggle"));
    },
    send: "Reserve boat",
  },
  {
    id: "elements/carbonwc-room",
    title: "Training room",
    libraries: ["@carbon/web-components"],
    people: people({
      Organiser: NAMES,
      Site: ["Riverside", "Tower", "Old mint"],
      "First day": ["2027-01-19", "2026-12-08", "2027-03-15"],
      "Last day": ["2027-01-21", "2026-12-11", "2027-03-17"],
      "Begins at": ["13:30", "08:45", "10:15"],
      Seats: [18, 6, 45],
      Equipment: [["Flip chart"], ["Projector", "Laptops"], ["Projector", "Flip chart", "Camera"]],
      Seating: ["Circle", "Rows", "U-shape"],
      Agenda: ["lee.pdf", "fernandez.pdf", "okoro.pdf"],
      "We would like lunch": [true, false, true],
    }),
    wire: {
      Organiser: "organiser",
      Site: ["site", { "North campus": "nor", Riverside: "riv", "Old mint": "old", Tower: "twr" }],
      "First day": "from",
      "Last day": "to",
      "Begins at": "begins",
      Seats: "seats",
      Equipment: [
        "equipment",
        { Projector: "projector", "Flip chart": "flipchart", Camera: "camera", Laptops: "laptops" },
      ],
      Seating: ["layout", { Rows: "rows", "U-shape": "u", Circle: "circle" }],
      Agenda: "agenda",
      "We would like lunch": ["lunch", String],
    },
    required: ["Organiser", "Site"],
    answer: byFlag(
      { booked: true, message: "We have sent you a confirmation." },
      { booked: false, message: "Organiser and site are needed." },
    ),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#organiser input").fill(p.text("Organiser"));
      await page.locator("#site select").selectOption({ label: p.text("Site") });
      for (const [i, label] of ["First day", "Last day"].entries()) {
        const input = page.locator("cds-date-picker-input input").nth(i);
        await input.fill(day(p.text(label), "DD/MM/YYYY"));
        await page.keyboard.press("Enter");
      }
      await page.keyboard.press("Escape");
      const [hour = 0, minute] = p.text("Begins at").split(":").map(Number);
      await page.locator("#begins input").fill(`${hour % 12 || 12}:${minute}`);
      await page.locator("#half select").selectOption(hour < 12 ? "AM" : "PM");
      await page.locator("#seats input").fill(p.text("Seats"));
      for (const name of p.list("Equipment")) await page.locator("cds-checkbox").filter({ hasText: name }).click();
      await page
        .locator("cds-radio-tile")
        .filter({ hasText: p.text("Seating") })
        .click();
      const agenda = { name: p.text("Agenda"), mimeType: "application/pdf", buffer: Buffer.from("f") };
      await page.locator("input[type=file]").setInputFiles(agenda);
      await click(person, "We would like lunch", page.locator("cds-checkbox label").last());
    },
    send: "Book room",
  },
];
