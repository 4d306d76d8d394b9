import type { Page } from "playwright";
import { click, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, graphql, MAILS, NAMES, people } from "../page.js";

const digits = (text: string): string => text.replace(/\D/g, "");

/** Clicks a button where it is visible, as one that leads to the next part of a form. */
async function onward(page: Page, name: string): Promise<void> {
  const button = page.getByRole("button", { name, exact: true });
  if (await button.isVisible()) await button.click();
}

/** Moves a slider that has the focus by keys. */
const steps = (page: Page, count: number): Promise<void> =>
  press(page, count > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(count));

export const pages: ComponentPage[] = [
  {
    id: "react/mui-crash",
    title: "Accident claim",
    libraries: ["@mui/material", "@mui/x-date-pickers", "react-hook-form", "react-number-format"],
    people: people({
      "Policy holder": NAMES,
      Garage: ["Miller & Sons", "City Bodywork", "Harbour Motors"],
      "Time of the accident": ["2026-11-03 08:25", "2026-10-19 17:40", "2026-11-11 13:05"],
      "You were": ["Passenger", "Driver", "Not there"],
      "Damaged parts": [["Door"], ["Bumper", "Headlamp"], ["Bumper", "Windscreen", "Door"]],
      "Estimated cost": [1250, 480.5, 3999.9],
      "I need a rental car": [true, false, true],
      "What happened": ["A van turned left", "Ice on the bridge", "Somebody hit the parked car"],
    }),
    wire: {
      "Policy holder": "claim.holder",
      Garage: "claim.garage",
      "Time of the accident": ["claim.at", (at: string) => `${at.replace(" ", "T")}:00`],
      "You were": ["claim.role", { Driver: "drv", Passenger: "pas", "Not there": "not" }],
      "Damaged parts": ["claim.parts", { Bumper: "bmp", Door: "dor", Headlamp: "lmp", Windscreen: "scr" }],
      "Estimated cost": ["claim.cost_cents", (cost: number) => Math.round(cost * 100)],
      "I need a rental car": "claim.rental",
      "What happened": "claim.story",
    },
    required: ["Policy holder", "Garage", "Time of the accident"],
    answer: byStatus({ claim: "C-771" }),
    lookup: ["City Bodywork", "Corner Garage", "Harbour Motors", "Miller & Sons", "Mill Road Repairs"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Policy holder", "What happened");
      await type(page, page.getByLabel("Garage"), p.text("Garage").slice(0, 4));
      await page.getByRole("option", { name: p.text("Garage") }).click();
      const [date = "", time = ""] = p.text("Time of the accident").split(" ");
      await page.getByRole("spinbutton", { name: "Day" }).click();
      await page.keyboard.type(digits(`${day(date, "DDMMYYYY")}${time}`), { delay: 30 });
      await page.getByRole("button", { name: p.text("You were"), exact: true }).click();
      await pick(page, page.getByRole("combobox", { name: "Damaged parts" }), ...p.list("Damaged parts"));
      await page.keyboard.press("Escape");
      await page.getByLabel("Estimated cost").fill(p.text("Estimated cost"));
      await click(person, "I need a rental car", page.getByRole("switch"));
    },
    async send(page) {
      await page.getByRole("button", { name: "Report accident" }).click();
      const yes = page.getByRole("button", { name: "Yes, send" });
      await yes.click({ timeout: 1000 }).catch(() => undefined);
    },
  },
  {
    id: "react/antd-concert",
    title: "Concert",
    libraries: ["antd"],
    people: people({
      Concert: ["Spring strings", "Brass night", "Winter voices"],
      Hall: ["Chapel", "Glass hall", "Great hall"],
      Seating: ["At tables", "Standing", "In rows"],
      "Doors open": ["18:30", "19:15", "17:45"],
      Technics: [["Piano"], ["Microphones", "Screen"], ["Piano", "Spotlights", "Stage stairs"]],
      Fee: [1800, 950, 12500],
      "Share of takings": [20, 10, 50],
      Catering: [["Drinks"], ["Buffet", "Cakes"], ["Buffet", "Drinks", "Cakes"]],
      Remarks: ["The choir needs a room", "Two lorries unload at noon", "Please heat early"],
    }),
    wire: {
      Concert: "concert.title",
      Hall: ["concert.hall", { "Small hall": "n1", "Glass hall": "n2", "Great hall": "s1", Chapel: "s2" }],
      Seating: ["concert.seating", { "In rows": "rows", "At tables": "tables", Standing: "none" }],
      "Doors open": ["concert.doors", (time: string) => `${time}:00`],
      Technics: [
        "concert.gear",
        { Piano: "g1", Microphones: "g2", Spotlights: "g3", Screen: "g4", "Stage stairs": "g5" },
      ],
      Fee: "concert.fee",
      "Share of takings": "concert.share",
      Catering: ["concert.food", { Buffet: "b", Drinks: "d", Cakes: "c" }],
      Remarks: "concert.remarks",
    },
    required: ["Concert", "Hall"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#title").fill(p.text("Concert"));
      await page.locator("#hall").click();
      await page.keyboard.type(p.text("Hall"));
      await page
        .locator(".ant-select-tree-title")
        .filter({ hasText: p.text("Hall") })
        .click();
      await page
        .locator(".ant-segmented-item")
        .filter({ hasText: p.text("Seating") })
        .click();
      await page.locator("#doors").fill(p.text("Doors open"));
      await page.locator(".ant-picker-ok button").click();
      for (const name of p.list("Technics"))
        await page.locator(".ant-transfer-list-content-item").filter({ hasText: name }).click();
      await page.locator(".ant-transfer .ant-btn").first().click();
      await page.locator("#fee").fill(p.text("Fee"));
      await page
        .locator(".ant-slider-mark-text")
        .filter({ hasText: `${p.text("Share of takings")} %` })
        .click();
      for (const name of p.list("Catering")) await page.getByLabel(name, { exact: true }).check();
      await page.locator("#remarks").fill(p.text("Remarks"));
    },
    send: "Request the hall",
  },
  {
    id: "react/mantine-solar",
    title: "Solar roof",
    libraries: ["@mantine/core", "@mantine/dates", "@mantine/form"],
    people: people({
      Customer: NAMES,
      Town: ["Chur", "Aarau", "Genf"],
      Roof: ["Gable roof", "Shed roof", "Flat roof"],
      Area: [85, 240, 1150],
      "Own use in percent": [70, 30, 90],
      Visit: ["2026-12-09 10:30", "2027-01-14 08:15", "2027-02-02 16:45"],
      Extras: [["Wallbox"], ["Battery", "Heat pump control"], ["Battery", "Wallbox", "Heat pump control"]],
      "Photo of the meter": ["meter.jpg", "cellar.png", "counter.pdf"],
      "Send me news": [true, false, true],
    }),
    wire: {
      Customer: "solar[customer]",
      Town: "solar[town]",
      Roof: ["solar[roof]", { "Flat roof": "flat", "Gable roof": "gable", "Shed roof": "shed" }],
      Area: "solar[area]",
      "Own use in percent": "solar[share]",
      Visit: ["solar[visit]", (at: string) => `${at}:00`],
      Extras: ["solar[extras][]", { Battery: "bat", Wallbox: "box", "Heat pump control": "pump" }],
      "Photo of the meter": "solar[photo]",
      "Send me news": ["solar[news]", { true: "1", false: "0" }],
    },
    required: ["Customer", "Roof", "Visit"],
    answer: byFlag({ ok: true }, { ok: false, message: "This is not complete" }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Customer").fill(p.text("Customer"));
      await write(page, person, "Town");
      await page.keyboard.press("Tab");
      await page
        .getByRole("radio")
        .filter({ hasText: p.text("Roof") })
        .click();
      await page.getByLabel("Area").fill(p.text("Area"));
      await page.getByRole("slider").focus();
      await steps(page, (p.number("Own use in percent") - 50) / 10);
      await page.getByRole("button", { name: "Next" }).click();
      const [date = "", time = ""] = p.text("Visit").split(" ");
      await page.getByRole("button", { name: "Visit", exact: true }).click();
      await toMonth(
        date,
        () => page.locator(".mantine-DateTimePicker-calendarHeaderLevel").innerText(),
        page.locator(".mantine-DateTimePicker-calendarHeaderControl").first(),
        page.locator(".mantine-DateTimePicker-calendarHeaderControl").last(),
      );
      await page.getByRole("button", { name: day(date, "D MMMM YYYY"), exact: true }).click();
      const clock = page.locator(".mantine-DateTimePicker-timeWrapper");
      for (const [i, part] of time.split(":").entries()) await clock.getByRole("spinbutton").nth(i).fill(part);
      await page.locator(".mantine-DateTimePicker-submitButton").click();
      for (const name of p.list("Extras")) await page.getByRole("checkbox").filter({ hasText: name }).click();
      const chooser = page.waitForEvent("filechooser");
      await page.getByLabel("Photo of the meter").click();
      const name = p.text("Photo of the meter");
      await (await chooser).setFiles({ name, mimeType: "image/png", buffer: Buffer.from("meter") });
      await click(person, "Send me news", page.getByRole("switch"));
    },
    async send(page) {
      await onward(page, "Next");
      await onward(page, "Ask for an offer");
    },
  },
  {
    id: "react/chakra-trainer",
    title: "Trainer",
    libraries: ["@chakra-ui/react", "react-hook-form"],
    people: people({
      "Full name": NAMES,
      Sport: ["Rowing", "Handball", "Swimming"],
      Club: ["Old Mill", "Blue Herons", "Red Kites"],
      Licence: ["Advanced", "Professional", "Basic"],
      "Hours a week": [8, 14, 6],
      Languages: [["Dutch"], ["Czech", "German"], ["Welsh", "French", "Greek"]],
      "Our impression": [4, 5, 3],
      "Travels to away games": [true, false, true],
      About: ["Ran a summer camp", "Played for ten years", "Knows every rule"],
    }),
    wire: {
      "Full name": "trainer.name",
      Sport: ["trainer.sport", { Basketball: "b1", Handball: "b2", Rowing: "w1", Swimming: "w2" }],
      Club: "trainer.club",
      Licence: ["trainer.level", { Basic: "C", Advanced: "B", Professional: "A" }],
      "Hours a week": "trainer.hours",
      Languages: "trainer.skills",
      "Our impression": "trainer.grade",
      "Travels to away games": "trainer.away",
      About: "trainer.about",
    },
    required: ["Full name", "Sport"],
    answer: byFlag({ trainer: 58 }, { trainer: null }),
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("button", { name: "New trainer" }).click();
      await page.getByLabel("Full name").fill(p.text("Full name"));
      await pick(page, page.getByRole("combobox", { name: "Sport" }), p.text("Sport"));
      await pick(page, page.getByRole("combobox", { name: "Club" }), p.text("Club"));
      await page.getByText(p.text("Licence"), { exact: true }).click();
      await page.getByRole("slider").first().focus();
      await steps(page, (p.number("Hours a week") - 4) / 2);
      for (const name of p.list("Languages")) {
        await type(page, page.getByPlaceholder("Add one"), name);
        await page.keyboard.press("Enter");
      }
      await page.getByRole("radio", { name: `${p.text("Our impression")} stars` }).click();
      await click(person, "Travels to away games", page.getByText("Travels to away games"));
      await page.getByLabel("About").fill(p.text("About"));
    },
    async send(page) {
      await onward(page, "New trainer");
      await page.getByRole("button", { name: "Save trainer" }).click();
    },
  },
  {
    id: "react/shadcn-lease",
    title: "Office lease",
    libraries: ["radix-ui", "react-day-picker", "react-hook-form", "input-otp"],
    people: people({
      Company: ["Birch & Co", "Delta Works", "Nine Lamps"],
      Country: ["United States", "Portugal", "Belgium"],
      City: ["Denver", "Porto", "Ghent"],
      "Start date": ["2026-12-14", "2027-01-05", "2027-02-22"],
      Plan: ["Two years", "Own suite", "Flexible"],
      Seats: [20, 45, 10],
      "Add-ons": [
        ["Parking space"],
        ["Mail handling", "Telephone booth"],
        ["Parking space", "Height-adjustable desks"],
      ],
      "Automatic payment": [true, false, true],
      "Voucher code": ["K7P2QX", "M4Z9TB", "W3H8RC"],
    }),
    wire: {
      Company: "variables.input.company",
      Country: ["variables.input.country", { Canada: "ca", "United States": "us", Belgium: "be", Portugal: "pt" }],
      City: ["variables.input.city", (city: string) => city.toLowerCase()],
      "Start date": "variables.input.start",
      Plan: ["variables.input.plan", { Flexible: "FLEX", "Two years": "FIXED", "Own suite": "SUITE" }],
      Seats: "variables.input.seats",
      "Add-ons": [
        "variables.input.addons",
        {
          "Height-adjustable desks": "desk",
          "Parking space": "park",
          "Mail handling": "mail",
          "Telephone booth": "call",
        },
      ],
      "Automatic payment": "variables.input.autopay",
      "Voucher code": "variables.input.code",
    },
    required: ["Company", "Country", "Start date"],
    answer: graphql("lease"),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#company").fill(p.text("Company"));
      await pick(page, page.locator("#country"), p.text("Country"));
      await pick(page, page.locator("#city"), p.text("City"));
      await page.getByRole("button", { name: "Pick a date" }).click();
      await toMonth(
        p.text("Start date"),
        () => page.locator(".rdp-caption_label").innerText(),
        page.locator(".rdp-button_previous"),
        page.locator(".rdp-button_next"),
      );
      await page.locator(`[data-day="${p.text("Start date")}"] button`).click();
      await page.getByText(p.text("Plan"), { exact: true }).click();
      await page.getByRole("slider").focus();
      await steps(page, (p.number("Seats") - 5) / 5);
      for (const name of p.list("Add-ons")) await page.getByLabel(name).click();
      await click(person, "Automatic payment", page.getByRole("switch"));
      await type(page, page.locator("#code"), p.text("Voucher code"));
    },
    send: "Request lease",
  },
  {
    id: "angular/material-hall",
    title: "Room booking",
    libraries: ["@angular/material", "@angular/forms"],
    people: people({
      Organiser: NAMES,
      Room: ["Ballroom", "Library", "Garden room"],
      Guests: [120, 35, 60],
      Keywords: [["wedding"], ["reading", "poems"], ["jazz", "wine", "summer"]],
      Period: ["2026-12-11 - 2026-12-13", "2027-01-08 - 2027-01-09", "2027-02-19 - 2027-02-21"],
      "Doors open at": ["18:30", "10:00", "16:30"],
      Services: [["Sound"], ["Catering", "Cleaning"], ["Catering", "Sound", "Guards"]],
      "A ramp is needed": [true, false, true],
      Message: ["The band comes at noon", "We bring the books", "Please cool the wine"],
    }),
    wire: {
      Organiser: "booking.organiser",
      Room: ["booking.room", { "Garden room": 101, Library: 102, Ballroom: 201, Studio: 202 }],
      Guests: "booking.guests",
      Keywords: "booking.keywords",
      Period: ["booking.period", (period: string) => ({ from: period.split(" - ")[0], to: period.split(" - ")[1] })],
      "Doors open at": "booking.doors",
      Services: ["booking.services", { Catering: "cat", Sound: "snd", Cleaning: "cln", Guards: "grd" }],
      "A ramp is needed": "booking.ramp",
      Message: "booking.message",
    },
    required: ["Organiser", "Room", "Period"],
    answer: byStatus({ booking: 9041 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Organiser").fill(p.text("Organiser"));
      await pick(page, page.getByRole("combobox", { name: "Room" }), p.text("Room"));
      await page.getByLabel("Guests").fill(p.text("Guests"));
      for (const word of p.list("Keywords")) {
        await type(page, page.getByLabel("Keywords"), word);
        await page.keyboard.press("Enter");
      }
      await page.getByRole("button", { name: "Continue" }).click();
      const [from = "", to = ""] = p.text("Period").split(" - ");
      await page.getByPlaceholder("Start").fill(day(from, "M/D/YYYY"));
      await page.getByPlaceholder("End").fill(day(to, "M/D/YYYY"));
      await page.getByLabel("Doors open at").fill(p.text("Doors open at"));
      await page.keyboard.press("Tab");
      for (const name of p.list("Services")) await page.getByRole("option", { name }).click();
      await click(person, "A ramp is needed", page.getByLabel("A ramp is needed"));
      await page.getByLabel("Message").fill(p.text("Message"));
    },
    async send(page) {
      await onward(page, "Continue");
      await onward(page, "Book the room");
    },
  },
  {
    id: "angular/primeng-repair",
    title: "Repair order",
    libraries: ["primeng"],
    people: people({
      "Reported by": NAMES,
      "Machine part": ["Valve", "Motor", "Stamp"],
      Signs: [["noise"], ["smoke", "smell"], ["heat", "sparks", "drops"]],
      "How urgent?": ["This week", "At once", "With the next service"],
      Wear: [4, 2, 5],
      "Ready by": ["2026-12-10 14:30", "2027-01-12 09:00", "2027-02-04 16:15"],
      "Planned hours": [6, 2.5, 12],
      Crew: [["Carla"], ["Aino", "Dmitri"], ["Aino", "Bashir", "Carla"]],
      Notes: ["Oil the bearing first", "Stop the line at noon", "Order a new gasket"],
      "Spare parts in stock": [true, false, true],
    }),
    wire: {
      "Reported by": "order.reporter",
      "Machine part": ["order.part", { Belt: "belt", Motor: "motor", Stamp: "stamp", Table: "table", Valve: "valve" }],
      Signs: "order.signs",
      "How urgent?": ["order.urgency", { "At once": "now", "This week": "week", "With the next service": "plan" }],
      Wear: "order.wear",
      "Ready by": "order.due",
      "Planned hours": ["order.minutes", (hours: number) => hours * 60],
      Crew: ["order.crew", { Aino: 7, Bashir: 11, Carla: 19, Dmitri: 23 }],
      Notes: "order.notes",
      "Spare parts in stock": "order.spare",
    },
    required: ["Reported by", "Machine part"],
    answer: byFlag({ id: 5512 }, { id: null }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#reporter").fill(p.text("Reported by"));
      await page.locator("p-treeselect").click();
      const group = /^(Belt|Motor)$/.test(p.text("Machine part")) ? "Drive" : "Press";
      await page.getByRole("treeitem", { name: group }).getByRole("button").first().click();
      await page.getByText(p.text("Machine part"), { exact: true }).click();
      for (const sign of p.list("Signs")) {
        await type(page, page.locator("#signs"), sign);
        await page.keyboard.press("Enter");
      }
      await page.getByText(p.text("How urgent?"), { exact: true }).click();
      await page
        .locator(".p-rating-option")
        .nth(p.number("Wear") - 1)
        .click();
      await page.getByRole("tab", { name: "Work" }).click();
      await type(page, page.locator("#due"), p.text("Ready by"));
      await page.keyboard.press("Escape");
      await page.locator("#hours").fill(p.text("Planned hours"));
      await page.keyboard.press("Tab");
      for (const name of p.list("Crew")) await page.getByRole("option", { name }).click();
      await page.locator("#notes").fill(p.text("Notes"));
      await click(person, "Spare parts in stock", page.getByRole("button", { name: "Spare parts in stock" }));
    },
    async send(page) {
      await page.getByRole("button", { name: "Create order" }).click();
      const yes = page.getByRole("button", { name: "Create", exact: true });
      await yes.click({ timeout: 1000 }).catch(() => undefined);
    },
  },
  {
    id: "elements/webawesome-camp",
    title: "Summer camp",
    libraries: ["@awesome.me/webawesome"],
    people: people({
      Child: NAMES,
      "Date of birth": ["2015-03-09", "2013-11-24", "2016-07-18"],
      Week: ["Third week of July", "Second week of August", "First week of July"],
      Arrival: ["09:30", "14:15", "10:45"],
      "Sleeps in": ["Hut", "At home", "Tent"],
      "Pocket money": [25, 40, 15],
      "May take part in": [["Climbing"], ["Swimming", "Riding"], ["Swimming", "Climbing", "Riding"]],
      Allergies: [["nuts"], ["milk", "pollen"], ["wasps", "cats", "eggs"]],
      "Photos are allowed": [true, false, true],
    }),
    wire: {
      Child: "child",
      "Date of birth": "born",
      Week: [
        "week",
        {
          "First week of July": "w27",
          "Third week of July": "w29",
          "Second week of August": "w32",
          "Last week of August": "w34",
        },
      ],
      Arrival: "arrival",
      "Sleeps in": ["tent", { Tent: "t", Hut: "h", "At home": "n" }],
      "Pocket money": "money",
      "May take part in": ["acts", { Swimming: "swim", Climbing: "climb", Riding: "ride" }],
      Allergies: "allergies",
      "Photos are allowed": ["photos", (is: boolean) => (is ? "yes" : undefined)],
    },
    required: ["Child", "Week"],
    answer: byFlag({ camper: 77 }, { camper: 0 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("wa-input[name=child] input").fill(p.text("Child"));
      for (const part of ["day", "month", "year"] as const) {
        const text = day(p.text("Date of birth"), { day: "DD", month: "MM", year: "YYYY" }[part]);
        await page.locator(`wa-known-date [part~="field-${part}"] input`).fill(text);
      }
      await page.locator("wa-select").click();
      await page
        .locator("wa-option")
        .filter({ hasText: p.text("Week") })
        .click();
      await page.locator('wa-time-input [part~="segment"]').first().click();
      await page.keyboard.type(digits(p.text("Arrival")), { delay: 40 });
      await page.keyboard.press("Escape");
      await page
        .locator("wa-radio")
        .filter({ hasText: p.text("Sleeps in") })
        .click();
      await page.locator("wa-number-input input").fill(p.text("Pocket money"));
      for (const name of p.list("May take part in"))
        await page.locator("wa-checkbox").filter({ hasText: name }).click();
      for (const item of p.list("Allergies")) {
        await type(page, page.locator("wa-tag-input input"), item);
        await page.keyboard.press("Enter");
      }
      await click(person, "Photos are allowed", page.locator("wa-switch [part~=control]"));
    },
    async send(page) {
      await page.locator("form > wa-button").click();
    },
  },
  {
    id: "elements/ui5-shipment",
    title: "Shipment",
    libraries: ["@ui5/webcomponents"],
    people: people({
      Contact: MAILS,
      Port: ["Riga", "Rotterdam", "Bergen"],
      "Loading window": ["2026-12-07 - 2026-12-09", "2027-01-18 - 2027-01-20", "2027-02-08 - 2027-02-11"],
      "Gate opens": ["06:30", "13:15", "09:45"],
      "Transport mode": ["Rail", "Sea", "Road"],
      "Load in percent": [60, 85, 25],
      References: [["PO-118"], ["PO-204", "PO-205"], ["PO-311", "PO-312", "PO-399"]],
      Cooled: [true, false, true],
      "Handling note": ["Keep it upright", "Two pallets are wet", "Call the gate first"],
    }),
    wire: {
      Contact: "d.Contact",
      Port: "d.Port",
      "Loading window": [
        "d.Window",
        (window: string) => {
          const [from, to] = window.split(" - ").map((iso) => iso.replaceAll("-", ""));
          return { From: from, To: to };
        },
      ],
      "Gate opens": "d.Gate",
      "Transport mode": ["d.Mode", { Road: "01", Rail: "02", Sea: "03" }],
      "Load in percent": "d.Load",
      References: "d.Refs.results",
      Cooled: ["d.Cooled", (is: boolean) => (is ? "X" : "")],
      "Handling note": "d.Note",
    },
    required: ["Contact", "Port"],
    answer: byStatus({ d: { Shipment: "80004711" } }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#contact input").fill(p.text("Contact"));
      await page.locator("#port input").fill(p.text("Port"));
      await page.keyboard.press("Enter");
      const ends = p.text("Loading window").split(" - ");
      await page.locator("#window input").fill(ends.map((iso) => day(iso, "DD.MM.YYYY")).join(" - "));
      await page.keyboard.press("Enter");
      await page.locator("#gate input").first().fill(p.text("Gate opens"));
      await page.keyboard.press("Enter");
      await page
        .locator("#mode ui5-segmented-button-item")
        .filter({ hasText: p.text("Transport mode") })
        .click();
      await page.locator("#load").getByRole("slider").focus();
      await steps(page, p.number("Load in percent") / 5);
      for (const item of p.list("References")) {
        await type(page, page.locator("#refs input"), item);
        await page.keyboard.press("Enter");
      }
      await click(person, "Cooled", page.locator("#cool").getByRole("switch"));
      await page.locator("#note textarea").fill(p.text("Handling note"));
    },
    async send(page) {
      await page.locator("#go").click();
    },
  },
  {
    id: "engines/survey-accident",
    title: "Accident at work",
    libraries: ["survey-core", "survey-js-ui"],
    people: people({
      "Injured person": NAMES,
      Site: ["Yard", "Laboratory", "Assembly hall"],
      "Happened on": ["2026-11-02", "2026-10-21", "2026-11-17"],
      "Parts of the body": [["Hand"], ["Head", "Back"], ["Hand", "Back", "Foot"]],
      Severity: ["Medium", "Slight", "Heavy"],
      "A doctor was called": [true, false, true],
      Clinic: ["Saint Anne", "City hospital", "Dr Moreno"],
      "Damage to property": [350, 1200, 80],
      "Days lost": [4, 11, 2],
      "Course of events": ["Slipped on the ramp", "The shelf gave way", "A crate fell"],
    }),
    wire: {
      "Injured person": "data.person",
      Site: ["data.site", { "Assembly hall": "hal", Yard: "yrd", Laboratory: "lab", Offices: "off" }],
      "Happened on": "data.day",
      "Parts of the body": ["data.body", { Head: 1, Hand: 2, Back: 3, Foot: 4 }],
      Severity: ["data.severity", { Slight: "s", Medium: "m", Heavy: "h" }],
      "A doctor was called": "data.doctor",
      Clinic: "data.clinic",
      "Damage to property": "data.cost",
      "Days lost": "data.lost",
      "Course of events": "data.story",
    },
    required: ["Injured person", "Site"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      const field = (label: string) => page.locator(".sd-question").filter({ hasText: label }).last();
      await field("Injured person").locator("input").fill(p.text("Injured person"));
      await pick(page, field("Site").locator(".sd-dropdown"), p.text("Site"));
      await field("Happened on").locator("input").fill(p.text("Happened on"));
      await pick(page, field("Parts of the body").locator(".sd-dropdown"), ...p.list("Parts of the body"));
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Next" }).click();
      await page.getByText(p.text("Severity"), { exact: true }).click();
      // the box stands between on and off at first
      const box = page.getByRole("checkbox", { name: "A doctor was called" }).locator("..");
      for (let i = p.on("A doctor was called") ? 1 : 0; i < 2; i++) await box.click();
      await field("Clinic").locator("input").fill(p.text("Clinic"));
      await type(page, field("Damage to property").locator("input"), p.text("Damage to property"));
      await field("Days lost").locator("input[type=range]").focus();
      await press(page, "ArrowRight", p.number("Days lost"));
      await field("Course of events").locator("textarea").fill(p.text("Course of events"));
    },
    async send(page) {
      await onward(page, "Next");
      await onward(page, "Send report");
    },
  },
];
