import type { Page } from "playwright";
import { click, dayOf, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people } from "../page.js";

const PHONES = ["+49 1512 3456789", "+49 1601 2223334", "+49 1709 8765432"];

/** Moves a slider's handle, which has the focus, from a value to another. */
async function slide(page: Page, steps: number): Promise<void> {
  await press(page, steps > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(steps));
}

export const pages: ComponentPage[] = [
  {
    id: "angular/material-coach",
    title: "Coach trip",
    libraries: ["@angular/material", "@angular/cdk"],
    people: people({
      "Full name": NAMES,
      Email: MAILS,
      Destination: ["Bruges", "Antwerp", "Vienna"],
      Departure: ["2027-01-22", "2026-12-05", "2027-03-19"],
      Excursions: [["Boat trip"], ["City tour", "Opera evening"], ["City tour", "Boat trip", "Museum pass"]],
      Board: ["Full board", "Half board", "Breakfast"],
      "Number of nights": [5, 2, 9],
      "Travel insurance": [true, false, true],
    }),
    wire: {
      "Full name": "name",
      Email: "email",
      Destination: "city",
      Departure: "departure",
      Excursions: [
        "excursions",
        { "City tour": "city", "Boat trip": "boat", "Museum pass": "museum", "Opera evening": "opera" },
      ],
      Board: ["board", { Breakfast: "BB", "Half board": "HB", "Full board": "FB" }],
      "Number of nights": "nights",
      "Travel insurance": "insured",
    },
    required: ["Full name", "Email", "Destination"],
    answer: byStatus({ booking: "T-5102" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Full name", "Email");
      await type(page, page.getByLabel("Destination"), p.text("Destination").slice(0, 3));
      await page.getByRole("option", { name: p.text("Destination") }).click();
      await type(page, page.getByLabel("Departure"), day(p.text("Departure"), "M/D/YYYY"));
      await pick(page, page.getByLabel("Excursions"), ...p.list("Excursions"));
      await page.keyboard.press("Escape");
      await page.getByRole("radio", { name: p.text("Board") }).click();
      await page.locator("input[type=range]").focus();
      await slide(page, p.number("Number of nights") - 3);
      await click(person, "Travel insurance", page.getByRole("switch"));
    },
    send: "Book now",
  },
  {
    id: "angular/zorro-gym",
    title: "Gym membership",
    libraries: ["ng-zorro-antd"],
    people: people({
      "Full name": NAMES,
      Studio: ["Old Brewery", "Riverside", "Central Station"],
      "Start of membership": ["2027-01-15", "2026-12-07", "2027-02-22"],
      "Time of first training": ["17:30", "08:45", "12:15"],
      "Body weight": [64, 88, 73],
      Interests: [["Yoga"], ["Weights", "Spinning"], ["Yoga", "Swimming", "Spinning"]],
      Contract: ["One year", "Monthly", "Two years"],
      Newsletter: [true, false, true],
    }),
    wire: {
      "Full name": "member.name",
      Studio: ["member.studio", { Riverside: "S01", "Central Station": "S02", "Old Brewery": "S03" }],
      "Start of membership": "member.startDate",
      "Time of first training": "member.firstTraining",
      "Body weight": "member.weight",
      Interests: ["member.interests", { Yoga: "yoga", Weights: "weights", Swimming: "swim", Spinning: "spin" }],
      Contract: ["member.contract", { Monthly: "1", "One year": "12", "Two years": "24" }],
      Newsletter: "member.newsletter",
    },
    required: ["Full name", "Studio"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Full name");
      await page.locator("nz-select").click();
      await page
        .locator("nz-option-item")
        .filter({ hasText: p.text("Studio") })
        .click();
      await page.locator("#start").click();
      const calendar = page.locator(".ant-picker-dropdown");
      const heading = async () => (await calendar.locator(".ant-picker-header-view").textContent()) ?? "";
      const back = calendar.locator(".ant-picker-header-prev-btn");
      await toMonth(p.text("Start of membership"), heading, back, calendar.locator(".ant-picker-header-next-btn"));
      await calendar
        .locator(".ant-picker-cell-in-view")
        .getByText(dayOf(p.text("Start of membership")), { exact: true })
        .click();
      await page.locator(".ant-picker-dropdown").waitFor({ state: "hidden" });
      await type(page, page.locator("#trial"), p.text("Time of first training"));
      await page.locator(".ant-picker-ok button").locator("visible=true").click();
      await page.locator("#weight").fill(p.text("Body weight"));
      for (const name of [...p.list("Interests"), p.text("Contract")])
        await page.locator("label").filter({ hasText: name }).click();
      await click(person, "Newsletter", page.locator("nz-switch"));
    },
    send: "Join now",
  },
  {
    id: "elements/ionic-salon",
    title: "Salon",
    libraries: ["@ionic/core"],
    people: people({
      Name: NAMES,
      "Phone number": ["020 7946 0123", "0151 496 0771", "030 901820"],
      Treatment: ["Colouring", "Haircut", "Beard trim"],
      Extras: [["Eyebrows"], ["Washing", "Head massage"], ["Washing", "Eyebrows"]],
      Date: ["2027-02-16", "2027-01-08", "2027-03-25"],
      Stylist: ["Maria", "No preference", "Tom"],
      "Hair length in cm": [35, 10, 45],
      "Send me a reminder": [true, false, true],
    }),
    wire: {
      Name: "name",
      "Phone number": "phone",
      Treatment: ["treatment", { Haircut: "cut", Colouring: "color", Perm: "perm", "Beard trim": "beard" }],
      Extras: ["extras", { Washing: "wash", "Head massage": "massage", Eyebrows: "brows" }],
      Date: "date",
      Stylist: ["stylist", { "No preference": "any", Maria: "maria", Tom: "tom" }],
      "Hair length in cm": "hairLength",
      "Send me a reminder": "reminder",
    },
    required: ["Name", "Treatment"],
    answer: byFlag({ success: true, id: 88 }, { success: false, error: "Name and treatment are missing" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#name input").fill(p.text("Name"));
      await page.locator("#phone input").fill(p.text("Phone number"));
      await page.locator("#treatment").click();
      await page
        .locator("ion-alert")
        .getByRole("radio", { name: p.text("Treatment") })
        .click();
      await page.locator("ion-alert").getByRole("button", { name: "OK" }).click();
      await page.locator("ion-alert").waitFor({ state: "detached" });
      await page.locator("#extras").click();
      for (const name of p.list("Extras")) await page.locator("ion-popover").getByText(name).click();
      await page.locator("ion-popover").waitFor();
      await page.keyboard.press("Escape");
      await page.locator("ion-popover").waitFor({ state: "detached" });
      await page.locator("ion-datetime-button button").first().click();
      const calendar = page.locator("ion-datetime");
      await page.locator("ion-datetime.datetime-ready").waitFor();
      const [y, m = 0, d] = p.text("Date").split("-").map(Number);
      const heading = calendar.locator(".calendar-month-year");
      for (let month = 1; month < m; month++) {
        const shown = (await heading.textContent()) ?? "";
        await calendar.locator(".calendar-next-prev ion-button").last().click();
        await heading.filter({ hasNotText: shown }).waitFor();
      }
      // the month is drawn beside its neighbours, and slides into view
      await calendar.locator(".calendar-body").evaluate(async (body) => {
        while (Math.round(body.scrollLeft) !== body.clientWidth) await new Promise(requestAnimationFrame);
      });
      await calendar.locator(`button[data-day="${d}"][data-month="${m}"][data-year="${y}"]`).click();
      await calendar.getByText("Done").click();
      await page.locator("ion-modal").waitFor({ state: "hidden" });
      await page
        .locator("ion-radio")
        .filter({ hasText: p.text("Stylist") })
        .click();
      await page.locator("#length").getByRole("slider").focus();
      await slide(page, (p.number("Hair length in cm") - 20) / 5);
      await click(person, "Send me a reminder", page.locator("#reminder"));
    },
    send: "Book appointment",
  },
  {
    id: "elements/vaadin-hotel",
    title: "Room",
    libraries: ["@vaadin/combo-box", "@vaadin/date-picker", "@vaadin/multi-select-combo-box", "@vaadin/time-picker"],
    people: people({
      "Guest name": NAMES,
      Phone: ["+44 20 7946 0123", "+44 151 496 0771", "+49 30 901820"],
      Hotel: ["Seaview Lodge", "Hotel Astoria", "The Old Mill"],
      "Arrival date": ["2027-01-19", "2026-12-11", "2027-04-08"],
      "Arrival time": ["18:30", "15:00", "21:30"],
      Services: [["Spa"], ["Parking", "Airport shuttle"], ["Parking", "Spa", "Baby cot"]],
      Room: ["Double room", "Single room", "Suite"],
      "I will bring a pet": [true, false, true],
    }),
    wire: {
      "Guest name": "guest",
      Phone: "phone",
      Hotel: ["hotel", { "Hotel Astoria": "21", "Park Inn": "22", "Seaview Lodge": "23", "The Old Mill": "24" }],
      "Arrival date": "arrival",
      "Arrival time": "time",
      Services: ["services", { Parking: "park", Spa: "spa", "Baby cot": "cot", "Airport shuttle": "shuttle" }],
      Room: ["room", { "Single room": "single", "Double room": "double", Suite: "suite" }],
      "I will bring a pet": ["pet", (is: boolean) => (is ? "yes" : "no")],
    },
    required: ["Guest name", "Hotel"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Guest name", "Phone");
      await type(page, page.getByLabel("Hotel"), p.text("Hotel").slice(0, 5));
      await page.getByRole("option", { name: p.text("Hotel") }).click();
      for (const label of ["Arrival date", "Arrival time"]) {
        await type(page, page.getByLabel(label), p.text(label));
        await page.keyboard.press("Enter");
      }
      await pick(page, page.getByLabel("Services"), ...p.list("Services"));
      await page.keyboard.press("Escape");
      await page.getByLabel(p.text("Room")).check();
      await click(person, "I will bring a pet", page.getByLabel("I will bring a pet"));
    },
    send: "Reserve",
  },
  {
    id: "svelte/select-courier",
    title: "Courier",
    libraries: ["svelte-select", "date-picker-svelte", "svelte-range-slider-pips", "felte", "yup"],
    people: people({
      Sender: NAMES,
      Street: ["12 Mill Lane", "Harbour Road 5", "89 Station Street"],
      Carrier: ["GLS", "DHL", "UPS"],
      Options: [["Signature"], ["Insurance", "Tracking"], ["Insurance", "Saturday delivery", "Signature"]],
      "Pickup date": ["2026-12-14", "2027-01-07", "2027-02-25"],
      "Weight in kg": [12, 3, 21],
      "Parcel size": ["Medium", "Small", "Large"],
      "Contents are fragile": [true, false, true],
    }),
    wire: {
      Sender: "sender",
      Street: "street",
      Carrier: ["carrier", (name: string) => name.toLowerCase()],
      Options: ["options", { Insurance: "ins", "Saturday delivery": "sat", Signature: "sig", Tracking: "trk" }],
      "Pickup date": "pickupDate",
      "Weight in kg": "weightKg",
      "Parcel size": ["size", (size: string) => size.slice(0, 1)],
      "Contents are fragile": "fragile",
    },
    required: ["Sender", "Street", "Carrier"],
    answer: byStatus({ order: "C-300" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Sender", "Street");
      for (const [id, ...names] of [
        ["carrier", p.text("Carrier")],
        ["options", ...p.list("Options")],
      ])
        for (const name of names) {
          await page.locator(`#${id}`).click();
          await page.locator(".svelte-select-list .item").filter({ hasText: name }).click();
        }
      await page.locator("#pickup").fill(p.text("Pickup date"));
      await page.keyboard.press("Enter");
      await page.getByRole("slider").focus();
      await slide(page, p.number("Weight in kg") - 5);
      await page.getByLabel(p.text("Parcel size")).check();
      await click(person, "Contents are fragile", page.getByLabel("Contents are fragile"));
    },
    send: "Order courier",
  },
  {
    id: "solid/ark-studio",
    title: "Studio",
    libraries: ["@ark-ui/solid", "solid-js"],
    people: people({
      "Name of the band": ["The Lanterns", "Blue Monday", "Okoro Quartet"],
      Room: ["Rehearsal room", "Studio A", "Podcast booth"],
      Day: ["2027-01-13", "2026-12-09", "2027-02-27"],
      Hours: [4, 1, 7],
      Equipment: [["Grand piano"], ["Drum kit", "Guitar amp"], ["Drum kit", "Microphones", "Guitar amp"]],
      "Time of day": ["Evening", "Morning", "Afternoon"],
      "Your experience": [4, 2, 5],
      "We need a sound engineer": [true, false, true],
    }),
    wire: {
      "Name of the band": "reservation.band",
      Room: ["reservation.room", { "Studio A": "a", "Studio B": "b", "Rehearsal room": "r", "Podcast booth": "p" }],
      Day: "reservation.date",
      Hours: "reservation.hours",
      Equipment: [
        "reservation.gear",
        { "Drum kit": "drums", "Grand piano": "piano", Microphones: "mics", "Guitar amp": "amp" },
      ],
      "Time of day": ["reservation.slot", (slot: string) => slot.toLowerCase()],
      "Your experience": "reservation.experience",
      "We need a sound engineer": "reservation.engineer",
    },
    required: ["Name of the band", "Room"],
    answer: byFlag({ status: "confirmed" }, { status: "rejected" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Name of the band");
      await pick(page, page.getByRole("combobox", { name: "Room" }), p.text("Room"));
      await page.getByText("📅").click();
      const calendar = page.locator("[data-scope=date-picker][data-part=content]");
      const heading = async () => (await calendar.locator("[data-part=view-trigger]").textContent()) ?? "";
      const back = calendar.locator("[data-part=prev-trigger]");
      await toMonth(p.text("Day"), heading, back, calendar.locator("[data-part=next-trigger]"));
      await calendar
        .locator("[data-part=table-cell-trigger]:not([data-outside-range])")
        .getByText(dayOf(p.text("Day")), { exact: true })
        .click();
      await page.getByLabel("Hours").fill(p.text("Hours"));
      await pick(page, page.getByRole("combobox", { name: "Equipment" }), ...p.list("Equipment"));
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Time of day"), { exact: true }).click();
      await page
        .locator("[data-scope=rating-group][data-part=item]")
        .nth(p.number("Your experience") - 1)
        .click();
      await click(person, "We need a sound engineer", page.getByText("We need a sound engineer"));
    },
    send: "Book studio",
  },
  {
    id: "engines/survey-luggage",
    title: "Lost luggage",
    libraries: ["survey-core", "survey-js-ui"],
    people: people({
      Passenger: NAMES,
      "E-mail": MAILS,
      Airport: ["Paris Charles de Gaulle", "Frankfurt", "Vienna"],
      "Date of the flight": ["2026-11-03", "2026-10-21", "2026-09-30"],
      Contents: [["Electronics"], ["Clothes", "Toys"], ["Clothes", "Medicine", "Sports equipment"]],
      "Weight in kg": [18, 7, 23],
      "Type of luggage": ["Backpack", "Suitcase", "Box"],
      "Is your luggage insured?": [true, false, true],
    }),
    wire: {
      Passenger: "report.passenger",
      "E-mail": "report.email",
      Airport: [
        "report.airport",
        { Frankfurt: "FRA", "London Heathrow": "LHR", "Paris Charles de Gaulle": "CDG", Vienna: "VIE" },
      ],
      "Date of the flight": "report.flightDate",
      Contents: "report.contents",
      "Weight in kg": "report.weight",
      "Type of luggage": ["report.kind", { Suitcase: 1, Backpack: 2, Box: 3 }],
      "Is your luggage insured?": "report.insured",
    },
    required: ["Passenger", "Airport"],
    answer: byFlag({ saved: true }, { saved: false }),
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("textbox", { name: "Passenger" }).fill(p.text("Passenger"));
      await page.getByRole("textbox", { name: "E-mail" }).fill(p.text("E-mail"));
      await pick(page, page.locator(".sd-dropdown").first(), p.text("Airport"));
      await page.locator("input[type=date]").fill(p.text("Date of the flight"));
      await pick(page, page.locator(".sd-dropdown").last(), ...p.list("Contents"));
      await page.keyboard.press("Escape");
      await page.locator("input[type=number]").fill(p.text("Weight in kg"));
      await page.getByText(p.text("Type of luggage"), { exact: true }).click();
      await page.getByText(p.on("Is your luggage insured?") ? "Yes" : "No", { exact: true }).click();
    },
    send: "Report luggage",
  },
  {
    id: "engines/finalform-tasting",
    title: "Wine tasting",
    libraries: [
      "react-final-form",
      "react-bootstrap",
      "react-select",
      "react-datepicker",
      "rc-slider",
      "react-phone-number-input",
    ],
    people: people({
      "Contact person": NAMES,
      "Mobile phone": PHONES,
      Vineyard: ["Mill Valley", "Blue Slate Estate", "Sunny Terrace"],
      "Date and time": ["2027-01-16 17:30", "2026-12-12 15:00", "2027-03-06 18:30"],
      "Number of guests": [8, 4, 13],
      "Dietary requirements": [["Vegan"], ["Vegetarian", "No nuts"], ["Vegetarian", "Gluten free", "No nuts"]],
      Package: ["Five wines", "Three wines", "Eight wines"],
      "We need a taxi home": [true, false, true],
    }),
    wire: {
      "Contact person": "tasting.contact",
      "Mobile phone": ["tasting.phone", (phone: string) => phone.replaceAll(" ", "")],
      Vineyard: [
        "tasting.vineyardId",
        { "Blue Slate Estate": 301, "Chapel Hill": 302, "Mill Valley": 303, "Sunny Terrace": 304 },
      ],
      "Date and time": ["tasting.when", (moment: string) => moment.replace(" ", "T")],
      "Number of guests": "tasting.guests",
      "Dietary requirements": [
        "tasting.diets",
        { Vegetarian: "vegetarian", Vegan: "vegan", "Gluten free": "gluten", "No nuts": "nuts" },
      ],
      Package: ["tasting.package", { "Three wines": "basic", "Five wines": "classic", "Eight wines": "premium" }],
      "We need a taxi home": "tasting.driver",
    },
    required: ["Contact person", "Vineyard"],
    answer: byStatus({ ok: true }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Contact person", "Mobile phone");
      await pick(page, page.locator("#vineyard"), p.text("Vineyard"));
      const [date = "", time = ""] = p.text("Date and time").split(" ");
      await page.locator("#when").fill(`${day(date, "DD.MM.YYYY")} ${time}`);
      await page.keyboard.press("Enter");
      await page.getByRole("slider").focus();
      await slide(page, p.number("Number of guests") - 2);
      for (const name of p.list("Dietary requirements")) await pick(page, page.locator("#diets"), name);
      await page.getByLabel(p.text("Package")).check();
      await click(person, "We need a taxi home", page.getByLabel("We need a taxi home"));
    },
    send: "Book tasting",
  },
];
