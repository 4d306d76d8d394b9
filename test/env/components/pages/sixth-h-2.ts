import { click, dayOf, of, toMonth, type, write } from "../hand.js";
import { byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

const weekday = (iso: string): string =>
  new Date(`${iso}T00:00:00Z`).toLocaleString("en-US", { weekday: "short", timeZone: "UTC" });

/** Writes 14:20 as 2:20 PM. */
const halfDay = (time: string): string => {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  return `${hour % 12 || 12}:${String(minute).padStart(2, "0")} ${hour < 12 ? "AM" : "PM"}`;
};

export const pages: ComponentPage[] = [
  {
    id: "react/downshift-tutoring",
    title: "Find a tutor",
    libraries: ["downshift", "react-bootstrap", "bootstrap", "react-datepicker", "formik", "yup"],
    people: people({
      Pupil: NAMES,
      School: ["Riverside School", "Hillcrest School", "Abbey Grammar School"],
      Subjects: [["Physics"], ["English", "History"], ["Mathematics", "Chemistry", "French"]],
      "First lesson": ["2027-01-14", "2026-12-09", "2027-03-02"],
      "Begins at": ["16:30", "14:15", "18:00"],
      "Lessons a week": [3, 5, 1],
      Place: ["Library", "At home", "Online"],
      "Brothers or sisters come too": [true, false, true],
    }),
    wire: {
      Pupil: "pupil",
      School: "school",
      Subjects: "subjects",
      "First lesson": "day",
      "Begins at": "time",
      "Lessons a week": "weekly",
      Place: ["place", { "At home": "home", Library: "library", Online: "online" }],
      "Brothers or sisters come too": ["siblings", (is: boolean) => (is ? "yes" : "no")],
    },
    required: ["Pupil", "School", "Subjects", "First lesson"],
    answer: byStatus({ request: 771 }),
    lookup: ["Abbey Grammar School", "Hillcrest School", "Hillside College", "Riverside School", "St Mary's School"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Pupil");
      await type(page, page.getByRole("combobox", { name: "School" }), p.text("School").slice(0, 4));
      await page.getByRole("option", { name: p.text("School") }).click();
      for (const name of p.list("Subjects")) {
        await type(page, page.getByRole("combobox", { name: "Subjects" }), name.slice(0, 2));
        await page.getByRole("option", { name, exact: true }).click();
      }
      await page.keyboard.press("Escape");
      const first = p.text("First lesson");
      await type(page, page.locator("#day"), `${weekday(first)}, ${day(first, "D MMM YYYY")}`);
      await page.keyboard.press("Enter");
      await type(page, page.locator("#time"), p.text("Begins at"));
      await page.keyboard.press("Enter");
      await page.locator("#weekly").fill(p.text("Lessons a week"));
      await page.getByText(p.text("Place"), { exact: true }).click();
      await click(person, "Brothers or sisters come too", page.getByLabel("Brothers or sisters come too"));
    },
    send: "Send request",
  },
  {
    id: "plain/choices-berth",
    title: "Book a berth",
    libraries: ["bootstrap", "choices.js", "vanillajs-datepicker", "nouislider", "pristinejs"],
    people: people({
      Skipper: NAMES,
      "Home port": ["Falmouth", "Plymouth", "Weymouth"],
      Arrival: ["2027-05-14", "2027-06-02", "2027-07-25"],
      Departure: ["2027-05-18", "2027-06-09", "2027-08-01"],
      "Length of the boat in metres": [10.5, 6, 14.5],
      "Kind of boat": ["Motor boat", "Sailing boat", "Catamaran"],
      Services: [["Crane"], ["Fresh water", "Laundry"], ["Fresh water", "Fuel", "Boat washing"]],
      "Shore power": [true, false, true],
    }),
    wire: {
      Skipper: "booking.skipper",
      "Home port": "booking.port",
      Arrival: ["booking.arrival", (iso: string) => day(iso, "DD/MM/YYYY")],
      Departure: ["booking.departure", (iso: string) => day(iso, "DD/MM/YYYY")],
      "Length of the boat in metres": "booking.metres",
      "Kind of boat": ["booking.kind", { "Sailing boat": "sail", "Motor boat": "motor", Catamaran: "multi" }],
      Services: [
        "booking.services",
        { "Fresh water": "water", Fuel: "fuel", Crane: "crane", Laundry: "laundry", "Boat washing": "wash" },
      ],
      "Shore power": "booking.power",
    },
    required: ["Skipper", "Home port", "Arrival", "Departure"],
    answer: byStatus({ berth: "C-14" }),
    lookup: ["Dartmouth", "Exmouth", "Falmouth", "Plymouth", "Weymouth"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Skipper");
      const lists = page.locator(".choices");
      await lists.first().click();
      await page.keyboard.type(p.text("Home port").slice(0, 4), { delay: 20 });
      await lists
        .first()
        .getByRole("option", { name: p.text("Home port") })
        .click();
      for (const label of ["Arrival", "Departure"]) {
        await page.getByLabel(label).fill(day(p.text(label), "DD/MM/YYYY"));
        await page.keyboard.press("Tab");
      }
      await write(page, person, "Length of the boat in metres");
      await page.keyboard.press("Tab");
      await page.getByText(p.text("Kind of boat"), { exact: true }).click();
      for (const name of p.list("Services")) {
        await lists.last().locator("input").click();
        await lists.last().getByRole("option", { name, exact: true }).click();
      }
      await page.keyboard.press("Escape");
      await click(person, "Shore power", page.getByLabel("Shore power"));
    },
    send: "Book berth",
  },
  {
    id: "plain/jqueryui-optician",
    title: "Book an eye test",
    libraries: ["jquery-ui", "intl-tel-input", "tom-select", "timepicker", "jquery-validation", "jquery"],
    people: people({
      Patient: NAMES,
      "Mobile number": ["+447400123456", "+447700900123", "+447911123456"],
      "Date of birth": ["1984-04-17", "1999-11-30", "1962-02-08"],
      Branch: ["Castle Arcade", "Broad Street", "Queen Street"],
      "Day of the test": ["2027-01-14", "2026-12-09", "2027-03-02"],
      Time: ["14:20", "09:40", "11:00"],
      Complaints: [["Dry eyes"], ["Blurred vision", "Headaches"], ["Headaches", "Poor night vision", "Double vision"]],
      "I wear contact lenses": [true, false, true],
    }),
    wire: {
      Patient: "patient.name",
      "Mobile number": "patient.mobile",
      "Date of birth": "patient.born",
      Branch: ["branch", { "Broad Street": 31, Harbourside: 32, "Castle Arcade": 45, "Queen Street": 46 }],
      "Day of the test": "date",
      Time: ["time", halfDay],
      Complaints: [
        "complaints",
        {
          "Blurred vision": "blur",
          Headaches: "head",
          "Dry eyes": "dry",
          "Poor night vision": "night",
          "Double vision": "double",
        },
      ],
      "I wear contact lenses": "contactLenses",
    },
    required: ["Patient", "Date of birth", "Branch", "Day of the test"],
    answer: ({ accepted }) =>
      accepted
        ? { status: 200, json: { reference: "EYE-4490" } }
        : { status: 400, json: { message: "Please fill in the missing fields." } },
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Patient");
      await type(page, page.locator("#mobile"), p.text("Mobile number").replace("+44", "0"));
      await type(page, page.locator("#born"), day(p.text("Date of birth"), "DD/MM/YYYY"));
      await page.keyboard.press("Enter");
      const option = (name: string) =>
        page.locator(".ts-dropdown .option").locator("visible=true").filter({ hasText: name });
      await page.locator("#branch-ts-control").click();
      await option(p.text("Branch")).click();
      await page.locator("#date").click();
      const calendar = page.locator("#ui-datepicker-div");
      await toMonth(
        p.text("Day of the test"),
        () => calendar.locator(".ui-datepicker-title").innerText(),
        calendar.locator(".ui-datepicker-prev"),
        calendar.locator(".ui-datepicker-next"),
      );
      await calendar
        .locator("td:not(.ui-datepicker-other-month) a")
        .getByText(dayOf(p.text("Day of the test")), { exact: true })
        .click();
      await page.locator("#time").click();
      await page
        .locator(".ui-timepicker-list")
        .getByText(halfDay(p.text("Time")), { exact: true })
        .click();
      await page.locator("#complaints-ts-control").click();
      for (const name of p.list("Complaints")) await option(name).click();
      // leaves the list, whose second line then closes and moves what stands below
      await page.getByRole("heading").click();
      await click(person, "I wear contact lenses", page.locator("label[for=lenses]"));
    },
    send: "Book the test",
  },
];
