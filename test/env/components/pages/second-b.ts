import { click, dayOf, days, of, press, suggest, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, graphql, NAMES, people } from "../page.js";

const file = (name: string) => ({
  name,
  mimeType: /png|jpg/.test(name) ? "image/png" : "text/plain",
  buffer: Buffer.from("f"),
});

export const pages: ComponentPage[] = [
  {
    id: "vue/vuetify-freight",
    title: "Freight",
    libraries: ["vuetify", "vee-validate", "yup"],
    people: people({
      Sender: NAMES,
      "Port of arrival": ["Rotterdam", "Antwerp", "Hamburg"],
      "Pick-up day": ["2026-12-14", "2027-01-08", "2027-02-22"],
      Pallets: [4, 12, 7],
      Service: ["Express", "Economy", "Standard"],
      Goods: [["Cooled"], ["Fragile", "Heavy"], ["Fragile", "Cooled", "Hazardous"]],
      "Insure the goods": [true, false, true],
      "Insured value": [1250.5, "", 9800],
      "Release code": ["4711", "0815", "9023"],
    }),
    wire: {
      Sender: "shipment.sender",
      "Port of arrival": "shipment.port",
      "Pick-up day": "shipment.pickup",
      Pallets: "shipment.pallets",
      Service: ["shipment.service", { Economy: "eco", Standard: "std", Express: "exp" }],
      Goods: ["shipment.goods", { Fragile: "fr", Cooled: "co", Hazardous: "hz", Heavy: "hv" }],
      "Insure the goods": "shipment.insured",
      "Insured value": [
        "shipment.insurance.valueCents",
        (euro: number | string) => (euro === "" ? "" : Math.round(Number(euro) * 100)),
      ],
      "Release code": "shipment.releaseCode",
    },
    required: ["Sender", "Port of arrival"],
    answer: byStatus(),
    lookup: ["Aarhus", "Antwerp", "Bremerhaven", "Hamburg", "Le Havre", "Rotterdam"],
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Sender").first().fill(p.text("Sender"));
      await type(page, page.locator(".v-autocomplete input"), p.text("Port of arrival").slice(0, 4));
      await page.getByRole("option", { name: p.text("Port of arrival") }).click();
      const [y, m, d] = p.text("Pick-up day").split("-");
      await page.locator(".v-date-input input").fill(`${m}/${d}/${y}`);
      await page.mouse.click(900, 20);
      await page.locator(".v-number-input input").fill(p.text("Pallets"));
      for (const name of [p.text("Service"), ...p.list("Goods")]) await page.getByText(name, { exact: true }).click();
      await click(person, "Insure the goods", page.locator(".v-switch input"));
      if (p.on("Insure the goods")) await page.locator("input[type=number]").last().fill(p.text("Insured value"));
      await page.getByText("Release code").click();
      await type(page, page.locator(".v-otp-input__field").first(), p.text("Release code"));
    },
    send: "Book freight",
  },
  {
    id: "vue/element-plus-training",
    title: "Training",
    libraries: ["element-plus"],
    people: people({
      Employee: NAMES,
      Department: ["Sales / South", "Technology / Web", "Sales / North"],
      Period: ["2026-12-07 - 2026-12-11", "2027-01-18 - 2027-01-20", "2027-02-08 - 2027-02-19"],
      "Daily start": ["08:30", "10:00", "09:30"],
      Courses: [["Negotiation"], ["First aid", "Spreadsheets"], ["First aid", "Public speaking", "Fire safety"]],
      Format: ["Self study", "Class room", "Online"],
      Budget: [1200, 450, 23500],
      Skills: [["welding"], ["english", "sales"], ["sql", "python", "statistics"]],
    }),
    wire: {
      Employee: "employee",
      Department: [
        "department",
        {
          "Sales / North": "sales-north",
          "Sales / South": "sales-south",
          "Technology / Web": "tech-web",
          "Technology / Data": "tech-data",
        },
      ],
      Period: ["period", (range: string) => ({ from: days(range)[0], to: days(range)[1] })],
      "Daily start": "startsAt",
      Courses: [
        "courses",
        { "First aid": 101, Negotiation: 102, Spreadsheets: 103, "Public speaking": 104, "Fire safety": 105 },
      ],
      Format: ["format", { "Class room": "room", Online: "net", "Self study": "self" }],
      Budget: ["budget", (dollars: number) => dollars * 100],
      Skills: "skills",
    },
    required: ["Employee", "Department"],
    answer: byStatus(),
    lookup: [...NAMES, "Annika Berg", "Boris Weld"],
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) =>
        page.locator(".el-form-item").filter({ has: page.getByText(label, { exact: true }) });
      await type(page, item("Employee").locator("input"), p.text("Employee"));
      await page.getByRole("option", { name: p.text("Employee") }).click();
      await item("Department").locator(".el-cascader").click();
      for (const level of p.text("Department").split(" / "))
        await page.locator(".el-cascader-node:visible").filter({ hasText: level }).click();
      const [from = "", to = ""] = days(p.text("Period"));
      const inputs = item("Period").locator("input");
      await inputs.nth(0).fill(from);
      await inputs.nth(1).fill(to);
      await page.keyboard.press("Enter");
      await item("Daily start").locator(".el-select").click();
      await page
        .locator(".el-select-dropdown__item:visible")
        .filter({ hasText: p.text("Daily start") })
        .click();
      for (const name of p.list("Courses"))
        await item("Courses").locator(".el-transfer-panel").first().getByText(name, { exact: true }).click();
      await item("Courses").locator(".el-transfer__button").last().click();
      await item("Format").getByText(p.text("Format"), { exact: true }).click();
      await item("Budget").locator("input").fill(p.text("Budget"));
      for (const skill of p.list("Skills")) {
        await type(page, item("Skills").locator("input"), skill);
        await page.keyboard.press("Enter");
      }
    },
    async send(page) {
      await page.getByRole("button", { name: "Request training" }).click();
      const yes = page.getByRole("button", { name: "Yes, send" });
      await yes.click({ timeout: 1500 }).catch(() => undefined);
    },
  },
  {
    id: "vue/primevue-expenses",
    title: "Expenses",
    libraries: ["primevue", "vee-validate", "yup"],
    people: people({
      Traveller: NAMES,
      City: ["Lisbon", "Ljubljana", "Valencia"],
      "Dates of the trip": ["2026-12-07 - 2026-12-10", "2027-01-12 - 2027-01-15", "2027-02-16 - 2027-02-25"],
      Telephone: ["(212) 555-0147", "(415) 555-0199", "(312) 555-0123"],
      "Total amount": [1234.5, 89.95, 410],
      "Cost centre": ["Legal", "Assembly", "Dispatch"],
      "Travelled with": [["Kim"], ["Rosa", "Tomas"], ["Kim", "Ada", "Yusuf"]],
      "Rate the hotel": [4, 2, 5],
      "Some receipts are missing": [true, false, true],
    }),
    wire: {
      Traveller: "variables.input.traveller",
      City: "variables.input.city",
      "Dates of the trip": [
        "variables.input.trip",
        (range: string) => ({ start: days(range)[0], end: days(range)[1] }),
      ],
      Telephone: "variables.input.phone",
      "Total amount": "variables.input.amount",
      "Cost centre": [
        "variables.input.centre",
        { "Board office": "adm-10", Legal: "adm-20", Assembly: "ops-10", Dispatch: "ops-20" },
      ],
      "Travelled with": "variables.input.company",
      "Rate the hotel": "variables.input.hotelRating",
      "Some receipts are missing": "variables.input.receiptsMissing",
    },
    required: ["Traveller", "City"],
    answer: graphql("reportExpenses"),
    lookup: ["Leeds", "Lisbon", "Ljubljana", "Valencia", "Valletta"],
    async fill(page, person) {
      const p = of(person);
      await page.locator("#traveller").fill(p.text("Traveller"));
      await suggest(page, "#city", p.text("City"));
      await page.locator("#trip").click();
      const panel = page.locator(".p-datepicker-panel");
      for (const one of days(p.text("Dates of the trip"))) {
        await toMonth(
          one,
          async () => (await panel.locator(".p-datepicker-title").innerText()).replace(/\s+/g, " "),
          panel.locator(".p-datepicker-prev-button"),
          panel.locator(".p-datepicker-next-button"),
        );
        await panel
          .locator(".p-datepicker-day-cell:not(.p-datepicker-other-month)")
          .getByText(dayOf(one), { exact: true })
          .click();
      }
      await page.keyboard.press("Escape");
      await page.locator("#phone").focus();
      await page.waitForTimeout(150);
      await page.keyboard.type(p.text("Telephone").replace(/\D/g, ""), { delay: 20 });
      await page.getByRole("button", { name: "Next", exact: true }).click();
      await type(page, page.locator("#amount"), p.text("Total amount"));
      await page.keyboard.press("Tab");
      await page.locator(".p-treeselect").click();
      const branch = p.text("Cost centre") === "Legal" ? "Administration" : "Operations";
      await page
        .locator(".p-tree-node-content")
        .filter({ hasText: branch })
        .locator(".p-tree-node-toggle-button")
        .click();
      await page
        .locator(".p-tree-node-content")
        .filter({ hasText: p.text("Cost centre") })
        .click();
      for (const name of p.list("Travelled with")) {
        await type(page, page.locator("#company"), name);
        await page.keyboard.press("Enter");
      }
      await page
        .locator(".p-rating-option")
        .nth(p.number("Rate the hotel") - 1)
        .click();
      await click(person, "Some receipts are missing", page.locator(".p-toggleswitch"));
    },
    async send(page) {
      const onward = page.getByRole("button", { name: "Next", exact: true });
      if (await onward.isVisible()) await onward.click();
      const last = page.getByRole("button", { name: "Report expenses" });
      await last.click({ timeout: 1500 }).catch(() => undefined);
    },
  },
  {
    id: "vue/quasar-inspection",
    title: "Inspections",
    libraries: ["quasar"],
    people: people({
      Inspector: NAMES,
      Building: ["Mill Lane 4", "Harbour House", "Old Brewery"],
      "Parts inspected": [["Cellar"], ["Roof", "Lift"], ["Roof", "Facade", "Cellar"]],
      "Visited at": ["2026-11-12 09:30", "2026-10-05 14:15", "2026-09-24 16:45"],
      State: ["Worn", "Good", "Dangerous"],
      "Cost of repairs": [1250.5, 89.9, 16400],
      Photo: ["cellar.jpg", "roof.png", "wall.png"],
      Cleanliness: [4, 2, 5],
    }),
    wire: {
      Inspector: "report.inspector",
      Building: "report.building",
      "Parts inspected": ["report.parts", { Roof: 1, Cellar: 2, Facade: 3, Lift: 4 }],
      "Visited at": ["report.visit", (moment: string) => moment.replace(" ", "T")],
      State: ["report.state", { Good: "A", Worn: "B", Dangerous: "C" }],
      "Cost of repairs": "report.cost",
      Photo: "photo",
      Cleanliness: "report.cleanliness",
    },
    required: ["Inspector", "Building"],
    answer: byFlag({ saved: true }, { saved: false }),
    lookup: ["Harbour House", "Mill Lane 4", "Mill Lane 6", "Old Brewery"],
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("button", { name: "New inspection" }).click();
      await page.getByLabel("Inspector").fill(p.text("Inspector"));
      await type(page, page.getByLabel("Building"), p.text("Building").slice(0, 6));
      await page.getByRole("option", { name: p.text("Building") }).click();
      await page.getByLabel("Parts inspected").click();
      for (const name of p.list("Parts inspected")) await page.getByRole("option", { name }).click();
      await page.keyboard.press("Tab");
      await type(page, page.getByLabel("Visited at"), p.text("Visited at").replace(/\D/g, ""));
      await page.getByRole("radio", { name: p.text("State") }).click();
      await type(page, page.getByLabel("Cost of repairs"), String(Math.round(p.number("Cost of repairs") * 100)));
      await page.locator("input[type=file]").setInputFiles(file(p.text("Photo")));
      await page
        .locator(".q-rating__icon-container")
        .nth(p.number("Cleanliness") - 1)
        .click();
    },
    async send(page) {
      const opener = page.getByRole("button", { name: "New inspection" });
      const save = page.getByRole("button", { name: "Save report" });
      if (!(await save.isVisible())) await opener.click();
      await save.click();
    },
  },
  {
    id: "svelte/carbon-removal",
    title: "Removal",
    libraries: ["carbon-components-svelte"],
    people: people({
      Customer: NAMES,
      "Moving to": ["Linz", "Vienna", "Graz"],
      "Earliest day": ["2026-12-07", "2027-01-11", "2027-02-15"],
      "Latest day": ["2026-12-11", "2027-01-22", "2027-02-17"],
      "Arrival of the van": ["14:30", "09:15", "07:45"],
      "Size of the van": ["Box van", "Lorry", "Small van"],
      Rooms: ["Three rooms", "Four rooms", "Two rooms"],
      Floor: [4, 2, 11],
      "There is a piano": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      "Moving to": ["city", { Graz: "grz", Linz: "lnz", Villach: "vil", Vienna: "wie" }],
      "Earliest day": "from",
      "Latest day": "to",
      "Arrival of the van": "arrival",
      "Size of the van": ["van", { "Small van": "s", "Box van": "m", Lorry: "l" }],
      Rooms: ["flat", { "Two rooms": "two", "Three rooms": "three", "Four rooms": "four" }],
      Floor: ["floor", String],
      "There is a piano": ["piano", (is: boolean) => (is ? "on" : "off")],
    },
    required: ["Customer", "Moving to"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Customer");
      await page.locator(".bx--dropdown button").first().click();
      await page.getByRole("option", { name: p.text("Moving to"), exact: true }).click();
      await page.getByLabel("Earliest day").fill(p.text("Earliest day"));
      await page.keyboard.press("Enter");
      await page.getByLabel("Latest day").fill(p.text("Latest day"));
      await page.keyboard.press("Enter");
      await page.mouse.click(900, 20);
      const [h = 0, m = ""] = p.text("Arrival of the van").split(":");
      await page.getByLabel("Arrival of the van").fill(`${Number(h) % 12 || 12}:${m}`);
      await page.locator(".bx--time-picker select").selectOption(Number(h) < 12 ? "AM" : "PM");
      for (const name of [p.text("Size of the van"), p.text("Rooms")])
        await page.getByText(name, { exact: true }).click();
      await page.getByLabel("Floor").fill(p.text("Floor"));
      await page.getByRole("button", { name: "More about your things" }).click();
      await click(person, "There is a piano", page.locator(".bx--toggle__switch"));
    },
    async send(page) {
      await page.getByRole("button", { name: "Ask for an offer" }).click();
      const yes = page.getByRole("button", { name: "Send request" });
      await yes.click({ timeout: 1500 }).catch(() => undefined);
    },
  },
  {
    id: "svelte/bits-vacancy",
    title: "Vacancy",
    libraries: ["bits-ui"],
    people: people({
      "Job title": ["Welder", "Head of sales", "Night porter"],
      Location: ["Dundee", "Bristol", "Aberdeen"],
      "Starts on": ["2026-12-14", "2027-01-04", "2027-03-01"],
      "Interviews from": ["14:30", "09:15", "16:45"],
      "Lowest salary": [35, 50, 25],
      "Highest salary": [45, 80, 100],
      Contract: ["Fixed term", "Permanent", "Freelance"],
      Perks: [["Gym"], ["Canteen", "Parking"], ["Canteen", "Nursery", "Gym"]],
      "Remote work is possible": [true, false, true],
    }),
    wire: {
      "Job title": "jobPosting.title",
      Location: [
        "jobPosting.location",
        { Aberdeen: "loc-1", Bristol: "loc-2", Cardiff: "loc-3", Dundee: "loc-4", Edinburgh: "loc-5" },
      ],
      "Starts on": "jobPosting.startDate",
      "Interviews from": "jobPosting.interviewTime",
      "Lowest salary": ["jobPosting.salary.min", (k: number) => k * 1000],
      "Highest salary": ["jobPosting.salary.max", (k: number) => k * 1000],
      Contract: ["jobPosting.type", { Permanent: "perm", "Fixed term": "temp", Freelance: "free" }],
      Perks: ["jobPosting.perks", (list: readonly string[]) => list.map((perk) => perk.toLowerCase())],
      "Remote work is possible": "jobPosting.remote",
    },
    required: ["Job title", "Location"],
    answer: byFlag({ status: "published" }, { status: "draft" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#title").fill(p.text("Job title"));
      await suggest(page, "#place", p.text("Location"));
      const [y = "", m = "", d = ""] = p.text("Starts on").split("-");
      await page.locator("[data-date-field-segment]").first().click();
      await page.keyboard.type(`${m}${d}${y}`, { delay: 20 });
      await page.locator("[data-segment=hour]").first().click();
      await page.keyboard.type(p.text("Interviews from").replace(":", ""), { delay: 20 });
      await page.getByRole("tab", { name: "Terms" }).click();
      for (const [label, start] of [
        ["Highest salary", 60],
        ["Lowest salary", 30],
      ] as const) {
        await page.getByRole("slider", { name: label }).focus();
        const ahead = (p.number(label) - start) / 5;
        await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      }
      await page.getByRole("radio", { name: p.text("Contract") }).click();
      for (const perk of p.list("Perks")) await page.getByRole("checkbox", { name: perk }).click();
      await click(person, "Remote work is possible", page.getByRole("switch"));
    },
    send: "Publish vacancy",
  },
];
