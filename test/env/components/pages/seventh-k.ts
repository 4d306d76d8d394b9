import { click, of, pick, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "vue/element-plus-officemove",
    title: "Office move",
    libraries: ["element-plus"],
    people: people({
      Company: ["Lee Architects", "Fernandez Law", "Okoro Media"],
      "Moving to": ["Bristol", "Brighton", "Birmingham"],
      "Date of the move": ["2027-01-20", "2026-12-11", "2027-03-23"],
      "Arrival of the team": ["07:30", "10:15", "13:45"],
      "Number of desks": [24, 8, 115],
      Services: [["IT equipment"], ["Packing", "Final cleaning"], ["Packing", "IT equipment", "Waste disposal"]],
      Storage: ["Longer", "Up to 3 months", "Not needed"],
      "Inventory list": ["lee.csv", "fernandez.csv", "okoro.csv"],
      "We need a parking permit": [true, false, true],
    }),
    wire: {
      Company: "company",
      "Moving to": "moveTo",
      "Date of the move": "date",
      "Arrival of the team": "time",
      "Number of desks": "desks",
      Services: [
        "services[]",
        { Packing: "PACK", "IT equipment": "IT", "Final cleaning": "CLEAN", "Waste disposal": "WASTE" },
      ],
      Storage: ["storage", { "Not needed": "none", "Up to 3 months": "short", Longer: "long" }],
      "Inventory list": "inventory",
      "We need a parking permit": ["permit", String],
    },
    required: ["Company", "Moving to", "Date of the move"],
    answer: byStatus({ number: "OM-2291" }),
    lookup: ["Bath", "Birmingham", "Bradford", "Brighton", "Bristol", "Cambridge"],
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) =>
        page.locator(".el-form-item").filter({ has: page.getByText(label, { exact: true }) });
      await item("Company").locator("input").fill(p.text("Company"));
      await type(page, item("Moving to").locator("input"), p.text("Moving to").slice(0, 4));
      await page.getByRole("option", { name: p.text("Moving to") }).click();
      await item("Date of the move")
        .locator("input")
        .fill(day(p.text("Date of the move"), "DD/MM/YYYY"));
      await page.keyboard.press("Enter");
      await item("Arrival of the team").locator("input").click();
      await page.locator(".el-time-panel").waitFor();
      await item("Arrival of the team").locator("input").fill(p.text("Arrival of the team"));
      await page.keyboard.press("Enter");
      await item("Number of desks").locator("input").fill(p.text("Number of desks"));
      for (const name of [...p.list("Services"), p.text("Storage")])
        await page.locator("label").filter({ hasText: name }).click();
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: p.text("Inventory list"), mimeType: "text/csv", buffer: Buffer.from("f") });
      await click(person, "We need a parking permit", page.locator(".el-switch"));
    },
    send: "Order move",
  },
  {
    id: "vue/primevue-nursery",
    title: "Nursery",
    libraries: ["primevue", "vee-validate", "yup"],
    people: people({
      "Name of the child": ["Mia Lee", "Tom Fernandez", "Ada Okoro"],
      "Phone of a parent": ["(202) 555-0143", "(415) 555-0192", "(312) 555-0177"],
      Group: ["Snails", "Foxes", "Owls"],
      "First day": ["2027-01-18", "2026-12-07", "2027-03-01"],
      "Picked up at": ["15:30", "12:15", "16:45"],
      Allergies: [["Nuts"], ["Eggs", "Milk"], ["Eggs", "Fish", "Wheat"]],
      "Languages at home": [["English"], ["Spanish", "English"], ["French", "German", "Arabic"]],
      "Hours a week": [30, 15, 40],
      Lunch: ["Packed lunch", "No lunch", "Warm meal"],
      "Photos may be published": [true, false, true],
    }),
    wire: {
      "Name of the child": "application.child",
      "Phone of a parent": "application.phone",
      Group: ["application.group", { Ladybirds: "G1", Snails: "G2", Foxes: "G3", Owls: "G4" }],
      "First day": "application.firstDay",
      "Picked up at": "application.pickupTime",
      Allergies: ["application.allergies", { Eggs: "EG", Fish: "FI", Milk: "MI", Nuts: "NU", Wheat: "WH" }],
      "Languages at home": "application.languages",
      "Hours a week": "application.hours",
      Lunch: ["application.lunch", { "Warm meal": "warm", "Packed lunch": "cold", "No lunch": "no" }],
      "Photos may be published": "application.photos",
    },
    required: ["Name of the child", "Group"],
    answer: byFlag(
      { status: "ok", message: "We have received your application." },
      { status: "invalid", message: "The name of the child and the group are needed." },
    ),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Name of the child");
      await page.locator("#phone").click();
      await page.keyboard.press("Home");
      await page.keyboard.type(p.text("Phone of a parent").replace(/\D/g, ""), { delay: 20 });
      await pick(page, page.locator(".p-select"), p.text("Group"));
      await page.locator("#first").fill(day(p.text("First day"), "MM/DD/YYYY"));
      await page.keyboard.press("Escape");
      await page.locator("#pickup").fill(p.text("Picked up at"));
      await page.keyboard.press("Escape");
      await pick(page, page.locator(".p-multiselect"), ...p.list("Allergies"));
      await page.keyboard.press("Escape");
      for (const name of p.list("Languages at home")) {
        await type(page, page.locator("#languages"), name.slice(0, 3));
        await page.getByRole("option", { name }).click();
      }
      await page.getByRole("slider").focus();
      const steps = (p.number("Hours a week") - 20) / 5;
      await press(page, steps > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(steps));
      await page.getByLabel(p.text("Lunch"), { exact: true }).click();
      await click(person, "Photos may be published", page.locator("#photos"));
    },
    send: "Apply",
  },
  {
    id: "angular/zorro-transfer",
    title: "Airport transfer",
    libraries: ["ng-zorro-antd", "@angular/forms"],
    people: people({
      Passenger: NAMES,
      Hotel: ["Grand Palace", "Garden Inn", "Granite House"],
      Landing: ["2027-01-18 14:35", "2026-12-09 07:20", "2027-03-02 21:05"],
      Vehicle: ["Minivan", "Sedan", "Coach"],
      Persons: [4, 2, 31],
      "Pieces of luggage": [6, 3, 17],
      Extras: [["Child seat"], ["Meet and greet", "Water"], ["Child seat", "Ski rack", "Water"]],
      Payment: ["On account", "By card", "In cash"],
      "Book the way back too": [true, false, true],
    }),
    wire: {
      Passenger: "passenger",
      Hotel: "hotel",
      Landing: ["landing", (moment: string) => moment.replace(" ", "T")],
      Vehicle: ["vehicle", { Sedan: "sedan", Minivan: "minivan", Coach: "coach", Limousine: "limo" }],
      Persons: "persons",
      "Pieces of luggage": "luggage",
      Extras: "extras",
      Payment: ["payment", { "In cash": "CASH", "By card": "CARD", "On account": "ACCOUNT" }],
      "Book the way back too": "back",
    },
    required: ["Passenger", "Hotel"],
    answer: byStatus({ transfer: { number: 5512 } }),
    lookup: ["Garden Inn", "Grand Palace", "Granite House", "Harbour View", "Hill Top"],
    async fill(page, person) {
      const p = of(person);
      await page.locator("#passenger").fill(p.text("Passenger"));
      await type(page, page.locator("#hotel"), p.text("Hotel").slice(0, 4));
      await page
        .locator("nz-auto-option")
        .filter({ hasText: p.text("Hotel") })
        .click();
      await type(page, page.locator("#landing"), p.text("Landing"));
      await page.locator(".ant-picker-ok button").click();
      await page.locator("nz-select").nth(0).click();
      await page
        .locator("nz-option-item")
        .filter({ hasText: p.text("Vehicle") })
        .click();
      await page.locator("#persons").fill(p.text("Persons"));
      await page.locator(".ant-slider-handle").focus();
      await press(page, "ArrowRight", p.number("Pieces of luggage") - 2);
      await page.locator("nz-select").nth(1).click();
      for (const name of p.list("Extras")) await page.locator("nz-option-item").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.locator("nz-segmented").getByText(p.text("Payment")).click();
      await click(person, "Book the way back too", page.getByText("Book the way back too"));
    },
    send: "Book transfer",
  },
];
