import type { Page } from "playwright";
import { click, of, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, graphql, NAMES, people } from "../page.js";

/** Types digits into a date of parts, which pass the cursor on. */
async function typeDay(page: Page, first: ReturnType<Page["locator"]>, digits: string): Promise<void> {
  await first.click();
  await page.keyboard.type(digits, { delay: 40 });
}

export const pages: ComponentPage[] = [
  {
    id: "react/aksel-grant",
    title: "Grant",
    libraries: ["@navikt/ds-react"],
    people: people({
      Applicant: NAMES,
      "Amount applied for": [4200, 11500, 730],
      "Kind of home": ["Flat", "Farm", "Detached house"],
      District: ["Molde", "Bergen", "Tromso"],
      "What the grant is for": [
        ["Heat pump"],
        ["Insulation", "New windows"],
        ["Insulation", "Solar roof", "Heat pump"],
      ],
      "Work begins on": ["2026-12-14", "2027-01-25", "2027-03-08"],
      "Pay out": ["Against bills", "Bank transfer", "In instalments"],
      Reasons: ["The roof leaks", "We heat with oil", "The windows are sixty years old"],
      "Offer of a tradesman": ["offer.pdf", "quote.png", "estimate.txt"],
      "I draw a pension": [true, false, true],
      "All of this is true": [true, false, true],
    }),
    wire: {
      Applicant: "applicant",
      "Amount applied for": ["sum", String],
      "Kind of home": ["home", { "Detached house": "house", Flat: "flat", Farm: "farm" }],
      District: "district",
      "What the grant is for": [
        "purposes[]",
        { Insulation: "ins", "Heat pump": "heat", "Solar roof": "sol", "New windows": "win" },
      ],
      "Work begins on": "begins",
      "Pay out": ["payout", { "Bank transfer": "bank", "Against bills": "bill", "In instalments": "rate" }],
      Reasons: "reason",
      "Offer of a tradesman": "offer",
      "I draw a pension": ["pension", String],
      "All of this is true": ["confirmed", (on: boolean) => (on ? "yes" : "no")],
    },
    required: ["Applicant"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Applicant", "Amount applied for", "Reasons");
      await page.getByLabel("Kind of home").selectOption({ label: p.text("Kind of home") });
      for (const [label, names] of [
        ["District", [p.text("District")]],
        ["What the grant is for", p.list("What the grant is for")],
      ] as const) {
        for (const name of names) {
          await page.getByLabel(label, { exact: true }).first().fill(name);
          await page.getByRole("option", { name, exact: true }).click();
        }
        await page.keyboard.press("Escape");
      }
      await page.getByLabel("Work begins on").fill(day(p.text("Work begins on"), "DD.MM.YYYY"));
      await page.keyboard.press("Tab");
      await page.getByRole("radio", { name: p.text("Pay out") }).click();
      const file = { name: p.text("Offer of a tradesman"), mimeType: "text/plain", buffer: Buffer.from("x") };
      await page.locator("input[type=file]").setInputFiles(file);
      await click(person, "I draw a pension", page.getByLabel("I draw a pension"));
      await click(person, "All of this is true", page.getByLabel("All of this is true"));
    },
    send: "Apply",
  },
  {
    id: "react/vkui-courier",
    title: "Courier",
    libraries: ["@vkontakte/vkui"],
    people: people({
      Sender: NAMES,
      Depot: ["Airport", "Old town", "Harbour"],
      "Collect on": ["2026-12-11", "2027-01-22", "2027-03-05"],
      Weight: [12, 3, 21],
      Extras: [["Cooling"], ["Insurance", "Two persons"], ["Insurance", "Return receipt", "Cooling"]],
      "Parcel size": ["Large", "Medium", "Small"],
      "Who pays": ["Receiver pays", "Sender pays", "On account"],
      References: [["A-17"], ["B-20", "B-21"], ["K-3", "K-4", "K-9"]],
      "For the driver": ["Ring at the gate", "The yard is behind the house", "Ask for the porter"],
      "Leave at the door": [true, false, true],
    }),
    wire: {
      Sender: "pickup.sender",
      Depot: ["pickup.depot", { Harbour: "d-hb", "Old town": "d-ot", Airport: "d-ap", "North park": "d-np" }],
      "Collect on": "pickup.on",
      Weight: "pickup.parcel.kilos",
      Extras: ["pickup.extras", { Insurance: "ins", "Return receipt": "rr", Cooling: "cool", "Two persons": "two" }],
      "Parcel size": ["pickup.parcel.size", { Small: "s", Medium: "m", Large: "l" }],
      "Who pays": ["pickup.payment", { "Sender pays": "snd", "Receiver pays": "rcv", "On account": "acc" }],
      References: "pickup.references",
      "For the driver": "pickup.note",
      "Leave at the door": "pickup.leaveAtDoor",
    },
    required: ["Sender", "Depot"],
    answer: byFlag({ ok: true }, { ok: false, error: "Sender and depot are needed" }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) => page.locator(".vkuiFormItem__host").filter({ hasText: label });
      await page.getByLabel("Sender", { exact: true }).fill(p.text("Sender"));
      await item("Depot").getByRole("combobox").click();
      await page.getByRole("option", { name: p.text("Depot") }).click();
      // a click opens the calendar, which takes the keys
      await item("Collect on").locator("[role=spinbutton]").first().focus();
      await page.keyboard.type(day(p.text("Collect on"), "DDMMYYYY"), { delay: 40 });
      await page.keyboard.press("Tab");
      await page.locator("input[type=range]").focus();
      const ahead = p.number("Weight") - 5;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      for (const name of p.list("Extras")) {
        await item("Extras").locator("input").last().click();
        await page.getByRole("option", { name, exact: true }).click();
      }
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Parcel size"), { exact: true }).click();
      await page.getByText(p.text("Who pays"), { exact: true }).click();
      for (const one of p.list("References")) {
        await type(page, item("References").locator("input").last(), one);
        await page.keyboard.press("Enter");
      }
      await page.getByRole("textbox").last().fill(p.text("For the driver"));
      await click(person, "Leave at the door", page.getByText("Leave at the door"));
    },
    send: "Order courier",
  },
  {
    id: "react/gravity-server",
    title: "Server",
    libraries: ["@gravity-ui/uikit", "@gravity-ui/date-components"],
    people: people({
      "Server name": ["web-7", "mail-2", "build-11"],
      Region: ["Osaka", "Helsinki", "Virginia"],
      "Add-ons": [["Monitoring"], ["Backups", "Static address"], ["Backups", "Load balancer", "Monitoring"]],
      Cores: [8, 4, 16],
      "Disk in GB": [120, 30, 80],
      System: ["FreeBSD", "Debian", "Windows"],
      "Delete it on": ["2026-12-18", "2027-02-01", "2027-03-19"],
      "Open to": [["Shell"], ["Web", "Mail"], ["Web", "Mail", "Shell"]],
      Comment: ["For the spring sale", "Replaces the old one", "Runs at night only"],
      "Protect against deletion": [true, false, true],
      "I pay for it": [false, true, true],
    }),
    wire: {
      "Server name": "variables.input.hostname",
      Region: [
        "variables.input.region",
        { Frankfurt: "eu-1", Helsinki: "eu-2", Virginia: "us-1", Osaka: "ap-1", "Sao Paulo": "sa-1" },
      ],
      "Add-ons": [
        "variables.input.addons",
        { Backups: "bak", "Load balancer": "lb", "Static address": "ip", Monitoring: "mon" },
      ],
      Cores: "variables.input.size.cores",
      "Disk in GB": "variables.input.size.disk",
      System: ["variables.input.image", { Debian: "deb", FreeBSD: "bsd", Windows: "win" }],
      "Delete it on": "variables.input.expires",
      "Open to": ["variables.input.tier", { Web: "http", Mail: "smtp", Shell: "ssh" }],
      Comment: "variables.input.comment",
      "Protect against deletion": "variables.input.protected",
      "I pay for it": "variables.input.terms",
    },
    required: ["Server name", "Region"],
    answer: graphql("createServer"),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#name").fill(p.text("Server name"));
      await page.locator(".g-select").first().click();
      await page
        .locator(".g-select-list__option")
        .filter({ hasText: p.text("Region") })
        .click();
      await page.locator(".g-select").nth(1).click();
      for (const name of p.list("Add-ons"))
        await page.locator(".g-select-list__option").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.locator("#cores").fill(p.text("Cores"));
      await page.keyboard.press("Tab");
      await page.locator(".g-slider [role=slider]").focus();
      const ahead = (p.number("Disk in GB") - 40) / 10;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.getByLabel(p.text("System"), { exact: true }).check();
      await typeDay(page, page.locator("#until"), day(p.text("Delete it on"), "DDMMYYYY"));
      await page.keyboard.press("Escape");
      for (const name of p.list("Open to")) await page.getByRole("button", { name, exact: true }).click();
      await page.locator("#note").fill(p.text("Comment"));
      await click(person, "Protect against deletion", page.getByText("Protect against deletion"));
      await click(person, "I pay for it", page.getByText("I pay for it"));
    },
    send: "Create server",
  },
  {
    id: "react/antdmobile-repair",
    title: "Repair",
    libraries: ["antd-mobile"],
    people: people({
      Customer: NAMES,
      Appliance: ["Oven", "Dishwasher", "Washing machine"],
      "Day of the visit": ["2026-12-03", "2027-01-20", "2026-12-17"],
      "Age in years": [4, 7, 2],
      "I am at home": [["Evening"], ["Morning", "Noon"], ["Morning", "Noon", "Evening"]],
      "Bring along": [["Pump"], ["Hose", "Door seal"], ["Hose", "Pump", "Door seal"]],
      "Pay by": ["Card", "Cash", "Invoice"],
      "Our last visit": [4, 2, 5],
      "What is wrong": ["It leaks", "It does not heat", "It makes a noise"],
      "Under warranty": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      Appliance: ["device", { "Washing machine": "wm", Dishwasher: "dw", Oven: "ov", Fridge: "fr" }],
      "Day of the visit": "day",
      "Age in years": "age",
      "I am at home": ["slots", { Morning: "am", Noon: "mid", Evening: "pm" }],
      "Bring along": ["parts", { Hose: "hose", Pump: "pump", "Door seal": "seal" }],
      "Pay by": ["pay", { Cash: "cash", Card: "card", Invoice: "bill" }],
      "Our last visit": "mood",
      "What is wrong": "trouble",
      "Under warranty": "warranty",
    },
    required: ["Customer", "Appliance"],
    answer: byFlag({ success: true }, { success: false }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) => page.locator(".adm-form-item").filter({ hasText: label });
      await page.getByPlaceholder("Full name").fill(p.text("Customer"));
      // a wheel goes where one of its lines is clicked
      const turn = async (column: number, text: string): Promise<void> => {
        const lines = page
          .locator(".adm-popup-body:visible .adm-picker-view-column")
          .nth(column)
          .locator(".adm-picker-view-column-item");
        const texts = await lines.allInnerTexts();
        for (let i = 0; i < 40; i++) {
          const at = await lines.evaluateAll((all) => all.findIndex((e) => e.getAttribute("data-selected") === "true"));
          const ahead = texts.findIndex((line) => line.trim() === text) - at;
          if (ahead === 0) return;
          await lines.nth(at + Math.sign(ahead) * Math.min(2, Math.abs(ahead))).click({ force: true });
          await page.waitForTimeout(500);
        }
      };
      const popup = page.locator(".adm-popup-body:visible");
      const confirm = async (): Promise<void> => {
        await popup.getByText("Confirm", { exact: true }).click();
        await popup.waitFor({ state: "detached" });
      };
      await item("Appliance").click();
      await popup.waitFor();
      await page.waitForTimeout(600);
      await turn(0, p.text("Appliance"));
      await confirm();
      await item("Day of the visit").click();
      await popup.waitFor();
      await page.waitForTimeout(600);
      const [year = "", month = "", date = ""] = p
        .text("Day of the visit")
        .split("-")
        .map((part) => String(Number(part)));
      await turn(0, year);
      await turn(1, month);
      await turn(2, date);
      await confirm();
      await item("Age in years").locator("input").fill(p.text("Age in years"));
      await page.keyboard.press("Tab");
      for (const name of p.list("I am at home")) await item("I am at home").getByText(name, { exact: true }).click();
      for (const name of p.list("Bring along")) await item("Bring along").getByText(name, { exact: true }).click();
      await item("Pay by").getByText(p.text("Pay by"), { exact: true }).click();
      await item("Our last visit")
        .locator(".adm-rate-star")
        .nth(p.number("Our last visit") - 1)
        .click();
      await item("What is wrong").locator("textarea").fill(p.text("What is wrong"));
      await click(person, "Under warranty", item("Under warranty").getByRole("switch"));
    },
    send: "Ask for a visit",
  },
  {
    id: "react/eufemia-loan",
    title: "Loan",
    libraries: ["@dnb/eufemia"],
    people: people({
      "Given name": ["Ann", "Bo", "Chidi"],
      Mobile: ["41234567", "92345678", "48765432"],
      "Born on": ["1984-03-09", "1991-11-23", "1976-07-30"],
      Employment: ["Self-employed", "Employed", "Retired"],
      "Loan amount": [180000, 25000, 342000],
      "Term in years": [15, 4, 22],
      Securities: [["Bonds"], ["House", "Car"], ["House", "Car", "Bonds"]],
      Interest: ["Variable", "Fixed", "Mixed"],
      Purpose: ["A workshop", "A boat for the lake", "The roof of our house"],
      "My first loan": [true, false, true],
    }),
    wire: {
      "Given name": "application.firstName",
      Mobile: ["application.phone", (number: string) => `+47${number}`],
      "Born on": "application.born",
      Employment: ["application.work", { Employed: "emp", "Self-employed": "self", Retired: "ret" }],
      "Loan amount": "application.amount",
      "Term in years": "application.term",
      Securities: ["application.securities", { House: "house", Car: "car", Bonds: "bond" }],
      Interest: ["application.rate", { Fixed: "fix", Variable: "var", Mixed: "mix" }],
      Purpose: "application.purpose",
      "My first loan": "application.newcomer",
    },
    required: ["Given name"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Given name").fill(p.text("Given name"));
      await page.getByLabel("Mobile").fill(p.text("Mobile"));
      await typeDay(page, page.locator(".dnb-date-picker__input").first(), day(p.text("Born on"), "DDMMYYYY"));
      await page.keyboard.press("Tab");
      await page.locator(".dnb-dropdown__trigger").last().click();
      await page.getByRole("option", { name: p.text("Employment"), exact: true }).click();
      await page.getByRole("button", { name: "Next" }).click();
      await page.getByLabel("Loan amount").fill(p.text("Loan amount"));
      await page.locator("input[type=range]").focus();
      const ahead = p.number("Term in years") - 10;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      for (const name of p.list("Securities")) await page.getByLabel(name, { exact: true }).check();
      await page.getByText(p.text("Interest"), { exact: true }).click();
      await page.getByLabel("Purpose").fill(p.text("Purpose"));
      await click(person, "My first loan", page.getByLabel("My first loan"));
    },
    async send(page) {
      const next = page.getByRole("button", { name: "Next" });
      await ((await next.isVisible()) ? next : page.getByRole("button", { name: "Apply for the loan" })).click();
    },
  },
];
