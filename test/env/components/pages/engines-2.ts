import { click, of } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

const DAYS = ["2026-12-08", "2027-01-21", "2027-03-05"];

export const pages: ComponentPage[] = [
  {
    id: "engines/jsoneditor-recipe",
    title: "Recipe",
    libraries: ["@json-editor/json-editor"],
    people: people({
      Dish: ["Lentil soup", "Apple pie", "Stuffed peppers"],
      Course: ["Starter", "Dessert", "Main course"],
      Servings: [6, 12, 2],
      Minutes: [45, 90, 60],
      Diets: [["Vegan"], ["Kosher", "Halal"], ["Vegan", "Kosher", "Halal"]],
      Story: ["From my aunt", "Of the old mill", "A summer in Crete"],
      Spicy: [true, false, true],
    }),
    wire: {
      Dish: "recipe.dish",
      Course: ["recipe.course", { Starter: "s", "Main course": "m", Dessert: "d" }],
      Servings: "recipe.servings",
      Minutes: "recipe.minutes",
      Diets: ["recipe.diets", { Vegan: "vegan", Kosher: "kosher", Halal: "halal" }],
      Story: "recipe.story",
      Spicy: "recipe.spicy",
    },
    required: ["Dish"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("[name='root[dish]']").fill(p.text("Dish"));
      await page.locator("[name='root[course]']").selectOption({ label: p.text("Course") });
      await page.locator("[name='root[servings]']").fill(p.text("Servings"));
      await page.locator("[name='root[minutes]']").fill(p.text("Minutes"));
      for (const name of p.list("Diets")) await page.getByLabel(name).check();
      await page.locator("[name='root[story]']").fill(p.text("Story"));
      await page.keyboard.press("Tab");
      await click(person, "Spicy", page.locator("[name='root[spicy]']"));
    },
    send: "Save recipe",
  },
  {
    id: "engines/formjs-invoice",
    title: "Invoice",
    libraries: ["@bpmn-io/form-js-viewer"],
    people: people({
      Creditor: NAMES,
      Amount: [120.5, 99, 2400],
      "Due date": DAYS,
      Currency: ["Swedish krona", "Euro", "Swiss franc"],
      Teams: [["Legal"], ["Finance", "People"], ["Finance", "Legal", "Operations"]],
      Priority: ["High", "Low", "Normal"],
      Checked: [["Order"], ["Sum", "Value added tax"], ["Sum", "Value added tax", "Order"]],
      Note: ["Two copies", "Late delivery", "With discount"],
      "Paid already": [true, false, true],
    }),
    wire: {
      Creditor: "variables.creditor",
      Amount: "variables.amount",
      "Due date": "variables.due",
      Currency: ["variables.currency", { Euro: "EUR", "Swiss franc": "CHF", "Swedish krona": "SEK" }],
      Teams: ["variables.teams", { Finance: "fin", Legal: "law", Operations: "ops", People: "hr" }],
      Priority: ["variables.prio", { Low: "1", Normal: "2", High: "3" }],
      Checked: ["variables.checks", { Sum: "sum", "Value added tax": "vat", Order: "ord" }],
      Note: "variables.note",
      "Paid already": "variables.paid",
    },
    required: ["Creditor"],
    answer: byFlag({ ok: 1 }, { ok: 0 }),
    async fill(page, person) {
      const p = of(person);
      for (const label of ["Creditor", "Amount", "Note"]) await page.getByLabel(label).first().fill(p.text(label));
      await page.getByLabel("Due date").fill(day(p.text("Due date"), "M/D/YYYY"));
      await page.keyboard.press("Enter");
      await page.locator(".fjs-form-field-select .fjs-input-group").click();
      await page
        .locator(".fjs-dropdownlist-item")
        .filter({ hasText: p.text("Currency") })
        .click();
      for (const name of p.list("Teams")) {
        await page.getByLabel("Teams").fill(name);
        await page.locator(".fjs-dropdownlist-item").filter({ hasText: name }).click();
      }
      await page.keyboard.press("Escape");
      await page.getByLabel(p.text("Priority"), { exact: true }).check();
      for (const name of p.list("Checked")) await page.getByLabel(name, { exact: true }).check();
      await click(person, "Paid already", page.getByLabel("Paid already"));
    },
    send: "Enter invoice",
  },
];
