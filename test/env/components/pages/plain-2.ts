import { click, of, toMonth, write } from "../hand.js";
import { byFlag, type ComponentPage, day, flash, NAMES, people, redirect } from "../page.js";

const file = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from("x") });
const yes =
  (value: string) =>
  (on: boolean): string | undefined =>
    on ? value : undefined;

export const pages: ComponentPage[] = [
  {
    id: "plain/intltel-callback",
    title: "Call back",
    libraries: ["intl-tel-input", "pikaday", "slim-select", "jquery-validation"],
    people: people({
      Caller: NAMES,
      Phone: ["+442079460958", "+46812345678", "+14155550132"],
      "Preferred day": ["2026-12-08", "2027-01-13", "2026-11-26"],
      Topic: ["Moving", "Contract", "Bill"],
      Note: ["After four, please", "I speak Spanish", "Ring twice"],
      Urgent: [true, false, true],
    }),
    wire: {
      Caller: "who",
      Phone: "phone",
      "Preferred day": ["on", (iso: string) => new Date(`${iso}T12:00:00`).toDateString()],
      Topic: ["topic", { Contract: "1", Bill: "2", Moving: "3" }],
      Note: "note",
      Urgent: ["urgent", yes("on")],
    },
    required: ["Caller", "Phone"],
    answer: byFlag({}, { error: "Telefonnummer saknas" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Caller", "Note");
      await page.locator("#phone").fill(p.text("Phone"));
      await page.getByLabel("Preferred day").click();
      const [y = "", m = "", d = ""] = p.text("Preferred day").split("-");
      await page.locator(".pika-select-year").selectOption(y);
      await page.locator(".pika-select-month").selectOption(String(+m - 1));
      await page.locator(`.pika-day[data-pika-day="${+d}"]`).click();
      await page.locator(".ss-main").click();
      await page.getByRole("option", { name: p.text("Topic") }).click();
      await click(person, "Urgent", page.getByLabel("Urgent"));
    },
    send: "Request call",
  },
  {
    id: "plain/airdate-shift",
    title: "Shift swap",
    libraries: ["air-datepicker", "vanillajs-datepicker"],
    people: people({
      Colleague: NAMES,
      "My shift": ["2026-07-12", "2026-03-29", "2027-02-05"],
      "Wanted shift": ["2026-07-14", "2026-04-01", "2027-02-09"],
      Ward: ["Children", "Intensive care", "Surgery"],
      Hours: ["7.5", "12", "4"],
      Reason: ["A wedding", "School begins", "Dentist"],
    }),
    wire: {
      Colleague: "colleague",
      "My shift": ["mine", (iso: string) => day(iso, "DD.MM.YYYY")],
      "Wanted shift": "want",
      Ward: ["ward", { Surgery: "W1", Children: "W2", "Intensive care": "W3" }],
      Hours: "hours",
      Reason: "reason",
    },
    required: ["Colleague", "My shift"],
    answer: flash("Tauschangebot gespeichert", "Bitte Name und Schicht angeben"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Colleague", "Hours", "Reason");
      await page.getByLabel("My shift").click();
      const calendar = page.locator(".air-datepicker.-active-");
      const heading = async () => {
        const [month = "", year = ""] = (await calendar.locator(".air-datepicker-nav--title").innerText()).split(",");
        return `${month} ${year}`;
      };
      const arrow = (n: number) => calendar.locator(".air-datepicker-nav--action").nth(n);
      await toMonth(p.text("My shift"), heading, arrow(0), arrow(1));
      const [, m = "", d = ""] = p.text("My shift").split("-");
      await calendar.locator(`.-day-[data-date="${+d}"][data-month="${+m - 1}"]`).click();
      await page.getByLabel("Wanted shift").fill(p.text("Wanted shift"));
      await page.keyboard.press("Tab");
      await page.getByLabel("Ward").selectOption({ label: p.text("Ward") });
    },
    send: "Offer swap",
  },
  {
    id: "plain/alpine-donation",
    title: "Donation",
    libraries: ["alpinejs"],
    people: people({
      Donor: NAMES,
      Amount: ["€ 25", "€ 100", "€ 10"],
      Interval: ["Every year", "Once", "Every month"],
      Message: ["For the wells", "Keep going", "In memory of Ida"],
      Causes: [["Trees"], ["Water", "Schools"], ["Water", "Schools", "Trees"]],
      "Stay anonymous": [true, false, true],
    }),
    wire: {
      Donor: "variables.d.donor",
      Amount: ["variables.d.amount", (amount: string) => Number(amount.slice(2))],
      Interval: "variables.d.interval",
      Message: "variables.d.message",
      Causes: ["variables.d.causes", { Water: "water", Schools: "school", Trees: "trees" }],
      "Stay anonymous": "variables.d.anonymous",
    },
    required: ["Donor", "Amount"],
    answer: ({ accepted }) => ({
      status: 200,
      json: accepted ? { data: { donate: { id: "d1" } } } : { data: null, errors: [{ message: "Mancano dei dati" }] },
    }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Donor", "Message");
      await page.getByRole("button", { name: p.text("Amount"), exact: true }).click();
      await page.getByRole("button", { name: "Interval" }).click();
      await page.getByRole("option", { name: p.text("Interval") }).click();
      for (const cause of p.list("Causes")) await page.getByLabel(cause).check();
      await click(person, "Stay anonymous", page.getByLabel("Stay anonymous"));
    },
    send: "Donate",
  },
  {
    id: "plain/htmx-repair",
    title: "Repair",
    libraries: ["htmx.org"],
    people: people({
      Tenant: NAMES,
      Room: ["Bathroom", "Living room", "Kitchen"],
      "What is broken?": ["The tap drips", "A window does not close", "The stove is cold"],
      "Come after": ["2026-12-01T09:30", "2027-01-11T15:00", "2026-11-24T08:15"],
      "Wall colour": ["#336699", "#ffcc00", "#00a86b"],
      "Times that suit": [["Mornings"], ["Afternoons", "Evenings"], ["Mornings", "Afternoons", "Evenings"]],
    }),
    wire: {
      Tenant: "tenant",
      Room: ["room", { Kitchen: "kit", Bathroom: "bat", "Living room": "liv" }],
      "What is broken?": "defect",
      "Come after": "after",
      "Wall colour": "colour",
      "Times that suit": ["slot", { Mornings: "am", Afternoons: "pm", Evenings: "ev" }],
    },
    required: ["Tenant", "Room", "What is broken?"],
    answer: ({ accepted }) => ({
      status: 200,
      html: accepted ? "<p>We are on our way to you.</p>" : "<p>Tell us who you are, and what is broken where.</p>",
    }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Tenant", "What is broken?", "Come after", "Wall colour");
      await page.getByLabel("Room").selectOption({ label: p.text("Room") });
      for (const slot of p.list("Times that suit")) await page.getByLabel(slot).check();
    },
    send: "Report",
  },
  {
    id: "plain/materialize-event",
    title: "Room request",
    libraries: ["@materializecss/materialize"],
    people: people({
      Club: ["Chess club", "Judo Lund", "The Readers"],
      "Room wanted": ["Studio", "Gym", "Library"],
      "On which day": ["2026-06-17", "2026-07-08", "2026-04-25"],
      Group: ["Adults", "Mixed", "Children"],
      "Own key": [true, false, true],
      "We clean up ourselves": [false, true, false],
    }),
    wire: {
      Club: "club",
      "Room wanted": ["room", { Gym: "1", Library: "2", Studio: "3" }],
      "On which day": "day",
      Group: ["group", { Children: "kids", Adults: "adults", Mixed: "mixed" }],
      "Own key": ["key", yes("on")],
      "We clean up ourselves": ["clean", yes("true")],
    },
    required: ["Club", "Room wanted", "On which day"],
    answer: ({ accepted }) => ({ status: accepted ? 200 : 422, json: {} }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#club").fill(p.text("Club"));
      await page.locator("input.select-dropdown").first().click();
      await page
        .locator("ul.select-dropdown li")
        .filter({ hasText: p.text("Room wanted") })
        .first()
        .click();
      await page.locator("#day").click();
      const title = async () =>
        `${await page.locator(".datepicker-select.orig-select-month option:checked").first().textContent()} ${await page.locator(".datepicker-select.orig-select-year option:checked").first().textContent()}`;
      await toMonth(p.text("On which day"), title, page.locator(".month-prev"), page.locator(".month-next"));
      await page.locator(`.datepicker-day-button[data-day="${Number(p.text("On which day").slice(8))}"]`).click();
      await page.getByText(p.text("Group"), { exact: true }).click();
      await click(person, "Own key", page.locator(".lever"));
      await click(person, "We clean up ourselves", page.getByText("We clean up ourselves"));
    },
    send: "Ask for the room",
  },
  {
    id: "plain/filepond-claim",
    title: "Damage claim",
    libraries: ["filepond", "inputmask"],
    people: people({
      "Policy number": ["AB123456", "QX000781", "KL555012"],
      "Happened on": ["2026-03-11", "2025-12-27", "2026-08-06"],
      "Time of day": ["07:50", "23:15", "13:40"],
      "Estimated loss": ["1250.00", "89.90", "400.50"],
      Photo: ["dent.jpg", "roof.png", "bike.jpg"],
      "Police was called": [true, false, true],
    }),
    wire: {
      "Policy number": "policy",
      "Happened on": "happened",
      "Time of day": "clock",
      "Estimated loss": ["loss", (loss: string) => Number(loss).toLocaleString("en-US", { minimumFractionDigits: 2 })],
      Photo: ["photo", (name: string) => `stored/${name}`],
      "Police was called": ["police", yes("1")],
    },
    required: ["Policy number", "Happened on"],
    answer: redirect("Policy number and day are needed."),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Policy number", "Happened on", "Time of day");
      await page.getByLabel("Estimated loss").focus();
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(p.text("Estimated loss"));
      await page.locator("input[type=file]").setInputFiles(file(p.text("Photo")));
      await page.locator("[data-filepond-item-state=processing-complete]").waitFor();
      await click(person, "Police was called", page.getByLabel("Police was called"));
    },
    send: "File claim",
  },
  {
    id: "plain/selectize-music",
    title: "Music lessons",
    libraries: ["@selectize/selectize", "dropify", "foundation-sites"],
    people: people({
      Pupil: ["Ida Lee", "Leo Fernandez", "Ngozi Okoro"],
      Instrument: ["Harp", "Cello", "Flute"],
      Styles: [["Folk"], ["Baroque", "Jazz"], ["Folk", "Jazz", "Pop"]],
      Age: [9, 14, 11],
      Portrait: ["ida.png", "leo.jpg", "ngozi.png"],
    }),
    wire: {
      Pupil: "lesson[pupil]",
      Instrument: ["lesson[instrument]", { Cello: "cel", Flute: "flu", Harp: "har" }],
      Styles: "lesson[styles][]",
      Age: "lesson[age]",
      Portrait: "portrait",
    },
    required: ["Pupil", "Instrument"],
    answer: flash("Pupil enrolled", "Name and instrument, please"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Pupil", "Age");
      await page.locator(".selectize-control.single .selectize-input").click();
      await page
        .locator(".selectize-dropdown .option")
        .filter({ hasText: p.text("Instrument") })
        .click();
      for (const style of p.list("Styles")) {
        await page.locator(".selectize-control.multi .selectize-input").click();
        await page.locator(".selectize-dropdown.multi .option").filter({ hasText: style }).click();
      }
      await page.keyboard.press("Tab");
      await page.locator("input[type=file]").setInputFiles(file(p.text("Portrait")));
    },
    send: "Enrol pupil",
  },
];
