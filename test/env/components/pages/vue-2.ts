import { click, of, pick, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

const DAYS = ["2026-12-08", "2027-01-21", "2027-03-05"];

export const pages: ComponentPage[] = [
  {
    id: "vue/antdv-clinic",
    title: "Visit",
    libraries: ["ant-design-vue"],
    people: people({
      Patient: NAMES,
      Doctor: ["Dr Chen", "Dr Amato", "Dr Brandt"],
      "Day of visit": DAYS,
      Hour: ["09:30", "16:15", "11:45"],
      Symptoms: [["Rash"], ["Cough", "Fever"], ["Fever", "Rash", "Pain"]],
      "Former visits": [3, 7, 12],
      "Kind of visit": ["By phone", "In person", "By video"],
      Insurer: ["Civitas", "Alpina", "Borea"],
      Urgency: [4, 2, 5],
      "Keep me informed": [true, false, true],
    }),
    wire: {
      Patient: "visit.patient",
      Doctor: ["visit.doctor", { "Dr Amato": 101, "Dr Brandt": 102, "Dr Chen": 103 }],
      "Day of visit": "visit.day",
      Hour: "visit.time",
      Symptoms: ["visit.symptoms", { Cough: "co", Fever: "fe", Rash: "ra", Pain: "pa" }],
      "Former visits": "visit.visits",
      "Kind of visit": ["visit.how", { "In person": "room", "By video": "video", "By phone": "phone" }],
      Insurer: "visit.insurer",
      Urgency: "visit.urgency",
      "Keep me informed": "visit.privacy",
    },
    required: ["Patient", "Doctor"],
    answer: byFlag({ visit: 88 }, { errors: ["incomplete"] }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Patient", "Insurer", "Former visits");
      await page.keyboard.press("Escape");
      const option = (name: string) => page.locator(".ant-select-item-option").filter({ hasText: name });
      await page.getByLabel("Doctor").click();
      await option(p.text("Doctor")).click();
      for (const [label, field] of [
        ["Day of visit", p.text("Day of visit")],
        ["Hour", p.text("Hour")],
      ] as const) {
        await type(page, page.getByLabel(label, { exact: true }), field);
        await page.keyboard.press("Enter");
      }
      await page.getByLabel("Symptoms").click();
      for (const name of p.list("Symptoms")) await option(name).click();
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Kind of visit"), { exact: true }).click();
      await page
        .getByRole("radio", { name: /star/ })
        .nth(p.number("Urgency") - 1)
        .click();
      await click(person, "Keep me informed", page.getByText("Keep me informed"));
    },
    send: "Book visit",
  },
  {
    id: "vue/tdesign-store",
    title: "Product",
    libraries: ["tdesign-vue-next"],
    people: people({
      Product: ["Oat flakes", "Olive oil", "Soap"],
      Unit: ["Kilogram", "Piece", "Box of ten"],
      Shelf: ["Aisle A / Bottom", "Aisle B / Left", "Aisle A / Top"],
      Stock: [12, 40, 7],
      "Next delivery": DAYS,
      Keywords: [["breakfast"], ["kitchen", "salad"], ["bath", "clean", "gift"]],
      Labels: [["Vegan"], ["Organic", "Regional"], ["Organic", "Vegan", "Regional"]],
      Tax: ["Reduced", "Free", "Full"],
      Discount: [5, 20, 35],
      "Sold online": [true, false, true],
    }),
    wire: {
      Product: "product",
      Unit: ["unit", { Piece: "pc", Kilogram: "kg", "Box of ten": "bx" }],
      Shelf: ["shelf", { "Aisle A / Top": "a1", "Aisle A / Bottom": "a2", "Aisle B / Left": "b1" }],
      Stock: "stock",
      "Next delivery": "delivery",
      Keywords: "keywords",
      Labels: ["flags", { Organic: "bio", Vegan: "veg", Regional: "reg" }],
      Tax: ["tax", { Reduced: 7, Full: 19, Free: 0 }],
      Discount: "discount",
      "Sold online": "online",
    },
    required: ["Product", "Unit"],
    answer: byStatus({ sku: "S-1" }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) => page.locator(".t-form__item").filter({ hasText: label });
      await item("Product").locator("input").fill(p.text("Product"));
      await item("Unit").locator("input").click();
      await page
        .locator(".t-select-option")
        .filter({ hasText: p.text("Unit") })
        .click();
      await item("Shelf").locator("input").first().click();
      for (const step of p.text("Shelf").split(" / "))
        await page.locator(".t-cascader__item").filter({ hasText: step }).click();
      await item("Stock").locator("input").fill(p.text("Stock"));
      await item("Next delivery").locator("input").click();
      const [year = "", month = ""] = p.text("Next delivery").split("-");
      const heads = page.locator(".t-date-picker__header input");
      for (let i = 0; i < 24; i++) {
        const shown = await heads.evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value));
        if (shown[1] === year && Number.parseInt(shown[0] ?? "", 10) === Number(month)) break;
        await page.locator(".t-date-picker__header .t-pagination-mini__next").click();
      }
      await page
        .locator(".t-date-picker__cell:not(.t-date-picker__cell--additional)")
        .filter({ hasText: new RegExp(`^${Number(p.text("Next delivery").slice(8))}$`) })
        .click();
      for (const word of p.list("Keywords")) {
        await type(page, item("Keywords").locator("input"), word);
        await page.keyboard.press("Enter");
      }
      for (const name of p.list("Labels")) await page.getByText(name, { exact: true }).click();
      await page.getByText(p.text("Tax"), { exact: true }).click();
      await item("Discount").locator(".t-slider__button-wrapper").focus();
      await press(page, "ArrowRight", p.number("Discount"));
      await click(person, "Sold online", item("Sold online").locator(".t-switch"));
    },
    send: "Save product",
  },
  {
    id: "vue/reka-club",
    title: "Club",
    libraries: ["reka-ui"],
    people: people({
      Member: NAMES,
      Sport: ["Handball", "Rowing", "Climbing"],
      Hall: ["Old gym", "North hall", "South hall"],
      "Date of birth": ["1990-04-03", "2001-11-22", "1978-08-15"],
      Age: [36, 25, 48],
      Friends: [["Ada"], ["Ben", "Cleo"], ["Dan", "Eve", "Finn"]],
      "Hours a week": [4, 7, 9],
      Level: ["Trainer", "Beginner", "Advanced"],
      "Trial month": [true, false, true],
      "Club news": [false, true, false],
    }),
    wire: {
      Member: "member",
      Sport: ["sport", { Rowing: "r", Climbing: "c", Handball: "h" }],
      Hall: "hall",
      "Date of birth": "born",
      Age: "age",
      Friends: "friends",
      "Hours a week": "hours",
      Level: ["level", { Beginner: "1", Advanced: "2", Trainer: "3" }],
      "Trial month": ["trial", (on: boolean) => (on ? "Y" : "N")],
      "Club news": ["news", (on: boolean) => (on ? "Y" : "N")],
    },
    required: ["Member", "Sport"],
    answer: byStatus({ member: 501 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#member").fill(p.text("Member"));
      await pick(page, page.locator("#sport"), p.text("Sport"));
      await pick(page, page.locator("#hall"), p.text("Hall"));
      await type(page, page.locator("[role=spinbutton]").first(), day(p.text("Date of birth"), "MMDDYYYY"));
      await page.locator("#age").fill(p.text("Age"));
      await page.keyboard.press("Tab");
      for (const name of p.list("Friends")) {
        await type(page, page.getByPlaceholder("Add a friend"), name);
        await page.keyboard.press("Enter");
      }
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Hours a week") - 2);
      await page.getByLabel(p.text("Level")).click();
      await click(person, "Trial month", page.getByLabel("Trial month"));
      await click(person, "Club news", page.getByLabel("Club news"));
    },
    send: "Join the club",
  },
  {
    id: "vue/treeselect-hotel",
    title: "Hôtel",
    libraries: ["@zanmato/vue3-treeselect", "vue-tel-input", "v-calendar", "maska"],
    people: people({
      "Nom du client": NAMES,
      Chambres: [["Garden family"], ["Main single", "Garden double"], ["Main single", "Main double", "Garden family"]],
      Arrivée: DAYS,
      Téléphone: ["+33 6 12 34 56 78", "+33 6 98 76 54 32", "+33 7 11 22 33 44"],
      "Carte de fidélité": ["12-3456-78", "98-7654-32", "55-0123-10"],
      Personnes: ["jusqu'à quatre", "une", "deux"],
      "Petit déjeuner": [true, false, true],
    }),
    wire: {
      "Nom du client": "guest",
      Chambres: [
        "rooms",
        { "Main single": "m-s", "Main double": "m-d", "Garden double": "g-d", "Garden family": "g-f" },
      ],
      Arrivée: "arrival",
      Téléphone: "phone",
      "Carte de fidélité": "card",
      Personnes: ["persons", { une: "p1", deux: "p2", "jusqu'à quatre": "p4" }],
      "Petit déjeuner": "breakfast",
    },
    required: ["Nom du client"],
    answer: byFlag({ ok: true }, { ok: false }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Nom du client").fill(p.text("Nom du client"));
      await page.locator(".vue3-treeselect__control, .vue-treeselect__control").first().click();
      for (const name of p.list("Chambres"))
        await page.locator("[class*=treeselect__label]").filter({ hasText: name }).first().click();
      await page.keyboard.press("Escape");
      await page.locator("#arrival").fill(day(p.text("Arrivée"), "DD/MM/YYYY"));
      await page.keyboard.press("Tab");
      await page.locator("#phone").fill(p.text("Téléphone"));
      await page.getByLabel("Nom du client").click();
      await type(page, page.getByLabel("Carte de fidélité"), p.text("Carte de fidélité"));
      await page.getByLabel("Personnes").selectOption({ label: p.text("Personnes") });
      await click(person, "Petit déjeuner", page.getByLabel("Petit déjeuner"));
    },
    send: "Réserver",
  },
  {
    id: "vue/vuestic-fleet",
    title: "Trip",
    libraries: ["vuestic-ui"],
    people: people({
      Driver: NAMES,
      Car: ["Pick-up", "Small van", "Estate"],
      "Day of trip": DAYS,
      Seats: [3, 5, 7],
      Extras: [["Tow bar"], ["Roof rack", "Snow tyres"], ["Roof rack", "Snow tyres", "Tow bar"]],
      Fuel: ["Electric", "Diesel", "Petrol"],
      "Litres left": [25, 40, 62],
      "State of the car": [4, 2, 5],
      Remarks: ["Tyre is low", "Smells of fish", "All well"],
      "With trailer": [true, false, true],
      "Keys returned": [false, true, false],
    }),
    wire: {
      Driver: "driver",
      Car: ["car", { "Small van": "v1", Estate: "v2", "Pick-up": "v3" }],
      "Day of trip": "day",
      Seats: "seats",
      Extras: "extras",
      Fuel: ["fuel", { Diesel: "d", Petrol: "p", Electric: "e" }],
      "Litres left": "tank",
      "State of the car": "rating",
      Remarks: "note",
      "With trailer": "trailer",
      "Keys returned": "agree",
    },
    required: ["Driver", "Car"],
    answer: byFlag({ trip: 6 }, { trip: 0 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("input[type=text]").first().fill(p.text("Driver"));
      await page.locator("textarea").first().fill(p.text("Remarks"));
      await page.locator(".va-select").nth(0).click();
      await page.getByRole("option", { name: p.text("Car") }).click();
      await page.locator(".va-date-input").first().click();
      const [year = "", , date = ""] = p.text("Day of trip").split("-");
      for (let i = 0; i < 12; i++) {
        const shown = await page.locator(".va-date-picker-header").innerText();
        const name = new Date(p.text("Day of trip")).toLocaleString("en-US", { month: "long" });
        if (shown.includes(year) && shown.includes(name)) break;
        await page.locator(".va-date-picker-header button").last().click();
      }
      await page
        .locator(".va-date-picker-cell:not(.va-date-picker-cell_other-month)")
        .filter({ hasText: new RegExp(`^\\s*${Number(date)}\\s*$`) })
        .first()
        .click();
      await page.keyboard.press("Escape");
      const up = page.locator(".va-counter button").last();
      for (let i = 2; i < p.number("Seats"); i++) await up.click();
      await page.locator(".va-select").nth(1).click();
      for (const name of p.list("Extras")) await page.getByRole("option", { name }).click();
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Fuel"), { exact: true }).click();
      await page.locator(".va-slider [tabindex]").first().focus();
      for (let i = 10; i < p.number("Litres left"); i++) await page.keyboard.press("ArrowRight");
      await page
        .locator(".va-rating-item")
        .nth(p.number("State of the car") - 1)
        .click();
      await click(person, "With trailer", page.locator(".va-switch__track"));
      await click(person, "Keys returned", page.getByText("Keys returned"));
    },
    send: "Enter trip",
  },
];
