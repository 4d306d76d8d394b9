import { click, days, of, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people } from "../page.js";

const picture = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from("f") });

/** First and last day of a range. */
const period = (range: string) => ({ from: days(range)[0], to: days(range)[1] });

export const pages: ComponentPage[] = [
  {
    id: "vue/vuetify-viewing",
    title: "Flat viewing",
    libraries: ["vuetify", "maska"],
    people: people({
      "Full name": NAMES,
      "Mobile number": ["(202) 555-0143", "(415) 555-0192", "(312) 555-0177"],
      Districts: [["Harbour"], ["Old town", "University"], ["Canal side", "Old town", "Park quarter"]],
      "Days that suit you": ["2027-01-12 - 2027-01-15", "2026-12-07 - 2026-12-09", "2027-02-16 - 2027-02-24"],
      "Time of day": ["After work", "Morning", "Lunch break"],
      "Rooms at least": [2.5, 4, 3.5],
      "Proof of income": ["lee.pdf", "fernandez.pdf", "okoro.pdf"],
      "I have pets": [true, false, true],
    }),
    wire: {
      "Full name": "request.tenant",
      "Mobile number": "request.phone",
      Districts: "request.districts",
      "Days that suit you": ["request.dates", period],
      "Time of day": ["request.time", { Morning: "am", "Lunch break": "noon", "After work": "pm" }],
      "Rooms at least": "request.minRooms",
      "Proof of income": "proof",
      "I have pets": "request.pets",
    },
    required: ["Full name", "Districts"],
    answer: byStatus({ viewing: 118 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Full name").first().fill(p.text("Full name"));
      await type(page, page.getByLabel("Mobile number").first(), p.text("Mobile number").replace(/\D/g, ""));
      await page.locator(".v-select").click();
      for (const name of p.list("Districts")) await page.getByRole("option", { name }).click();
      await page.keyboard.press("Escape");
      await page.locator(".v-date-input input").click();
      const [from = "", to = ""] = days(p.text("Days that suit you"));
      await toMonth(
        from,
        () => page.locator(".v-date-picker-controls").innerText(),
        page.getByRole("button", { name: "Previous month" }),
        page.getByRole("button", { name: "Next month" }),
      );
      // the month that slides out shows some of the same days
      for (const iso of [from, to]) await page.locator(`[data-v-date="${iso}"]`).last().click();
      await page.mouse.click(1200, 20);
      await page.getByText(p.text("Time of day"), { exact: true }).click();
      // the number is shown without its zeros once the field has the focus
      await page.locator(".v-number-input input").click();
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(p.text("Rooms at least"));
      await page.keyboard.press("Tab");
      const proof = { name: p.text("Proof of income"), mimeType: "application/pdf", buffer: Buffer.from("f") };
      await page.locator("input[type=file]").setInputFiles(proof);
      await click(person, "I have pets", page.getByLabel("I have pets"));
    },
    send: "Request viewing",
  },
  {
    id: "vue/quasar-outing",
    title: "Company outing",
    libraries: ["quasar"],
    people: people({
      Company: ["Lee Printing", "Fernandez & Sons", "Okoro Consulting"],
      "E-mail": MAILS,
      Destination: ["Salt mine", "Adventure park", "Lakeside resort"],
      Dates: ["2027-05-19 - 2027-05-21", "2026-12-10 - 2026-12-11", "2027-04-06 - 2027-04-09"],
      Departure: ["07:45", "09:30", "13:15"],
      Participants: [24, 12, 65],
      Activities: [["Archery"], ["Canoeing", "Guided walk"], ["Archery", "Cooking together", "Guided walk"]],
      "We would like a packed lunch": [true, false, true],
    }),
    wire: {
      Company: "company",
      "E-mail": "contact.email",
      Destination: [
        "destinationId",
        {
          "Adventure park": "D-01",
          "Brewery museum": "D-02",
          "Castle ruins": "D-03",
          "Lakeside resort": "D-04",
          "Salt mine": "D-05",
        },
      ],
      Dates: ["period", period],
      Departure: "departure",
      Participants: "participants",
      Activities: [
        "activities",
        { Archery: "archery", Canoeing: "canoe", "Cooking together": "cook", "Guided walk": "walk" },
      ],
      "We would like a packed lunch": "lunch",
    },
    required: ["Company", "E-mail", "Destination"],
    answer: byFlag(
      { status: "requested", number: "2027-031" },
      { status: "incomplete", reason: "We need your company, an address and a destination." },
    ),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Company").fill(p.text("Company"));
      await page.getByLabel("E-mail").fill(p.text("E-mail"));
      await type(page, page.getByLabel("Destination"), p.text("Destination").slice(0, 4));
      await page.getByRole("option", { name: p.text("Destination") }).click();
      await page.locator(".q-field").filter({ hasText: "Dates" }).locator(".q-icon").click();
      const calendar = page.locator(".q-date");
      const [from = "", to = ""] = days(p.text("Dates"));
      const shown = calendar.locator(".q-date__navigation .relative-position > :last-child");
      await toMonth(
        from,
        async () => (await shown.allInnerTexts()).join(" "),
        calendar.getByRole("button", { name: "Previous month" }),
        calendar.getByRole("button", { name: "Next month" }),
      );
      for (const iso of [from, to])
        await calendar.getByRole("button", { name: day(iso, "D MMMM YYYY"), exact: true }).click();
      await page.getByRole("button", { name: "Close" }).click();
      await calendar.waitFor({ state: "detached" });
      await type(page, page.getByLabel("Departure"), p.text("Departure").replace(":", ""));
      await page.getByLabel("Participants").fill(p.text("Participants"));
      for (const name of p.list("Activities")) await page.getByRole("switch", { name }).click();
      await click(person, "We would like a packed lunch", page.getByRole("checkbox"));
    },
    send: "Send enquiry",
  },
  {
    id: "vue/antdv-fair",
    title: "Stand at the fair",
    libraries: ["ant-design-vue"],
    people: people({
      Exhibitor: ["Lee Tools", "Fernandez Robotics", "Okoro Software"],
      "Hall and area": ["Hall 2 / Start-ups", "Hall 3 / Machines", "Hall 1 / Food court"],
      "Stand size": [24, 60, 12],
      "Setup begins": ["2027-02-15 08:30", "2026-12-11 14:00", "2027-03-08 07:15"],
      "Kind of stand": ["Corner stand", "Island stand", "Row stand"],
      Keywords: [["drills"], ["welding", "sensors"], ["cloud", "billing", "hosting"]],
      Logo: ["lee.png", "fernandez.png", "okoro.png"],
      "Print us in the catalogue": [true, false, true],
    }),
    wire: {
      Exhibitor: "exhibitor",
      "Hall and area": [
        "place",
        { "Hall 2 / Start-ups": "2-C", "Hall 3 / Machines": "3-B", "Hall 1 / Food court": "1-B" },
      ],
      "Stand size": "size",
      "Setup begins": "setup",
      "Kind of stand": ["kind", { "Row stand": "row", "Corner stand": "corner", "Island stand": "island" }],
      Keywords: "keywords[]",
      Logo: "logo",
      "Print us in the catalogue": ["catalogue", (is: boolean) => (is ? "1" : "0")],
    },
    required: ["Exhibitor", "Hall and area"],
    answer: byStatus({ id: "ST-204" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Exhibitor");
      await page.locator(".ant-cascader").click();
      for (const level of p.text("Hall and area").split(" / "))
        await page.locator(".ant-cascader-menu-item").filter({ hasText: level }).click();
      await write(page, person, "Stand size");
      await type(page, page.getByLabel("Setup begins"), p.text("Setup begins"));
      await page.locator(".ant-picker-ok button").click();
      await page.getByText(p.text("Kind of stand"), { exact: true }).click();
      for (const word of p.list("Keywords")) {
        await type(page, page.getByLabel("Keywords"), word);
        await page.keyboard.press("Enter");
      }
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Logo")));
      await click(person, "Print us in the catalogue", page.getByText("Print us in the catalogue"));
    },
    send: "Register",
  },
  {
    id: "angular/material-carhire",
    title: "Car hire",
    libraries: ["@angular/material", "@angular/forms", "rxjs"],
    people: people({
      Driver: NAMES,
      "Pick-up station": ["Lyon Airport", "Lisbon Centre", "Leipzig Station"],
      "Rental period": ["2027-01-18 - 2027-01-22", "2026-12-09 - 2026-12-12", "2027-03-02 - 2027-03-16"],
      "Car class": ["Compact", "Van", "SUV"],
      "Kilometres a day": [300, 100, 450],
      Extras: [["Child seat"], ["Navigation", "Roof box"], ["Navigation", "Snow chains", "Child seat"]],
      "Driving licence": ["lee.png", "fernandez.png", "okoro.png"],
      "I will drive abroad": [true, false, true],
    }),
    wire: {
      Driver: "driver",
      "Pick-up station": "station",
      "Rental period": ["period", (range: string) => days(range).join("/")],
      "Car class": ["carClass", { Economy: "ECAR", Compact: "CCAR", SUV: "SUVR", Van: "VANR" }],
      "Kilometres a day": "km",
      Extras: ["extras", { Navigation: "NAV", "Snow chains": "SNO", "Child seat": "CST", "Roof box": "ROO" }],
      "Driving licence": "licence",
      "I will drive abroad": ["abroad", String],
    },
    required: ["Driver", "Pick-up station", "Rental period"],
    answer: byStatus({ reservation: "LX4417" }),
    lookup: ["Leipzig Station", "Lisbon Airport", "Lisbon Centre", "Lyon Airport", "Lyon Centre"],
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Driver").fill(p.text("Driver"));
      await type(page, page.getByLabel("Pick-up station"), p.text("Pick-up station").slice(0, 4));
      await page.getByRole("option", { name: p.text("Pick-up station") }).click();
      const [from = "", to = ""] = days(p.text("Rental period"));
      await page.getByPlaceholder("Start date").fill(day(from, "M/D/YYYY"));
      await page.getByPlaceholder("End date").fill(day(to, "M/D/YYYY"));
      await page.getByLabel("Car class").selectOption({ label: p.text("Car class") });
      await page.locator("input[type=range]").focus();
      const steps = (p.number("Kilometres a day") - 200) / 50;
      await press(page, steps > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(steps));
      for (const name of p.list("Extras")) await page.getByRole("option", { name }).click();
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Driving licence")));
      await click(person, "I will drive abroad", page.getByLabel("I will drive abroad"));
    },
    send: "Reserve car",
  },
];
