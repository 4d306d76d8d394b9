import { click, days, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people, type Reply } from "../page.js";

const digits = (text: string): string => text.replace(/\D/g, "");

/** Writes 14:30 as `02:30 PM`. */
function twelve(time: string): string {
  const [hour = 0, minute = ""] = time.split(":").map((part, i) => (i === 0 ? Number(part) : part)) as [number, string];
  return `${String(hour % 12 || 12).padStart(2, "0")}:${minute} ${hour < 12 ? "AM" : "PM"}`;
}

const range = (text: string) => ({ from: days(text)[0], to: days(text)[1] });

export const pages: ComponentPage[] = [
  {
    id: "react/mui-catering",
    title: "Catering request",
    libraries: ["@mui/material", "@mui/x-date-pickers", "react-hook-form", "yup"],
    people: people({
      "Contact name": NAMES,
      "Event date": ["2026-12-18", "2027-01-09", "2027-03-27"],
      "Serving time": ["18:30", "12:15", "19:45"],
      Menu: ["Alpine", "Vegan garden", "Mediterranean"],
      "Dietary needs": [["Halal"], ["Gluten free", "Nut free"], ["Kosher", "Lactose free", "Nut free"]],
      "Number of guests": [60, 20, 110],
      Service: ["Table service", "Drop-off only", "Buffet"],
      "We need staff on site": [true, false, true],
    }),
    wire: {
      "Contact name": "name",
      "Event date": "date",
      "Serving time": "time",
      Menu: ["menu", { Mediterranean: 1, Alpine: 2, "Street food": 3, "Vegan garden": 4 }],
      "Dietary needs": "diets",
      "Number of guests": "guests",
      Service: ["service", { Buffet: "buffet", "Table service": "table", "Drop-off only": "dropoff" }],
      "We need staff on site": "staff",
    },
    required: ["Contact name", "Event date", "Menu"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Contact name").fill(p.text("Contact name"));
      const month = page.getByRole("spinbutton", { name: "Month" });
      await type(page, month, digits(day(p.text("Event date"), "MMDDYYYY")));
      const hours = page.getByRole("spinbutton", { name: "Hours" });
      await type(page, hours, twelve(p.text("Serving time")).replace(/[: ]/g, ""));
      await pick(page, page.getByRole("combobox", { name: "Menu" }), p.text("Menu"));
      for (const name of p.list("Dietary needs"))
        await pick(page, page.getByRole("combobox", { name: "Dietary needs" }), name);
      await page.getByRole("slider").focus();
      const steps = (p.number("Number of guests") - 30) / 10;
      await press(page, steps > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(steps));
      await page.getByLabel(p.text("Service")).check();
      await click(person, "We need staff on site", page.getByLabel("We need staff on site"));
    },
    send: "Request a quote",
  },
  {
    id: "react/antd-rental",
    title: "Rent a vehicle",
    libraries: ["antd"],
    people: people({
      Driver: NAMES,
      "Phone number": ["1701234567", "302288110", "1609876543"],
      "Pick-up station": ["Harbour", "Airport South", "Old town"],
      "Vehicle class": ["Car / Estate", "Van / Minibus", "Car / Compact"],
      "Rental period": ["2026-12-04 - 2026-12-07", "2027-01-11 - 2027-01-15", "2026-12-27 - 2027-01-03"],
      Extras: [["Navigation"], ["Child seat", "Second driver"], ["Navigation", "Snow chains", "Second driver"]],
      "Full insurance": [true, false, true],
      "Driving licence": ["licence-lee.pdf", "bo.png", "okoro-front.jpg"],
    }),
    wire: {
      Driver: "driver",
      "Phone number": ["phone", (number: string) => `+49${number}`],
      "Pick-up station": "station",
      "Vehicle class": [
        "vehicle",
        {
          "Car / Compact": "car-s",
          "Car / Estate": "car-m",
          "Car / Limousine": "car-l",
          "Van / Delivery van": "van-s",
          "Van / Minibus": "van-l",
        },
      ],
      "Rental period": ["period", (period: string) => days(period)],
      Extras: [
        "extras",
        { "Child seat": "seat", Navigation: "navi", "Snow chains": "chain", "Second driver": "driver" },
      ],
      "Full insurance": ["insurance", { true: "full", false: "basic" }],
      "Driving licence": "licence",
    },
    required: ["Driver", "Pick-up station", "Rental period"],
    answer: byFlag({ success: true, number: "R-20811" }, { success: false, message: "The reservation is incomplete" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#driver").fill(p.text("Driver"));
      await page.locator("#phone").fill(p.text("Phone number"));
      await type(page, page.locator("#station"), p.text("Pick-up station").slice(0, 4));
      await page
        .locator(".ant-select-item-option")
        .filter({ hasText: p.text("Pick-up station") })
        .click();
      await page.locator("#vehicle").click();
      for (const level of p.text("Vehicle class").split(" / "))
        await page.locator(".ant-cascader-menu-item").filter({ hasText: level }).click();
      for (const [i, date] of days(p.text("Rental period")).entries()) {
        await page.locator(".ant-picker-range input").nth(i).click();
        await page.locator(".ant-picker-range input").nth(i).fill(day(date, "DD/MM/YYYY"));
        await page.keyboard.press(i === 0 ? "Enter" : "Tab");
      }
      for (const name of p.list("Extras")) await page.getByLabel(name, { exact: true }).check();
      await click(person, "Full insurance", page.getByRole("switch"));
      const name = p.text("Driving licence");
      const file = { name, mimeType: "application/pdf", buffer: Buffer.from("licence") };
      await page.locator("input[type=file]").setInputFiles(file);
    },
    send: "Reserve",
  },
  {
    id: "react/mantine-kennel",
    title: "Dog boarding",
    libraries: ["@mantine/core", "@mantine/dates", "@mantine/form", "zod"],
    people: people({
      Owner: NAMES,
      "Name of the dog": ["Rex", "Luna", "Bamse"],
      Breed: ["Poodle", "Border Collie", "Mixed breed"],
      Weight: [7.5, 19, 32],
      Size: ["Small", "Medium", "Large"],
      Stay: ["2026-12-21 - 2026-12-28", "2027-01-04 - 2027-01-09", "2027-02-12 - 2027-02-15"],
      "Time of arrival": ["09:30", "16:45", "11:10"],
      Care: [["Own food"], ["Medication", "Single room"], ["Grooming", "Own food", "Single room"]],
    }),
    wire: {
      Owner: "boarding.owner",
      "Name of the dog": "boarding.dog",
      Breed: "boarding.breed",
      Weight: "boarding.weight",
      Size: ["boarding.size", { Small: "s", Medium: "m", Large: "l" }],
      Stay: ["boarding.stay", range],
      "Time of arrival": "boarding.arrival",
      Care: ["boarding.needs", { Medication: "med", "Own food": "diet", Grooming: "groom", "Single room": "single" }],
    },
    required: ["Owner", "Name of the dog", "Stay"],
    answer: byFlag({ ok: true, text: "The place is booked." }, { ok: false, text: "Some answers are missing." }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Time of arrival");
      await page.getByLabel("Owner").fill(p.text("Owner"));
      await page.getByLabel("Name of the dog").fill(p.text("Name of the dog"));
      await pick(page, page.getByRole("combobox", { name: "Breed" }), p.text("Breed"));
      await page.getByLabel("Weight").fill(p.text("Weight"));
      await page.getByText(p.text("Size"), { exact: true }).click();
      await page.getByRole("button", { name: "Stay" }).click();
      for (const date of days(p.text("Stay"))) {
        await toMonth(
          date,
          () => page.locator(".mantine-DatePickerInput-calendarHeaderLevel").innerText(),
          page.locator(".mantine-DatePickerInput-calendarHeaderControl").first(),
          page.locator(".mantine-DatePickerInput-calendarHeaderControl").last(),
        );
        await page.getByRole("button", { name: day(date, "D MMMM YYYY"), exact: true }).click();
      }
      await pick(page, page.getByRole("combobox", { name: "Care" }), ...p.list("Care"));
      await page.keyboard.press("Escape");
    },
    send: "Book a place",
  },
  {
    id: "react/primereact-patient",
    title: "New patient",
    libraries: ["primereact", "formik"],
    people: people({
      "Full name": NAMES,
      "Date of birth": ["1988-04-17", "1994-10-02", "1971-06-25"],
      Phone: ["(503) 555-0142", "(617) 555-0188", "(312) 555-0117"],
      "Family doctor": ["Dr. Amelia Stone", "Dr. Carl Weaver", "Dr. Stella Marsh"],
      Insurance: ["Private", "Statutory", "Self-payer"],
      Allergies: [["Latex"], ["Dust", "Pollen"], ["Nuts", "Penicillin", "Pollen"]],
      "Contact me by": ["Letter", "Text message", "Phone"],
      "Remind me of appointments": [true, false, true],
    }),
    wire: {
      "Full name": "patient[name]",
      "Date of birth": "patient[birth]",
      Phone: "patient[phone]",
      "Family doctor": "patient[doctor]",
      Insurance: ["patient[insurance]", { Statutory: "S", Private: "P", "Self-payer": "N" }],
      Allergies: ["patient[allergies][]", { Dust: "DU", Latex: "LA", Nuts: "NU", Penicillin: "PE", Pollen: "PO" }],
      "Contact me by": ["patient[contact]", (way: string) => way.toLowerCase()],
      "Remind me of appointments": ["patient[reminder]", { true: "1", false: "0" }],
    },
    required: ["Full name", "Date of birth", "Insurance"],
    answer: ({ accepted }): Reply => ({ status: accepted ? 200 : 400, json: { registered: accepted } }),
    lookup: ["Dr. Amelia Stone", "Dr. Carl Weaver", "Dr. Noah Steiner", "Dr. Stella Marsh"],
    async fill(page, person) {
      const p = of(person);
      await page.locator("#name").fill(p.text("Full name"));
      await page.locator("#birth").fill(day(p.text("Date of birth"), "MM/DD/YYYY"));
      await page.keyboard.press("Escape");
      await page.locator("#phone").click();
      await page.keyboard.press("Home", { delay: 150 });
      await page.keyboard.type(digits(p.text("Phone")), { delay: 20 });
      await type(page, page.locator("#doctor"), p.text("Family doctor").slice(0, 7));
      await page.getByRole("option", { name: p.text("Family doctor") }).click();
      await page.getByRole("button", { name: p.text("Insurance"), exact: true }).click();
      await page.locator(".p-multiselect").click();
      for (const name of p.list("Allergies")) await page.getByRole("option", { name }).click();
      await page.keyboard.press("Escape");
      await page.getByRole("radio", { name: p.text("Contact me by") }).check();
      await click(person, "Remind me of appointments", page.getByText("Remind me of appointments"));
    },
    send: "Register",
  },
  {
    id: "react/fluent-workshop",
    title: "Propose a workshop",
    libraries: ["@fluentui/react-components"],
    people: people({
      Title: ["Plain language", "Passkeys at work", "Charts that tell"],
      Trainer: ["Kim Sooah", "Ines Prado", "Lena Wirth"],
      Date: ["2027-01-14", "2026-12-02", "2027-04-08"],
      Topics: [["Marketing"], ["Privacy", "Security"], ["Accessibility", "Analytics", "Design"]],
      Seats: [24, 12, 55],
      "Length in hours": [4, 6, 3],
      Where: ["Online", "Hybrid", "On site"],
      "Record the workshop": [true, false, true],
    }),
    wire: {
      Title: "workshop.title",
      Trainer: ["workshop.trainer", { "Ines Prado": "31", "Jonas Falk": "32", "Kim Sooah": "45", "Lena Wirth": "46" }],
      Date: "workshop.date",
      Topics: "workshop.topics",
      Seats: "workshop.seats",
      "Length in hours": "workshop.hours",
      Where: ["workshop.mode", { "On site": "onsite", Online: "online", Hybrid: "hybrid" }],
      "Record the workshop": "workshop.record",
    },
    required: ["Title", "Trainer", "Date"],
    answer: byStatus({ workshop: 88 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Title").fill(p.text("Title"));
      await page.locator("input[type=date]").fill(p.text("Date"));
      await pick(page, page.getByRole("combobox", { name: "Trainer" }), p.text("Trainer"));
      for (const name of p.list("Topics")) {
        await type(page, page.getByRole("combobox", { name: "Topics" }), name.slice(0, 3));
        await page.getByRole("option", { name }).click();
      }
      await page.keyboard.press("Escape");
      await page.getByRole("spinbutton", { name: "Seats" }).fill(p.text("Seats"));
      await page.keyboard.press("Tab");
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Length in hours") - 2);
      await page.getByLabel(p.text("Where"), { exact: p.text("Where") !== "Hybrid" }).check();
      await click(person, "Record the workshop", page.getByRole("switch"));
    },
    send: "Send proposal",
  },
];
