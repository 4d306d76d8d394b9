import { click, dayOf, of, press, suggest, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, fragment, NAMES, people, redirect } from "../page.js";

const file = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from("f") });

export const pages: ComponentPage[] = [
  {
    id: "svelte/flowbite-tour",
    title: "City tour",
    libraries: ["flowbite-svelte", "zod"],
    people: people({
      Contact: NAMES,
      Tour: ["Night watch", "Old town", "Breweries"],
      "Day of the tour": ["2026-12-12", "2027-01-16", "2027-02-20"],
      Start: ["14:30", "10:15", "20:45"],
      Languages: [["French"], ["English", "Italian"], ["English", "French", "Italian"]],
      Guests: [18, 7, 32],
      Payment: ["Invoice", "Cash", "Card"],
      "Guest list": ["guests.csv", "list.pdf", "okoro.xlsx"],
      "With lunch": [true, false, true],
    }),
    wire: {
      Contact: "contact",
      Tour: ["tour", { "Old town": "old", Breweries: "beer", "Night watch": "night" }],
      "Day of the tour": "date",
      Start: "time",
      Languages: ["languages", { English: "en", French: "fr", Italian: "it" }],
      Guests: "guests",
      Payment: ["payment", (way: string) => way.toLowerCase()],
      "Guest list": "list",
      "With lunch": ["lunch", String],
    },
    required: ["Contact", "Tour"],
    answer: byStatus({ booking: "T-5" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Contact", "Start");
      await page.getByLabel("Tour", { exact: true }).selectOption({ label: p.text("Tour") });
      await page.locator("#day").click();
      await toMonth(
        p.text("Day of the tour"),
        () => page.locator("[role=dialog], [aria-label=Calendar]").first().innerText(),
        page.getByRole("button", { name: "Previous month" }),
        page.getByRole("button", { name: "Next month" }),
      );
      const label = new RegExp(day(p.text("Day of the tour"), "MMMM D, YYYY"));
      await page.getByRole("gridcell", { name: label }).click();
      await page.getByRole("listbox").click();
      for (const name of p.list("Languages"))
        await page.locator("[role=listbox] [role=presentation]").getByText(name, { exact: true }).click();
      await page.mouse.click(1200, 20);
      await page.getByRole("slider").fill(p.text("Guests"));
      await page.getByLabel(p.text("Payment"), { exact: true }).check();
      await page.locator("input[type=file]").setInputFiles(file(p.text("Guest list")));
      await click(person, "With lunch", page.getByText("With lunch"));
    },
    send: "Book tour",
  },
  {
    id: "solid/kobalte-insurance",
    title: "Boat insurance",
    libraries: ["@kobalte/core", "solid-js", "zod"],
    people: people({
      "Policy holder": NAMES,
      "Kind of boat": ["Motor boat", "Sailing boat", "Rowing boat"],
      Waters: [["North Sea"], ["Baltic Sea", "Inland waters"], ["Baltic Sea", "North Sea", "Mediterranean"]],
      "Insured from": ["2026-12-15", "2027-01-01", "2027-02-10"],
      "Value of the boat": [24500, 8000, 131000],
      Excess: ["250 Euro", "None", "1000 Euro"],
      "Photo of the boat": ["boat.jpg", "sail.png", "row.png"],
      "Takes part in races": [true, false, true],
    }),
    wire: {
      "Policy holder": "holder",
      "Kind of boat": ["boat", { "Sailing boat": "sail", "Motor boat": "motor", "Rowing boat": "row" }],
      Waters: ["waters", { "Baltic Sea": 1, "North Sea": 2, Mediterranean: 3, "Inland waters": 4 }],
      "Insured from": "start",
      "Value of the boat": "worth",
      Excess: ["excess", { None: "0", "250 Euro": "250", "1000 Euro": "1000" }],
      "Photo of the boat": "photo",
      "Takes part in races": ["racing", { true: "on", false: "off" }],
    },
    required: ["Policy holder", "Kind of boat"],
    answer: byFlag({ policy: "B-1002" }, { policy: null, error: "incomplete" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Policy holder", "Insured from");
      await page.getByRole("button", { name: "Kind of boat" }).click();
      await page.getByRole("option", { name: p.text("Kind of boat") }).click();
      for (const name of p.list("Waters")) {
        await type(page, page.getByRole("combobox"), name.slice(0, 4));
        await page.getByRole("option", { name }).click();
      }
      await page.keyboard.press("Escape");
      await page.getByLabel("Value of the boat").fill(p.text("Value of the boat"));
      await page.keyboard.press("Tab");
      await page.getByText(p.text("Excess"), { exact: true }).click();
      await page
        .locator("input[type=file]")
        .setInputFiles({ ...file(p.text("Photo of the boat")), mimeType: "image/png" });
      await click(person, "Takes part in races", page.getByText("Takes part in races"));
    },
    send: "Insure my boat",
  },
  {
    id: "plain/jqueryui-charter",
    title: "Bus charter",
    libraries: ["jquery-ui", "jquery-validation", "jquery"],
    people: people({
      Organiser: ["Lee Tours", "Fernandez Club", "Okoro School"],
      Destination: ["Gent", "Delft", "Namur"],
      Departure: ["2026-12-05", "2027-01-14", "2027-02-02"],
      Return: ["2026-12-09", "2027-01-17", "2027-02-11"],
      "Kind of bus": ["Double-decker", "Minibus", "Coach"],
      Passengers: [34, 12, 61],
      "Price per day": ["500 - 1200", "300 - 650", "900 - 1750"],
      Equipment: [["Kitchen"], ["Toilet", "Bicycle trailer"], ["Toilet", "Kitchen", "Bicycle trailer"]],
    }),
    wire: {
      Organiser: "organiser",
      Destination: "destination",
      Departure: ["leave", (iso: string) => day(iso, "D MMM YYYY")],
      Return: ["back", (iso: string) => day(iso, "D MMM YYYY")],
      "Kind of bus": ["bus", { Minibus: "mini", Coach: "coach", "Double-decker": "double" }],
      Passengers: "seats",
      "Price per day": ["price", (range: string) => range.replace(/\d+/g, "€$&")],
      Equipment: ["equipment[]", { Toilet: "wc", Kitchen: "kitchen", "Bicycle trailer": "bikes" }],
    },
    required: ["Organiser", "Destination"],
    answer: redirect("The form is not complete."),
    lookup: ["Gent", "Genk", "Delft", "Den Haag", "Namur", "Nancy"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Organiser");
      await suggest(page, "#destination", p.text("Destination"), ".ui-menu-item");
      for (const [label, css] of [
        ["Departure", "#leave"],
        ["Return", "#back"],
      ] as const) {
        const [y = "", m = ""] = p.text(label).split("-");
        await page.locator(css).click();
        await page.locator("select.ui-datepicker-year").selectOption(y);
        await page.locator("select.ui-datepicker-month").selectOption(String(Number(m) - 1));
        await page
          .locator(`td[data-month="${Number(m) - 1}"] a`)
          .getByText(dayOf(p.text(label)), { exact: true })
          .click();
      }
      await page.locator("#bus-button").click();
      await page.getByRole("option", { name: p.text("Kind of bus") }).click();
      await page.getByRole("spinbutton").fill(p.text("Passengers"));
      const ends = p.text("Price per day").split(" - ").map(Number);
      for (const [i, start] of [
        [1, 900],
        [0, 400],
      ] as const) {
        await page.locator(".ui-slider-handle").nth(i).focus();
        const ahead = ((ends[i] as number) - start) / 50;
        await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      }
      for (const name of p.list("Equipment")) await page.getByText(name, { exact: true }).click();
    },
    send: "Charter the bus",
  },
  {
    id: "plain/flatpickr-cleaning",
    title: "Cleaning service",
    libraries: ["flatpickr", "intl-tel-input", "parsleyjs", "select2", "bootstrap", "jquery"],
    people: people({
      Client: NAMES,
      "Mobile phone": ["+31612345678", "+447911123456", "+4915112345678"],
      Service: ["Window cleaning", "Office cleaning", "End of tenancy"],
      Extras: [["Fridge"], ["Oven", "Ironing"], ["Carpets", "Fridge", "Ironing"]],
      "First visit": ["2026-12-08", "2027-01-25", "2027-02-17"],
      "Preferred time": ["09:30", "16:45", "07:05"],
      "Floor space in m²": [120, 50, 240],
      Frequency: ["Every week", "Only once", "Every month"],
      "Only ecological products": [true, false, true],
    }),
    wire: {
      Client: "client",
      "Mobile phone": "mobile",
      Service: ["service", { "Office cleaning": "ofc", "Window cleaning": "win", "End of tenancy": "mov" }],
      Extras: ["extras[]", { Oven: "oven", Carpets: "carpet", Fridge: "fridge", Ironing: "iron" }],
      "First visit": "when",
      "Preferred time": "at",
      "Floor space in m²": "size",
      Frequency: ["freq", { "Only once": "once", "Every week": "week", "Every month": "month" }],
      "Only ecological products": ["eco", { true: "1", false: undefined }],
    },
    required: ["Client", "Service"],
    answer: fragment(
      '<div class="alert alert-success">Thank you, we will confirm by phone.</div>',
      '<div class="alert alert-danger">Please complete the form.</div>',
    ),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#client").fill(p.text("Client"));
      await page.locator("#mobile").fill(p.text("Mobile phone"));
      await page.locator("#select2-service-container").click();
      await page.getByRole("option", { name: p.text("Service") }).click();
      await page.locator(".select2-selection--multiple").click();
      for (const name of p.list("Extras")) await page.getByRole("option", { name }).click();
      await page.mouse.click(1200, 20);
      await page.getByPlaceholder("Pick a date").locator("visible=true").click();
      const calendar = page.locator(".flatpickr-calendar.open");
      const [y = "", m = ""] = p.text("First visit").split("-");
      await calendar.locator(".cur-year").fill(y);
      await page.keyboard.press("Enter");
      await calendar.locator(".flatpickr-monthDropdown-months").selectOption(String(Number(m) - 1));
      await calendar.getByLabel(day(p.text("First visit"), "MMMM D, YYYY"), { exact: true }).click();
      await page.locator("#at").click();
      const [hour = "", minute = ""] = p.text("Preferred time").split(":");
      await page.locator(".flatpickr-calendar.open .flatpickr-hour").fill(hour);
      await page.locator(".flatpickr-calendar.open .flatpickr-minute").fill(minute);
      await page.keyboard.press("Enter");
      await page.mouse.click(1200, 20);
      await page.locator("#size").fill(p.text("Floor space in m²"));
      await page.getByLabel(p.text("Frequency"), { exact: true }).check();
      await click(person, "Only ecological products", page.locator("#eco"));
    },
    send: "Order cleaning",
  },
  {
    id: "engines/formio-inspection",
    title: "Lift inspection",
    libraries: ["@formio/js"],
    people: people({
      Building: ["Mill Lane 4", "Dock Road 17", "Abbey Square 2"],
      Manufacturer: ["Kone", "Otis", "Schindler"],
      "Inspection day": ["2026-11-09", "2026-10-21", "2026-12-03"],
      "Rated load in kg": [630, 400, 1275],
      "Phone of the caretaker": ["(212) 555-0142", "(646) 555-0177", "(718) 555-0103"],
      Defects: [["Rope"], ["Door", "Light"], ["Door", "Brake", "Rope"]],
      Verdict: ["Passed with remarks", "Passed", "Failed"],
      "Put out of service": [true, false, true],
    }),
    wire: {
      Building: "data.building",
      Manufacturer: ["data.maker", { Otis: "ot", Schindler: "sc", Kone: "ko", "TK Elevator": "tk" }],
      "Inspection day": "data.visit",
      "Rated load in kg": "data.load",
      "Phone of the caretaker": "data.phone",
      Defects: ["data.defects", { Door: "door", Rope: "rope", Brake: "brake", Light: "light" }],
      Verdict: ["data.verdict", { Passed: "ok", "Passed with remarks": "remarks", Failed: "fail" }],
      "Put out of service": "data.closed",
    },
    required: ["Building", "Manufacturer"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("[name='data[building]']").fill(p.text("Building"));
      await type(page, page.locator("[name='data[phone]']"), p.text("Phone of the caretaker").replace(/\D/g, ""));
      await page.locator("[name='data[load]']").fill(p.text("Rated load in kg"));
      const choices = page.locator(".choices");
      await choices.first().click();
      await choices
        .first()
        .getByRole("option", { name: p.text("Manufacturer"), exact: true })
        .click();
      for (const name of p.list("Defects")) {
        await choices.last().locator("input").click();
        await choices.last().getByRole("option", { name }).click();
      }
      await page.keyboard.press("Escape");
      await page.locator(".formio-component-visit input.form-control:visible").fill(p.text("Inspection day"));
      await page.keyboard.press("Tab");
      await page.getByLabel(p.text("Verdict"), { exact: true }).check();
      await click(person, "Put out of service", page.getByLabel("Put out of service"));
    },
    send: "File report",
  },
];
