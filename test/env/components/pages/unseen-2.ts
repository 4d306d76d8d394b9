import { click, of, pick, press, type, write } from "../hand.js";
import { again, byFlag, byStatus, type ComponentPage, day, NAMES, people, redirect } from "../page.js";

const file = (name: string) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from("x") });
const yes = (on: string) => (value: boolean) => (value ? on : undefined);

export const pages: ComponentPage[] = [
  {
    id: "solid/modular-clinic",
    title: "Admission",
    libraries: ["@ark-ui/solid", "@modular-forms/solid"],
    people: people({
      Patient: NAMES,
      Ward: ["Cardiology", "Emergency", "Children"],
      "Admission day": ["2026-12-09", "2027-01-27", "2027-02-18"],
      Nights: [4, 2, 9],
      Pain: [2, 5, 3],
      Medication: [["aspirin"], ["ibuprofen", "insulin"], ["heparin", "iron", "zinc"]],
      Room: ["Double", "Single", "Shared"],
      "Insurance PIN": ["5082", "9417", "3360"],
      "Private patient": [true, false, true],
    }),
    wire: {
      Patient: "patient",
      Ward: ["ward", { Emergency: "er", Children: "ped", Cardiology: "car" }],
      "Admission day": "visit",
      Nights: ["beds", String],
      Pain: ["pain", String],
      Medication: "drugs",
      Room: ["stay", (name: string) => name.toLowerCase()],
      "Insurance PIN": "code",
      "Private patient": ["private", (on: boolean) => (on ? "1" : "0")],
    },
    required: ["Patient", "Ward"],
    answer: byFlag({ state: "booked" }, { state: "incomplete" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#patient").fill(p.text("Patient"));
      await pick(page, page.getByRole("combobox", { name: "Ward" }), p.text("Ward"));
      await page.getByLabel("Admission day").fill(day(p.text("Admission day"), "MM/DD/YYYY"));
      await page.keyboard.press("Enter");
      await page.getByRole("spinbutton", { name: "Nights" }).fill(p.text("Nights"));
      await page.keyboard.press("Tab");
      await page
        .locator("[data-scope=rating-group][data-part=item]")
        .nth(p.number("Pain") - 1)
        .click();
      for (const drug of p.list("Medication")) {
        await type(page, page.getByPlaceholder("Add a drug"), drug);
        await page.keyboard.press("Enter");
      }
      await page.getByText(p.text("Room"), { exact: true }).click();
      await type(page, page.locator("[data-scope=pin-input][data-part=input]").first(), p.text("Insurance PIN"));
      await click(person, "Private patient", page.getByText("Private patient"));
    },
    send: "Book admission",
  },
  {
    id: "angular/primeng-tenant",
    title: "New tenant",
    libraries: ["primeng"],
    people: people({
      Tenant: NAMES,
      Flat: ["Attic", "Ground floor left", "Ground floor right"],
      "Former town": ["Bergen", "Aarhus", "Tampere"],
      "Moves in": ["2027-01-15", "2026-12-01", "2027-03-01"],
      Mobile: ["(202) 555-0143", "(415) 555-0192", "(312) 555-0177"],
      Rent: [1180, 640, 895],
      Extras: [["Garage"], ["Cellar", "Kitchen"], ["Cellar", "Garage", "Kitchen"]],
      Contract: ["One year", "Unlimited", "Monthly"],
      Pets: [true, false, true],
    }),
    lookup: ["Aalborg", "Aarhus", "Bergen", "Berlin", "Tallinn", "Tampere"],
    wire: {
      Tenant: "tenancy.tenant",
      Flat: ["tenancy.flat", { "Ground floor left": 11, "Ground floor right": 12, Attic: 31 }],
      "Former town": "tenancy.city",
      "Moves in": "tenancy.move",
      Mobile: "tenancy.phone",
      Rent: "tenancy.rent",
      Extras: ["tenancy.extras", { Cellar: "cel", Garage: "gar", Kitchen: "kit" }],
      Contract: ["tenancy.term", { Unlimited: "L", "One year": "Y", Monthly: "M" }],
      Pets: "tenancy.pets",
    },
    required: ["Tenant", "Flat"],
    answer: byStatus({ tenancy: 88 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#tenant").fill(p.text("Tenant"));
      await pick(page, page.locator("p-select"), p.text("Flat"));
      await type(page, page.locator("#city"), p.text("Former town").slice(0, 3));
      await page.getByRole("option", { name: p.text("Former town") }).click();
      await type(page, page.locator("#move"), day(p.text("Moves in"), "DD.MM.YYYY"));
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await page.locator("#phone").focus();
      await page.waitForTimeout(200);
      await page.keyboard.press("Home");
      await page.keyboard.type(p.text("Mobile").replace(/\D/g, ""), { delay: 30 });
      await type(page, page.locator("#rent"), p.text("Rent"));
      await page.keyboard.press("Tab");
      await pick(page, page.locator("p-multiselect"), ...p.list("Extras"));
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: p.text("Contract") }).click();
      await click(person, "Pets", page.locator("p-toggleswitch"));
    },
    send: "Save tenant",
  },
  {
    id: "elements/carbonwc-server",
    title: "New server",
    libraries: ["@carbon/web-components"],
    people: people({
      "Host name": ["atlas-01", "boreas-7", "ceres-44"],
      Zone: ["Dallas", "Tokyo", "Frankfurt"],
      Image: ["Ubuntu", "AlmaLinux", "Debian"],
      "Open ports": [["SSH"], ["HTTP", "HTTPS"], ["SSH", "HTTP", "HTTPS"]],
      Cores: [8, 4, 16],
      "Disk in GB": [120, 80, 30],
      "Paid until": ["2027-01-31", "2026-12-15", "2027-02-10"],
      Support: ["Business", "Basic", "Premium"],
      Backups: [true, false, true],
    }),
    wire: {
      "Host name": "host",
      Zone: ["zone", { Frankfurt: "eu1", Dallas: "us2", Tokyo: "ap1" }],
      Image: ["image", { Debian: "deb", Ubuntu: "ubu", AlmaLinux: "alm" }],
      "Open ports": ["ports", { SSH: "22", HTTP: "80", HTTPS: "443" }],
      Cores: "cores",
      "Disk in GB": "disk",
      "Paid until": "until",
      Support: ["support", { Basic: "b", Business: "s", Premium: "p" }],
      Backups: "backup",
    },
    required: ["Host name", "Zone"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#name input").fill(p.text("Host name"));
      await page.locator("#zone").click();
      await page
        .locator("cds-dropdown-item")
        .filter({ hasText: p.text("Zone") })
        .click();
      await page.locator("#image input").click();
      await page
        .locator("cds-combo-box-item")
        .filter({ hasText: p.text("Image") })
        .click();
      await page.locator("#ports").click();
      for (const port of p.list("Open ports")) await page.locator(`cds-multi-select-item:text-is("${port}")`).click();
      await page.keyboard.press("Escape");
      await page.locator("#cores input").fill(p.text("Cores"));
      await page.getByRole("slider").focus();
      const steps = (p.number("Disk in GB") - 50) / 10;
      await press(page, steps > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(steps));
      await page.getByRole("textbox", { name: "Paid until" }).fill(day(p.text("Paid until"), "MM/DD/YYYY"));
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await page
        .locator("cds-radio-button")
        .filter({ hasText: p.text("Support") })
        .click();
      await click(person, "Backups", page.locator("label[for=backup] .cds--toggle__appearance"));
    },
    async send(page) {
      await page.locator("#go").click();
    },
  },
  {
    id: "plain/uswds-benefit",
    title: "Benefit",
    libraries: ["@uswds/uswds"],
    people: people({
      Applicant: NAMES,
      State: ["Oregon", "Alaska", "Vermont"],
      "Start of benefit": ["2026-12-14", "2027-01-04", "2027-02-22"],
      "Call me at": ["09:30", "13:00", "16:30"],
      "Date of birth": ["1980-07-21", "1995-02-14", "1968-11-30"],
      Household: ["With a partner", "Living alone", "With family"],
      "Proof of income": [
        ["Tax return"],
        ["Pay slips", "Bank statement"],
        ["Pay slips", "Tax return", "Bank statement"],
      ],
      Document: ["slip.pdf", "letter.pdf", "scan.png"],
    }),
    wire: {
      Applicant: "applicant",
      State: ["state", { Alaska: "AK", Maine: "ME", Oregon: "OR", Vermont: "VT" }],
      "Start of benefit": ["start", (iso: string) => day(iso, "MM/DD/YYYY")],
      "Call me at": "call",
      "Date of birth": ["dob_year", (iso: string) => iso.slice(0, 4)],
      Household: ["household", { "Living alone": "alone", "With a partner": "partner", "With family": "family" }],
      "Proof of income": ["proof", { "Pay slips": "pay", "Tax return": "tax", "Bank statement": "bank" }],
      Document: "doc",
    },
    required: ["Applicant", "State"],
    answer: redirect("Name and state are needed."),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#applicant").fill(p.text("Applicant"));
      await type(page, page.locator("input#state"), p.text("State"));
      await page.getByRole("option", { name: p.text("State") }).click();
      await page.locator("input#start").fill(day(p.text("Start of benefit"), "MM/DD/YYYY"));
      const [hour = 0] = p.text("Call me at").split(":").map(Number);
      const spoken = `${hour % 12 || 12}${p.text("Call me at").slice(2)}${hour < 12 ? "am" : "pm"}`;
      await type(page, page.locator("input#call"), spoken);
      await page.getByRole("option", { name: spoken, exact: true }).click();
      const [year = "", month, date] = p.text("Date of birth").split("-");
      await page.locator("#dob_month").selectOption(String(Number(month)));
      await page.locator("#dob_day").fill(String(Number(date)));
      await page.locator("#dob_year").fill(year);
      await page.getByText(p.text("Household"), { exact: true }).click();
      for (const name of p.list("Proof of income")) await page.getByText(name, { exact: true }).click();
      await page.locator("input[type=file]").setInputFiles(file(p.text("Document")));
    },
    send: "Apply",
  },
  {
    id: "plain/govuk-licence",
    title: "Fishing licence",
    libraries: ["govuk-frontend", "accessible-autocomplete"],
    people: people({
      "Full name": NAMES,
      "What is your date of birth?": ["1975-03-09", "1988-12-24", "2001-06-30"],
      "Country of residence": ["Norway", "Ireland", "Iceland"],
      "Which waters?": [["Lakes"], ["Rivers", "The sea"], ["Rivers", "Lakes", "The sea"]],
      "How long is it for?": ["Eight days", "One day", "A year"],
      "Fee paid": ["12.50", "6.00", "82.00"],
      "Describe your tackle": ["Two rods and a net", "Fly rod", "Hand line, lead, hooks"],
      "I have a blue badge": [true, false, true],
    }),
    wire: {
      "Full name": "angler",
      "What is your date of birth?": ["born-year", (iso: string) => iso.slice(0, 4)],
      "Country of residence": ["country", { "United Kingdom": "gb", Ireland: "ie", Norway: "no", Iceland: "is" }],
      "Which waters?": ["waters", { Rivers: "river", Lakes: "lake", "The sea": "sea" }],
      "How long is it for?": ["length", { "One day": "1d", "Eight days": "8d", "A year": "12m" }],
      "Fee paid": "fee",
      "Describe your tackle": "tackle",
      "I have a blue badge": ["blue", yes("1")],
    },
    required: ["Full name", "Country of residence"],
    answer: again("Your application is complete", "There is a problem"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Full name", "Fee paid", "Describe your tackle");
      const [year, month, date] = p.text("What is your date of birth?").split("-").map(Number);
      await page.locator("#born-day").fill(String(date));
      await page.locator("#born-month").fill(String(month));
      await page.locator("#born-year").fill(String(year));
      await type(page, page.locator("input#country"), p.text("Country of residence"));
      await page.getByRole("option", { name: p.text("Country of residence") }).click();
      for (const name of p.list("Which waters?")) await page.getByLabel(name, { exact: true }).check();
      await page.getByLabel(p.text("How long is it for?"), { exact: true }).check();
      await click(person, "I have a blue badge", page.getByLabel("I have a blue badge"));
    },
    send: "Continue to payment",
  },
  {
    id: "plain/typeahead-party",
    title: "Party",
    libraries: [
      "corejs-typeahead",
      "vanilla-calendar-pro",
      "@melloware/coloris",
      "bootstrap4-duallistbox",
      "star-rating.js",
      "jodit",
      "dropzone",
    ],
    people: people({
      Host: NAMES,
      Venue: ["Old brewery", "Boat house", "Rose garden"],
      "Rented from to": ["2026-12-05 - 2026-12-07", "2027-01-08 - 2027-01-11", "2026-11-13 - 2026-11-15"],
      Colour: ["#1e90ff", "#c71585", "#2e8b57"],
      Food: [["Pizza"], ["Cake", "Salad"], ["Cheese", "Pizza", "Salad"]],
      Loudness: [4, 2, 5],
      "Invitation text": ["Come as you are", "Bring warm coats", "No presents please"],
      Photo: ["hall.jpg", "boat.png", "roses.jpg"],
      "With a band": [true, false, true],
    }),
    lookup: ["Old brewery", "Old station", "Boat house", "Boat yard", "Rose garden", "Roof terrace"],
    wire: {
      Host: "host",
      Venue: "venue",
      "Rented from to": "nights",
      Colour: "colour",
      Food: ["food[]", { Cake: "f1", Cheese: "f2", Pizza: "f3", Salad: "f4" }],
      Loudness: ["loud", String],
      "Invitation text": ["text", (text: string) => `<p>${text}</p>`],
      Photo: ["photo", (name: string) => `stored/${name}`],
      "With a band": ["band", yes("1")],
    },
    required: ["Host", "Venue"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Host");
      await type(page, page.locator("#venue"), p.text("Venue").slice(0, 3));
      await page
        .locator(".tt-suggestion")
        .filter({ hasText: p.text("Venue") })
        .click();
      await page.locator("#nights").click();
      for (const iso of p.text("Rented from to").split(" - ")) {
        const cell = page.locator(`[data-vc-date="${iso}"] button`).first();
        for (let i = 0; i < 6 && !(await cell.isVisible()); i++) await page.locator("[data-vc-arrow=next]").click();
        await cell.click();
      }
      await page.locator("#colour").fill(p.text("Colour"));
      await page.keyboard.press("Escape");
      for (const name of p.list("Food")) await page.locator(".box1 select").selectOption({ label: name });
      await page
        .locator(".gl-star-rating--stars span")
        .nth(p.number("Loudness") - 1)
        .click();
      await type(page, page.locator(".jodit-wysiwyg"), p.text("Invitation text"));
      await page.locator("input.dz-hidden-input").setInputFiles(file(p.text("Photo")));
      await page.waitForFunction(() => document.querySelector<HTMLInputElement>("#photo")?.value !== "");
      await click(person, "With a band", page.getByLabel("With a band"));
    },
    send: "Plan it",
  },
];
