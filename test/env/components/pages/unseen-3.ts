import { click, of, type } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, graphql, NAMES, people, redirect } from "../page.js";

const yes = (on: string) => (value: boolean) => (value ? on : undefined);

export const pages: ComponentPage[] = [
  {
    id: "elements/nord-visit",
    title: "Farm visit",
    libraries: ["@nordhealth/components"],
    people: people({
      Farm: ["Elm Farm", "Hill Top", "Brook House"],
      Animal: ["Pig", "Hen", "Cow"],
      "Visit day": ["2026-12-08", "2027-01-14", "2027-02-03"],
      "Head count": [14, 230, 38],
      Urgency: ["Soon", "Routine", "Emergency"],
      "Distance in km": [35, 12, 27],
      Symptoms: ["Will not eat", "Loses feathers", "Coughs at night"],
      "Bring a trailer": [true, false, true],
      "Fee agreed": [false, true, false],
    }),
    wire: {
      Farm: "farm",
      Animal: ["animal", { Cow: "cow", Pig: "pig", Hen: "hen" }],
      "Visit day": "day",
      "Head count": ["heads", String],
      Urgency: ["urgency", { Routine: "r", Soon: "s", Emergency: "e" }],
      "Distance in km": ["km", String],
      Symptoms: "symptoms",
      "Bring a trailer": ["trailer", yes("yes")],
      "Fee agreed": ["fee", yes("1")],
    },
    required: ["Farm", "Animal"],
    answer: redirect("Farm and animal are needed."),
    async fill(page, person) {
      const p = of(person);
      await page.locator("nord-input input").first().fill(p.text("Farm"));
      await page.locator("nord-input input").last().fill(p.text("Head count"));
      await page.locator("nord-textarea textarea").fill(p.text("Symptoms"));
      await page.locator("nord-range input").fill(p.text("Distance in km"));
      await page.locator("nord-select select").selectOption({ label: p.text("Animal") });
      await page.locator("nord-date-picker input").first().fill(p.text("Visit day"));
      await page.keyboard.press("Tab");
      await page.getByLabel(p.text("Urgency"), { exact: true }).check();
      await click(person, "Bring a trailer", page.getByText("Bring a trailer"));
      await click(person, "Fee agreed", page.getByText("Fee agreed"));
    },
    send: "Call the vet",
  },
  {
    id: "react/primer-issue",
    title: "Issue",
    libraries: ["@primer/react"],
    people: people({
      Title: ["Button is grey", "Slow list", "Wrong date"],
      Area: ["Storage", "Network", "Interface"],
      Assignee: ["Bastian", "Chloe", "Amara"],
      Kind: ["Wish", "Defect", "Chore"],
      "Seen in": [["Safari"], ["Firefox", "Edge"], ["Firefox", "Safari", "Edge"]],
      Labels: [["urgent"], ["good first", "help"], ["legacy", "docs", "beta"]],
      "Due on": ["2026-12-18", "2027-01-25", "2027-03-09"],
      Description: ["It should be blue", "Ten seconds for forty rows", "A day too early"],
      "Notify me": [true, false, true],
    }),
    wire: {
      Title: "variables.input.title",
      Area: ["variables.input.area", { Interface: "ui", Storage: "db", Network: "net" }],
      Assignee: "variables.input.assignee",
      Kind: ["variables.input.kind", { Defect: "bug", Wish: "feat", Chore: "task" }],
      "Seen in": ["variables.input.browsers", { Firefox: "firefox", Safari: "safari", Edge: "edge" }],
      Labels: "variables.input.labels",
      "Due on": "variables.input.due",
      Description: "variables.input.body",
      "Notify me": "variables.input.notify",
    },
    required: ["Title", "Area"],
    answer: graphql("openIssue"),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Title").fill(p.text("Title"));
      await page.getByLabel("Area").selectOption({ label: p.text("Area") });
      await page.getByText("Nobody").click();
      await page.getByRole("menuitemradio", { name: p.text("Assignee") }).click();
      await page.getByLabel(p.text("Kind"), { exact: true }).check();
      for (const name of p.list("Seen in")) await page.getByLabel(name, { exact: true }).check();
      for (const label of p.list("Labels")) {
        await type(page, page.getByLabel("Labels").last(), label);
        await page.keyboard.press("Enter");
      }
      await page.getByLabel("Due on").fill(p.text("Due on"));
      await page.getByLabel("Description").fill(p.text("Description"));
      await click(person, "Notify me", page.getByRole("button", { name: "Notify me" }));
    },
    send: "Open issue",
  },
  {
    id: "vue/buefy-ride",
    title: "Ride",
    libraries: ["buefy"],
    people: people({
      Rider: NAMES,
      Stable: ["Mill yard", "Hill farm", "North barn"],
      Horse: ["Comet", "Donner", "Bella"],
      "Ride day": ["2026-12-11", "2027-01-16", "2027-02-20"],
      Start: ["09:15", "14:40", "11:05"],
      Riders: [3, 6, 2],
      Gear: [["crop"], ["boots", "gloves"], ["saddle", "vest", "spurs"]],
      Level: ["Advanced", "Beginner", "Professional"],
      "Lend me a helmet": [true, false, true],
    }),
    wire: {
      Rider: "name",
      Stable: ["stable", { "North barn": "n", "Mill yard": "m", "Hill farm": "h" }],
      Horse: "horse",
      "Ride day": "day",
      Start: "time",
      Riders: ["riders", String],
      Gear: "gear[]",
      Level: ["level", { Beginner: "b", Advanced: "a", Professional: "p" }],
      "Lend me a helmet": ["helmet", (on: boolean) => (on ? "1" : "0")],
    },
    required: ["Rider", "Stable"],
    answer: byFlag({ booked: true }, { booked: false }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) => page.locator(".field").filter({ hasText: label });
      await item("Rider").locator("input").first().fill(p.text("Rider"));
      await page
        .locator("select")
        .first()
        .selectOption({ label: p.text("Stable") });
      await item("Horse").locator("input").first().fill(p.text("Horse"));
      await page.keyboard.press("Tab");
      await item("Ride day").locator("input").first().click();
      const days = page.locator(".datepicker");
      const [year = "", month, date] = p.text("Ride day").split("-");
      await days
        .locator("select")
        .nth(0)
        .selectOption({ index: Number(month) - 1 });
      await days.locator("select").nth(1).selectOption({ label: year });
      await days
        .locator(".datepicker-cell.is-selectable")
        .filter({ hasText: new RegExp(`^\\s*${Number(date)}\\s*$`) })
        .click();
      await item("Start").locator("input").first().click();
      const [hour = "", minute = ""] = p.text("Start").split(":");
      await page.locator(".timepicker select").nth(0).selectOption({ label: hour });
      await page.locator(".timepicker select").nth(1).selectOption({ label: minute });
      await page.keyboard.press("Escape");
      await item("Riders").locator("input").last().fill(p.text("Riders"));
      for (const tag of p.list("Gear")) await type(page, page.locator(".taginput input"), `${tag},`);
      await page.getByText(p.text("Level"), { exact: true }).click();
      await click(person, "Lend me a helmet", page.getByText("Lend me a helmet"));
    },
    send: "Book ride",
  },
  {
    id: "angular/zorro-claim",
    title: "Expenses",
    libraries: ["ng-zorro-antd"],
    people: people({
      Employee: NAMES,
      Project: ["Tunnel", "Harbour", "Bridge"],
      "Cost centre": ["Works / Stores", "Sales / Export", "Works / Assembly"],
      "Spent on": ["2026-10-06", "2026-08-19", "2026-11-03"],
      Amount: [48, 310, 125],
      Kinds: [["Hotel"], ["Food", "Travel"], ["Food", "Hotel", "Other"]],
      "Paid with": ["Cash", "Card", "Invoice"],
      "Hotel rating": [4, 2, 5],
      Abroad: [true, false, true],
    }),
    wire: {
      Employee: "claim.employee",
      Project: ["claim.project", { Bridge: "p1", Tunnel: "p2", Harbour: "p3" }],
      "Cost centre": [
        "claim.centre",
        { "Works / Stores": ["works", "w2"], "Sales / Export": ["sales", "s2"], "Works / Assembly": ["works", "w1"] },
      ],
      "Spent on": "claim.spent",
      Amount: "claim.amount",
      Kinds: ["claim.kinds", { Food: "f", Hotel: "h", Travel: "t", Other: "o" }],
      "Paid with": ["claim.paid", { Card: "C", Cash: "B", Invoice: "I" }],
      "Hotel rating": "claim.stars",
      Abroad: "claim.abroad",
    },
    required: ["Employee", "Project"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#employee").fill(p.text("Employee"));
      await page.locator("nz-select").nth(0).click();
      await page
        .locator("nz-option-item")
        .filter({ hasText: p.text("Project") })
        .click();
      await page.locator("nz-cascader").click();
      for (const level of p.text("Cost centre").split(" / "))
        await page.locator(".ant-cascader-menu-item").filter({ hasText: level }).click();
      await type(page, page.locator("#spent"), p.text("Spent on"));
      await page.locator(".ant-picker-cell-selected").click();
      await page.locator("#amount").fill(p.text("Amount"));
      await page.locator("nz-select").nth(1).click();
      for (const kind of p.list("Kinds")) await page.locator("nz-option-item").filter({ hasText: kind }).click();
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Paid with"), { exact: true }).click();
      await page
        .locator("nz-rate li")
        .nth(p.number("Hotel rating") - 1)
        .click();
      await click(person, "Abroad", page.locator("nz-switch button"));
    },
    send: "Hand in claim",
  },
];
