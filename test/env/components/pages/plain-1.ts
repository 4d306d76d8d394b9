import { click, of, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, flash, MAILS, NAMES, people, redirect } from "../page.js";

const file = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from("x") });
const yes =
  (value: string) =>
  (on: boolean): string | undefined =>
    on ? value : undefined;

export const pages: ComponentPage[] = [
  {
    id: "plain/select2-hire",
    title: "Car hire",
    libraries: ["select2", "jquery-ui", "jquery"],
    people: people({
      Driver: NAMES,
      Car: ["Van", "Compact", "Estate"],
      Extras: [["Roof box"], ["Child seat", "Second driver"], ["Roof box", "Snow chains", "Second driver"]],
      "Pick-up day": ["2026-12-04", "2027-01-19", "2026-11-28"],
      Kilometres: [250, 900, 1500],
      "Full cover": [true, false, true],
    }),
    wire: {
      Driver: "driver",
      Car: ["car_id", { Compact: "c9", Estate: "e2", Van: "v5" }],
      Extras: ["extras[]", { "Child seat": "1", "Roof box": "2", "Snow chains": "3", "Second driver": "4" }],
      "Pick-up day": ["from", (iso: string) => day(iso, "DD/MM/YYYY")],
      Kilometres: "km",
      "Full cover": ["full", yes("1")],
    },
    required: ["Driver", "Car", "Pick-up day"],
    answer: redirect("Please choose a car and a day."),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Driver", "Kilometres");
      await page.locator(".select2-selection--single").click();
      await page.getByRole("option", { name: p.text("Car") }).click();
      for (const extra of p.list("Extras")) {
        await page.locator(".select2-selection--multiple").click();
        await page.getByRole("option", { name: extra, exact: true }).click();
      }
      await page.getByLabel("Pick-up day").fill(day(p.text("Pick-up day"), "DD/MM/YYYY"));
      await page.keyboard.press("Tab");
      await click(person, "Full cover", page.getByLabel("Full cover"));
    },
    send: "Hire",
  },
  {
    id: "plain/jqueryui-conference",
    title: "Table booking",
    libraries: ["jquery-ui", "jquery"],
    people: people({
      "Name on the booking": NAMES,
      City: ["Oulu", "Oslo", "Odense"],
      Table: ["At the bar", "By the window", "In the garden"],
      Seating: ["Outside", "Either", "Inside"],
      Guests: [4, 7, 11],
      "Arriving late": [true, false, true],
    }),
    wire: {
      "Name on the booking": "name",
      City: "city",
      Table: ["table", { "By the window": "w", "In the garden": "g", "At the bar": "b" }],
      Seating: ["seat", { Inside: "in", Outside: "out", Either: "any" }],
      Guests: "guests",
      "Arriving late": ["late", yes("on")],
    },
    required: ["Name on the booking", "City", "Seating"],
    lookup: ["Oslo", "Oulu", "Odense", "Ostrava"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Name on the booking").fill(p.text("Name on the booking"));
      await type(page, page.getByLabel("City"), p.text("City").slice(0, 3));
      await page
        .locator(".ui-autocomplete li")
        .filter({ hasText: p.text("City") })
        .click();
      await page.locator("#table-button").click();
      await page
        .locator(".ui-selectmenu-open li")
        .filter({ hasText: p.text("Table") })
        .click();
      await page
        .locator("label")
        .filter({ hasText: p.text("Seating") })
        .click();
      await page.locator(".ui-slider-handle").focus();
      await press(page, "ArrowRight", p.number("Guests") - 2);
      await click(person, "Arriving late", page.locator("label").filter({ hasText: "Arriving late" }));
    },
    send: "Reserve table",
  },
  {
    id: "plain/tomselect-course",
    title: "New course",
    libraries: ["tom-select"],
    people: people({
      "Course title": ["Bread for all", "Sewing", "Night sky"],
      Teacher: ["Nils Holm", "Oda Krog", "Mara Voss"],
      Topics: [["dough"], ["cloth", "thread"], ["stars", "moon", "lenses"]],
      Rooms: [["Hall"], ["Room 101", "Room 102"], ["Room 102", "Hall"]],
      Poster: ["bread.png", "sewing.jpg", "sky.pdf"],
      Weeks: [3, 8, 12],
    }),
    wire: {
      "Course title": "title",
      Teacher: ["teacher", { "Mara Voss": "t1", "Nils Holm": "t2", "Oda Krog": "t3" }],
      Topics: ["topics", (topics: string[]) => topics.join("|")],
      Rooms: ["rooms", { "Room 101": "101", "Room 102": "102", Hall: "201" }],
      Poster: "poster",
      Weeks: "weeks",
    },
    required: ["Course title", "Teacher"],
    answer: flash("The course is published", "A course needs a title and a teacher"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Course title", "Weeks");
      await page.locator("#teacher + .ts-wrapper .ts-control").click();
      await page
        .locator("#teacher-ts-dropdown .option")
        .filter({ hasText: p.text("Teacher") })
        .click();
      for (const topic of p.list("Topics")) {
        await type(page, page.locator("#topics-ts-control"), topic);
        await page.keyboard.press("Enter");
      }
      await page.locator("#rooms + .ts-wrapper .ts-control").click();
      for (const room of p.list("Rooms"))
        await page.locator("#rooms-ts-dropdown .option").filter({ hasText: room }).click();
      await page.keyboard.press("Tab");
      await page.locator("#poster").setInputFiles(file(p.text("Poster")));
    },
    send: "Publish course",
  },
  {
    id: "plain/choices-menu",
    title: "Catering",
    libraries: ["choices.js", "flatpickr", "nouislider", "just-validate"],
    people: people({
      Host: NAMES,
      Menu: ["Sea", "Mountain", "Garden"],
      Diets: [["Vegan"], ["Gluten free", "No nuts"], ["Lactose free", "Vegan", "No nuts"]],
      "Serving day and time": ["2026-12-09 12:30", "2027-02-20 18:05", "2026-11-25 11:45"],
      Guests: [35, 80, 150],
    }),
    wire: {
      Host: "host",
      Menu: ["menu", { Garden: "m1", Sea: "m2", Mountain: "m3" }],
      Diets: ["diets", { "Gluten free": "gf", "Lactose free": "lf", Vegan: "ve", "No nuts": "nf" }],
      "Serving day and time": "when",
      Guests: "guests",
    },
    required: ["Host", "Menu", "Serving day and time"],
    answer: ({ accepted }) => ({
      status: accepted ? 200 : 400,
      html: accepted ? "<h3>Bon appétit !</h3>" : "<b>Incomplete</b>",
    }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Host");
      await page.locator(".choices").first().click();
      await page
        .locator(".choices__item--choice")
        .filter({ hasText: p.text("Menu") })
        .click();
      await page.locator(".choices").nth(1).click();
      for (const diet of p.list("Diets"))
        await page
          .locator(".choices__list--dropdown")
          .nth(1)
          .locator(".choices__item--choice")
          .filter({ hasText: diet })
          .click();
      await page.keyboard.press("Escape");
      await page.getByLabel("Serving day and time").click();
      const [date = "", time = ""] = p.text("Serving day and time").split(" ");
      const calendar = page.locator(".flatpickr-calendar.open");
      const [year = "", month = ""] = date.split("-");
      await calendar.locator("select").selectOption(String(Number(month) - 1));
      await calendar.locator(".cur-year").fill(year);
      await page.keyboard.press("Enter");
      await calendar.locator(`.flatpickr-day[aria-label="${day(date, "MMMM D, YYYY")}"]`).click();
      await calendar.locator(".flatpickr-hour").fill(time.slice(0, 2));
      await calendar.locator(".flatpickr-minute").fill(time.slice(3));
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await page.locator(".noUi-handle").focus();
      await press(page, "ArrowRight", (p.number("Guests") - 10) / 5);
    },
    send: "Order catering",
  },
  {
    id: "plain/bsdatepicker-rental",
    title: "Rental contract",
    libraries: ["bootstrap-datepicker", "bootstrap", "autonumeric"],
    people: people({
      Tenant: NAMES,
      From: ["2026-12-05", "2027-06-19", "2027-01-02"],
      Until: ["2026-12-12", "2027-07-03", "2027-02-06"],
      Property: ["Farm", "Cabin", "Boathouse"],
      "Rent per week": ["420.50", "1280.00", "999.90"],
      "Pets allowed": [true, false, true],
    }),
    wire: {
      Tenant: "q",
      From: "start",
      Until: "end",
      Property: ["property", { Cabin: "1", Boathouse: "2", Farm: "3" }],
      "Rent per week": ["rent", (rent: string) => Number(rent)],
      "Pets allowed": ["pets", yes("y")],
    },
    required: ["Tenant", "From", "Until"],
    answer: redirect("Give us the tenant and the dates."),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Tenant");
      for (const label of ["From", "Until"]) {
        await type(page, page.getByLabel(label, { exact: true }), p.text(label));
        await page.keyboard.press("Tab");
      }
      await page.getByText(p.text("Property"), { exact: true }).click();
      await type(page, page.getByLabel("Rent per week"), p.text("Rent per week"));
      await click(person, "Pets allowed", page.getByLabel("Pets allowed"));
    },
    send: "Request contract",
  },
  {
    id: "plain/daterange-event",
    title: "Event",
    libraries: ["daterangepicker", "inputmask", "ion-rangeslider", "@yaireo/tagify"],
    people: people({
      Event: ["Harvest fair", "Chess night", "Book swap"],
      Dates: ["2026-10-02 - 2026-10-04", "2027-01-15 - 2027-01-16", "2026-08-30 - 2026-09-12"],
      Telephone: ["(201) 555-0123", "(415) 555-0188", "(312) 555-0176"],
      "Cost centre": ["AB-1234", "KQ-9081", "ZZ-4400"],
      Keywords: [["food"], ["games", "evening"], ["books", "swap", "free"]],
      "Expected visitors": [150, 50, 400],
    }),
    wire: {
      Event: "event.title",
      Dates: ["event.dates", (dates: string) => ({ from: dates.slice(0, 10), to: dates.slice(13) })],
      Telephone: ["event.tel", (tel: string) => tel.replace(/\D/g, "")],
      "Cost centre": "event.centre",
      Keywords: "event.tags",
      "Expected visitors": "event.size",
    },
    required: ["Event", "Telephone"],
    answer: byFlag({ message: "Tapahtuma on tallennettu." }, { message: "Tietoja puuttuu." }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Event");
      await page.getByLabel("Dates").click();
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(p.text("Dates"));
      await page.locator(".daterangepicker .applyBtn").click();
      await type(page, page.getByLabel("Telephone"), p.text("Telephone").replace(/\D/g, ""));
      await type(page, page.getByLabel("Cost centre"), p.text("Cost centre").replace("-", ""));
      for (const word of p.list("Keywords")) {
        await type(page, page.locator(".tagify__input").first(), word);
        await page.keyboard.press("Enter");
      }
      const handle = page.locator(".irs-handle.single");
      await handle.hover();
      await page.mouse.down();
      const line = await page.locator(".irs-line").boundingBox();
      const knob = await handle.boundingBox();
      if (line === null || knob === null) throw new Error("The slider is not shown");
      const travel = line.width - knob.width;
      await page.mouse.move(
        line.x + knob.width / 2 + (travel * p.number("Expected visitors")) / 500,
        knob.y + knob.height / 2,
        { steps: 8 },
      );
      await page.mouse.up();
    },
    send: "Plan event",
  },
  {
    id: "plain/parsley-account",
    title: "Account",
    libraries: ["parsleyjs", "imask", "cleave-zen"],
    people: people({
      "User name": ["annlee", "bofern", "chidi.o"],
      "Mail address": MAILS,
      "Repeat mail address": MAILS,
      Birthday: ["1990-03-05", "1984-12-21", "2001-07-30"],
      "Customer card": ["4111 1111 1111 1111", "5500 0000 0000 0004", "4000 0566 5566 5556"],
      Newsletter: ["Yes", "No", "Yes"],
      Language: ["Svenska", "Español", "English"],
    }),
    wire: {
      "User name": "user",
      "Mail address": "mail",
      "Repeat mail address": "mail_again",
      Birthday: ["born", (iso: string) => day(iso, "MM/DD/YYYY")],
      "Customer card": "card",
      Newsletter: ["news", { Yes: "1", No: "0" }],
      Language: ["lang", { Svenska: "sv", English: "en", Español: "es" }],
    },
    required: ["User name", "Mail address", "Newsletter"],
    answer: redirect("Check your entries"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "User name", "Mail address", "Repeat mail address");
      await type(page, page.getByLabel("Birthday"), day(p.text("Birthday"), "MMDDYYYY"));
      await type(page, page.getByLabel("Customer card"), p.text("Customer card").replaceAll(" ", ""));
      await page.getByLabel(p.text("Newsletter"), { exact: true }).check();
      await page.getByLabel("Language").selectOption({ label: p.text("Language") });
    },
    send: "Open account",
  },
];
