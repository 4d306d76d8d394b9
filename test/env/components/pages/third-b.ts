import { click, of, press, suggest, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

const file = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from("f") });

export const pages: ComponentPage[] = [
  {
    id: "vue/vuetify-catering",
    title: "Catering order",
    libraries: ["vuetify"],
    people: people({
      Company: ["Lee Ltd", "Fernandez SA", "Okoro and Sons"],
      Menu: ["Barbecue", "Finger food", "Three courses"],
      Guests: [45, 20, 120],
      "Day of the event": ["2026-12-11", "2027-01-22", "2027-02-05"],
      "Serving time": ["12:30", "18:00", "19:15"],
      Allergies: [["Nuts"], ["Gluten", "Eggs"], ["Lactose", "Nuts", "Celery"]],
      "Budget per guest": [35, 25, 60],
      "Drinks included": [true, false, true],
    }),
    wire: {
      Company: "order.company",
      Menu: ["order.menu", { "Finger food": 1, "Italian buffet": 2, Barbecue: 3, "Three courses": 4 }],
      Guests: "order.guests",
      "Day of the event": "order.day",
      "Serving time": "order.time",
      Allergies: "order.allergies",
      "Budget per guest": "order.budget",
      "Drinks included": "order.drinks",
    },
    required: ["Company", "Menu"],
    answer: byStatus({ order: 90210 }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Company");
      await page.locator(".v-select").first().click();
      await page.getByRole("option", { name: p.text("Menu") }).click();
      await page.getByLabel("Guests").first().fill(p.text("Guests"));
      await page.getByLabel("Day of the event").click();
      await toMonth(
        p.text("Day of the event"),
        () => page.locator(".v-date-picker-controls").innerText(),
        page.getByRole("button", { name: "Previous month" }),
        page.getByRole("button", { name: "Next month" }),
      );
      const date = day(p.text("Day of the event"), "MMMM D, YYYY");
      await page.getByRole("button", { name: date }).click();
      await page.getByLabel("Serving time").click();
      const [hour = "", minute = ""] = p.text("Serving time").split(":");
      const dial = (text: string) => page.locator(".v-time-picker-clock__item").getByText(text, { exact: true });
      const centre = async (text: string) => {
        const box = await dial(text).boundingBox();
        if (box === null) throw new Error(`no ${text} on the dial`);
        await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      };
      await page.waitForTimeout(600);
      await centre(hour);
      await page.waitForTimeout(600);
      await centre(minute);
      await page.mouse.click(1200, 20);
      for (const item of p.list("Allergies")) {
        await type(page, page.getByRole("combobox", { name: "Allergies" }), item);
        await page.keyboard.press("Enter");
      }
      await page.mouse.click(1200, 20);
      await page.getByRole("slider").focus();
      const ahead = (p.number("Budget per guest") - 20) / 5;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await click(person, "Drinks included", page.getByLabel("Drinks included"));
    },
    send: "Order catering",
  },
  {
    id: "vue/element-plus-repair",
    title: "Repair order",
    libraries: ["element-plus"],
    people: people({
      Customer: NAMES,
      Device: ["Fridge", "Washing machine", "Oven"],
      "Drop-off": ["2026-12-10 14:30", "2027-01-18 09:15", "2027-02-03 17:05"],
      Faults: [["Leaks"], ["Makes noise", "Smells burnt"], ["Leaks", "Does not start", "Smells burnt"]],
      Warranty: ["Expired", "Within warranty", "I do not know"],
      "Cost limit": [150, 90, 420],
      Receipt: ["fridge.pdf", "receipt.pdf", "oven.png"],
      Express: [true, false, true],
    }),
    wire: {
      Customer: "customer",
      Device: ["device", { Dishwasher: "dw", Oven: "ov", Fridge: "fr", "Washing machine": "wm", "Tumble dryer": "td" }],
      "Drop-off": ["dropoff", (time: string) => `${time}:00`],
      Faults: [
        "faults[]",
        { Leaks: "leak", "Makes noise": "noise", "Does not start": "dead", "Smells burnt": "smell" },
      ],
      Warranty: ["warranty", { "Within warranty": "yes", Expired: "no", "I do not know": "unknown" }],
      "Cost limit": "limit",
      Receipt: "receipt",
      Express: ["express", { true: "1", false: "0" }],
    },
    required: ["Customer", "Device"],
    answer: byFlag({ code: 0, message: "Order placed" }, { code: 1, message: "Order rejected" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Customer");
      await page.locator(".el-select").click();
      await page.getByRole("option", { name: p.text("Device") }).click();
      const [y, m, d] = p.text("Drop-off").slice(0, 10).split("-");
      await type(page, page.getByLabel("Drop-off"), `${d}.${m}.${y} ${p.text("Drop-off").slice(11)}`);
      await page.keyboard.press("Enter");
      for (const name of [...p.list("Faults"), p.text("Warranty")]) await page.getByText(name, { exact: true }).click();
      await page.getByRole("spinbutton").fill(p.text("Cost limit"));
      await page.keyboard.press("Tab");
      await page.locator("input[type=file]").setInputFiles(file(p.text("Receipt")));
      await click(person, "Express", page.locator(".el-switch"));
    },
    send: "Place repair order",
  },
  {
    id: "vue/naive-claim",
    title: "Damage claim",
    libraries: ["naive-ui"],
    people: people({
      "Policy number": ["HH-20931", "HH-77120", "KM-00417"],
      Place: ["Basel", "Chur", "Lugano"],
      Cause: ["Water / Flood", "Fire / Kitchen", "Water / Burst pipe"],
      "Day of damage": ["2026-10-14", "2026-11-03", "2026-09-28"],
      "Time of damage": ["15:40", "07:20", "22:05"],
      Damage: [1800, 350, 12400],
      "Damaged items": [["Walls"], ["Electronics", "Clothes"], ["Furniture", "Electronics", "Walls"]],
      "Police was called": [true, false, true],
    }),
    wire: {
      "Policy number": "number",
      Place: "place",
      Cause: [
        "cause",
        { "Water / Burst pipe": "w1", "Water / Flood": "w2", "Fire / Kitchen": "f1", "Fire / Lightning": "f2" },
      ],
      "Day of damage": "day",
      "Time of damage": "time",
      Damage: "damage",
      "Damaged items": ["items", { Furniture: "fu", Electronics: "el", Clothes: "cl", Walls: "wa" }],
      "Police was called": "police",
    },
    required: ["Policy number", "Cause"],
    answer: byFlag({ success: true, claim: "C-118" }, { success: false }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) =>
        page.locator(".n-form-item").filter({ has: page.getByText(label, { exact: true }) });
      await item("Policy number").locator("input").fill(p.text("Policy number"));
      await type(page, item("Place").locator("input"), p.text("Place").slice(0, 2));
      await page.locator(".n-base-select-option:visible").getByText(p.text("Place"), { exact: true }).click();
      await item("Cause").locator(".n-base-selection").click();
      for (const level of p.text("Cause").split(" / "))
        await page.locator(".n-cascader-option:visible").getByText(level, { exact: true }).click();
      for (const label of ["Day of damage", "Time of damage"]) {
        const text = p.text(label).split("-").reverse().join("/");
        await type(page, item(label).locator("input"), text);
        await page.keyboard.press("Enter");
        await page.mouse.click(1200, 20);
      }
      await item("Damage").locator("input").fill(p.text("Damage"));
      await item("Damaged items").locator(".n-base-selection").click();
      for (const name of p.list("Damaged items"))
        await page.locator(".n-base-select-option:visible").getByText(name, { exact: true }).click();
      await page.mouse.click(1200, 20);
      await click(person, "Police was called", page.getByRole("switch"));
    },
    send: "File claim",
  },
  {
    id: "vue/primevue-moving",
    title: "Moving quote",
    libraries: ["primevue"],
    people: people({
      Customer: NAMES,
      Van: ["Big truck", "Small van", "Medium van"],
      "Moving day": ["2026-12-14", "2027-01-09", "2027-02-26"],
      Arrival: ["08:30", "13:15", "10:45"],
      Rooms: [["Office"], ["Kitchen", "Cellar"], ["Kitchen", "Bedroom", "Cellar"]],
      Distance: [60, 10, 140],
      Floor: ["Higher", "Ground", "First"],
      "Insured value": [1500, 2750.5, 800],
      "I need boxes": [true, false, true],
    }),
    wire: {
      Customer: "move[customer]",
      Van: ["move[van]", { "Small van": "S", "Medium van": "M", "Big truck": "L" }],
      "Moving day": "move[day]",
      Arrival: "move[arrival]",
      Rooms: [
        "move[rooms][]",
        (rooms: readonly string[]) =>
          rooms.map((name) => String(["Kitchen", "Bedroom", "Office", "Cellar"].indexOf(name) + 1)),
      ],
      Distance: "move[distance]",
      Floor: ["move[floor]", (floor: string) => floor.toLowerCase()],
      "Insured value": "move[value]",
      "I need boxes": ["move[boxes]", { true: "yes", false: "no" }],
    },
    required: ["Customer", "Van"],
    answer: ({ accepted }) => ({ status: accepted ? 200 : 400, json: accepted ? { quote: 31 } : "bad request" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#customer").fill(p.text("Customer"));
      await page.locator(".p-select").click();
      await page.getByRole("option", { name: p.text("Van") }).click();
      await type(page, page.locator("#day"), p.text("Moving day").split("-").reverse().join("."));
      await page.keyboard.press("Tab");
      await page.mouse.click(1200, 20);
      await type(page, page.locator("#arrival"), p.text("Arrival"));
      await page.keyboard.press("Tab");
      await page.mouse.click(1200, 20);
      await page.locator(".p-multiselect").click();
      for (const name of p.list("Rooms")) await page.getByRole("option", { name }).click();
      await page.mouse.click(1200, 20);
      await page.getByRole("slider").focus();
      const ahead = (p.number("Distance") - 20) / 10;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.getByLabel(p.text("Floor"), { exact: true }).check();
      await page.locator("#value").click();
      await page.keyboard.type(p.text("Insured value").replace(".", ","), { delay: 20 });
      await page.keyboard.press("Tab");
      await click(person, "I need boxes", page.getByLabel("I need boxes"));
    },
    send: "Request quote",
  },
  {
    id: "vue/antdv-job",
    title: "Job application",
    libraries: ["ant-design-vue"],
    people: people({
      Applicant: NAMES,
      Town: ["Gera", "Halle", "Jena"],
      Department: ["Packing", "Sales", "Accounting"],
      "Holiday booked": ["2026-12-21 - 2027-01-03", "2027-01-11 - 2027-01-22", "2027-02-08 - 2027-02-19"],
      "Salary wish": [36500, 28000, 41200],
      "Hours a week": [30, 15, 38],
      Languages: [["German"], ["English", "Polish"], ["English", "German", "Polish"]],
      "Driving licence": [true, false, true],
    }),
    wire: {
      Applicant: "applicant",
      Town: "town",
      Department: ["department", { Assembly: "p-1", Packing: "p-2", Accounting: "o-1", Sales: "o-2" }],
      "Holiday booked": ["holiday", (range: string) => ({ from: range.slice(0, 10), to: range.slice(13) })],
      "Salary wish": "salary",
      "Hours a week": "hours",
      Languages: ["languages", { English: "en", German: "de", Polish: "pl" }],
      "Driving licence": "car",
    },
    required: ["Applicant", "Town"],
    answer: byStatus({ application: 8 }),
    lookup: ["Gera", "Gotha", "Halle", "Jena", "Weimar"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Applicant");
      await suggest(page, "#form_item_town", p.text("Town"), ".ant-select-item-option");
      await page.locator(".ant-tree-select").click();
      await page.locator(".ant-select-tree-title").getByText(p.text("Department"), { exact: true }).click();
      for (const [i, one] of p.text("Holiday booked").split(" - ").entries()) {
        await type(page, page.locator(".ant-picker-range input").nth(i), one);
        await page.keyboard.press("Enter");
      }
      await page.getByRole("spinbutton").fill(p.text("Salary wish"));
      await page.keyboard.press("Tab");
      await page.getByRole("slider").focus();
      const ahead = p.number("Hours a week") - 20;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      for (const name of p.list("Languages")) await page.getByLabel(name, { exact: true }).check();
      await click(person, "Driving licence", page.getByRole("switch"));
    },
    send: "Apply",
  },
];
