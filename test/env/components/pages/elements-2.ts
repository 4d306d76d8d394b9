import { click, of, pick, press, type } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people, redirect } from "../page.js";

const DAYS = ["2026-12-08", "2027-01-21", "2027-03-05"];
const on = (value: string) => (is: boolean) => (is ? value : undefined);

export const pages: ComponentPage[] = [
  {
    id: "elements/webawesome-claim",
    title: "Claim",
    libraries: ["@awesome.me/webawesome"],
    people: people({
      "Policy holder": NAMES,
      "Kind of damage": ["Theft", "Water", "Fire"],
      Rooms: [["Cellar"], ["Kitchen", "Bathroom"], ["Kitchen", "Living room", "Cellar"]],
      "Day of damage": DAYS,
      "Paid out": ["To the workshop", "By transfer", "By cheque"],
      "Own share": [10, 25, 40],
      "Our service": [4, 2, 5],
      "What happened": ["A pipe burst", "A candle fell", "The door was forced"],
      "Photographs follow": [true, false, true],
      "Police informed": [false, true, false],
    }),
    wire: {
      "Policy holder": "holder",
      "Kind of damage": ["kind", { Water: "w", Fire: "f", Theft: "t" }],
      Rooms: ["rooms", { Kitchen: "kit", Bathroom: "bat", "Living room": "liv", Cellar: "cel" }],
      "Day of damage": "day",
      "Paid out": ["pay", { "By transfer": "b", "By cheque": "c", "To the workshop": "r" }],
      "Own share": "share",
      "Our service": "stars",
      "What happened": "story",
      "Photographs follow": ["photos", on("1")],
      "Police informed": ["police", on("1")],
    },
    required: ["Policy holder", "Kind of damage"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Policy holder").fill(p.text("Policy holder"));
      await pick(page, page.getByRole("combobox", { name: "Kind of damage" }), p.text("Kind of damage"));
      await pick(page, page.getByRole("combobox", { name: "Rooms" }), ...p.list("Rooms"));
      await page.keyboard.press("Escape");
      await page.getByLabel("Day of damage").fill(p.text("Day of damage"));
      await page.getByRole("radio", { name: p.text("Paid out") }).click();
      await page.getByRole("slider", { name: "Own share" }).focus();
      for (let i = 0; i < p.number("Own share"); i++) await page.keyboard.press("ArrowRight", { delay: 20 });
      await page
        .locator("wa-rating .symbol")
        .nth(p.number("Our service") - 1)
        .click({ force: true });
      await page.getByLabel("What happened").fill(p.text("What happened"));
      await click(person, "Photographs follow", page.getByText("Photographs follow"));
      await click(person, "Police informed", page.getByText("Police informed"));
    },
    send: "Report damage",
  },
  {
    id: "elements/spectrum-lab",
    title: "Laboratory",
    libraries: ["@spectrum-web-components/bundle"],
    people: people({
      Project: ["Algae", "Cement", "Polymers"],
      Device: ["Drying oven", "Microscope", "Centrifuge"],
      Hours: [3, 6, 10],
      "Time slot": ["Night", "Morning", "Afternoon"],
      "Load in percent": [70, 20, 90],
      Remarks: ["Keep it warm", "Do not open", "Clean glass only"],
      "Needs help": [true, false, true],
      "Cleans up afterwards": [false, true, false],
    }),
    wire: {
      Project: "project",
      Device: ["device", { Microscope: "mic", Centrifuge: "cen", "Drying oven": "oven" }],
      Hours: "hours",
      "Time slot": ["slot", { Morning: "m", Afternoon: "a", Night: "n" }],
      "Load in percent": "load",
      Remarks: "remarks",
      "Needs help": "help",
      "Cleans up afterwards": "clean",
    },
    required: ["Project", "Device"],
    answer: byFlag({ reservation: 31 }, { reservation: null }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#project input").fill(p.text("Project"));
      await page.locator("#device").click();
      await page
        .locator("sp-menu-item")
        .filter({ hasText: p.text("Device") })
        .click();
      await page.locator("#hours input").fill(p.text("Hours"));
      await page.keyboard.press("Tab");
      await page
        .locator("sp-radio")
        .filter({ hasText: p.text("Time slot") })
        .click();
      await page.getByRole("slider").focus();
      for (let i = 50; i < p.number("Load in percent"); i += 10) await page.keyboard.press("ArrowRight");
      for (let i = 50; i > p.number("Load in percent"); i -= 10) await page.keyboard.press("ArrowLeft");
      await page.locator("#remarks textarea").fill(p.text("Remarks"));
      await click(person, "Needs help", page.locator("#help"));
      await click(person, "Cleans up afterwards", page.locator("#clean"));
    },
    send: "Reserve device",
  },
  {
    id: "elements/duet-surgery",
    title: "Ajanvaraus",
    libraries: ["@duetds/date-picker", "@github/auto-complete-element", "toolcool-range-slider"],
    people: people({
      Nimi: NAMES,
      Päivä: DAYS,
      Klinikka: ["Töölö", "Kallio", "Pasila"],
      Kipu: [3, 6, 9],
      Kieli: ["englanti", "suomi", "ruotsi"],
      Muistutus: [true, false, true],
    }),
    wire: {
      Nimi: "nimi",
      Päivä: "paiva",
      Klinikka: "klinikka",
      Kipu: "kipu",
      Kieli: ["kieli", { suomi: "fi", ruotsi: "sv", englanti: "en" }],
      Muistutus: ["muistutus", on("k")],
    },
    required: ["Nimi", "Klinikka"],
    lookup: ["Kallio", "Kamppi", "Pasila", "Töölö"],
    answer: redirect("Tietoja puuttuu"),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Nimi").fill(p.text("Nimi"));
      await page.locator("duet-date-picker input").first().fill(p.text("Päivä"));
      await page.keyboard.press("Tab");
      await type(page, page.getByLabel("Klinikka"), p.text("Klinikka"));
      await page.getByRole("option", { name: p.text("Klinikka") }).click();
      await page.locator("#kipu").getByRole("slider").first().focus();
      await press(page, "ArrowRight", p.number("Kipu"));
      await page.getByLabel(p.text("Kieli")).check();
      await click(person, "Muistutus", page.getByLabel("Muistutus"));
    },
    send: "Varaa aika",
  },
  {
    id: "elements/mdui-club",
    title: "Course",
    libraries: ["mdui"],
    people: people({
      "Your name": NAMES,
      "Mail address": MAILS,
      Course: ["Weaving", "Pottery", "Painting"],
      Weekdays: [["Friday"], ["Monday", "Wednesday"], ["Monday", "Wednesday", "Friday"]],
      Experience: ["A lot", "None at all", "A little"],
      Materials: ["Bought", "Own", "Hired"],
      Hours: [4, 7, 11],
      "Send me news": [true, false, true],
      "Parking space": [false, true, false],
    }),
    wire: {
      "Your name": "data.attributes.name",
      "Mail address": "data.attributes.mail",
      Course: ["data.attributes.course", { Pottery: "pot", Painting: "pai", Weaving: "wea" }],
      Weekdays: ["data.attributes.days", { Monday: "1", Wednesday: "3", Friday: "5" }],
      Experience: ["data.attributes.exp", { "None at all": "0", "A little": "1", "A lot": "2" }],
      Materials: ["data.attributes.mat", { Own: "own", Hired: "hire", Bought: "buy" }],
      Hours: "data.attributes.hours",
      "Send me news": ["data.attributes.news", on("on")],
      "Parking space": ["data.attributes.park", on("on")],
    },
    required: ["Your name", "Course"],
    answer: byStatus({ data: { id: "3" } }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("[name=name]").locator("input").fill(p.text("Your name"));
      await page.locator("[name=mail]").locator("input").fill(p.text("Mail address"));
      await page.locator("mdui-select[name=course]").click();
      await page
        .locator("mdui-menu-item")
        .filter({ hasText: p.text("Course") })
        .click();
      await page.waitForTimeout(400);
      await page.locator("mdui-select[name=days]").click();
      for (const name of p.list("Weekdays")) await page.locator("mdui-menu-item").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.waitForTimeout(400);
      await page
        .locator("mdui-radio")
        .filter({ hasText: p.text("Experience") })
        .click();
      await page
        .locator("mdui-segmented-button")
        .filter({ hasText: p.text("Materials") })
        .click();
      await page.locator("mdui-slider input").focus();
      await press(page, "ArrowRight", p.number("Hours") - 1);
      await click(person, "Send me news", page.locator("mdui-checkbox"));
      await click(person, "Parking space", page.locator("mdui-switch"));
    },
    send: "Enrol",
  },
  {
    id: "angular/material-clinic",
    title: "Vet",
    libraries: ["@angular/material", "@angular/core"],
    people: people({
      Pet: ["Minka", "Rex", "Hoppel"],
      Animal: ["Rabbit", "Dog", "Cat"],
      Vaccines: [["Flu"], ["Rabies", "Parvo"], ["Rabies", "Flu", "Lepto"]],
      "Preferred day": DAYS,
      Breed: ["Angora", "Beagle", "Siamese"],
      Vet: ["Anyone", "Dr Moss", "Dr Reed"],
      Sex: ["Unknown", "Female", "Male"],
      "Weight in kg": [4, 21, 33],
      "House call": [true, false, true],
      "First visit": [false, true, false],
    }),
    wire: {
      Pet: "pet",
      Animal: ["animal", { Cat: "c", Dog: "d", Rabbit: "r" }],
      Vaccines: ["vaccines", { Rabies: "rab", Parvo: "par", Flu: "flu", Lepto: "lep" }],
      "Preferred day": "day",
      Breed: "breed",
      Vet: ["vet", { "Dr Moss": "1", "Dr Reed": "2", Anyone: "3" }],
      Sex: ["sex", { Female: "f", Male: "m", Unknown: "u" }],
      "Weight in kg": "weight",
      "House call": "home",
      "First visit": "first",
    },
    required: ["Pet", "Animal"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Pet").fill(p.text("Pet"));
      await pick(page, page.getByRole("combobox", { name: "Animal" }), p.text("Animal"));
      await pick(page, page.getByRole("combobox", { name: "Vaccines" }), ...p.list("Vaccines"));
      await page.keyboard.press("Escape");
      await page.getByLabel("Preferred day").fill(day(p.text("Preferred day"), "M/D/YYYY"));
      await page.getByLabel("Breed").fill(p.text("Breed"));
      await page.getByRole("option", { name: p.text("Breed") }).click();
      await page.getByRole("radio", { name: p.text("Vet"), exact: true }).check();
      await page.getByText(p.text("Sex"), { exact: true }).click();
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Weight in kg") - 1);
      await click(person, "House call", page.getByText("House call"));
      await click(person, "First visit", page.getByText("First visit"));
    },
    send: "Ask for a visit",
  },
  {
    id: "angular/ngselect-order",
    title: "Plan",
    libraries: ["@ng-select/ng-select"],
    people: people({
      Firm: ["Lind & Sons", "Casa Verde", "Okoro Ltd"],
      Plan: ["Company", "Starter", "Team"],
      Modules: [["Payroll"], ["Invoices", "Customers"], ["Invoices", "Payroll", "Warehouse"]],
      Domains: [["lind.example"], ["casa.example", "verde.example"], ["a.example", "b.example", "c.example"]],
      Seats: [3, 12, 40],
      Billing: ["Yearly", "Monthly", "Quarterly"],
      "Telephone support": [true, false, true],
    }),
    wire: {
      Firm: "firm",
      Plan: ["plan", { Starter: 10, Team: 20, Company: 30 }],
      Modules: ["modules", { Invoices: "inv", Payroll: "pay", Customers: "crm", Warehouse: "wh" }],
      Domains: ["domains", (all: string[]) => all],
      Seats: "seats",
      Billing: ["billing", { Monthly: "M", Quarterly: "Q", Yearly: "Y" }],
      "Telephone support": "support",
    },
    required: ["Firm", "Plan"],
    answer: byFlag({ ordered: 1 }, { ordered: 0 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Firm").fill(p.text("Firm"));
      await pick(page, page.locator("#plan"), p.text("Plan"));
      await pick(page, page.locator("#modules"), ...p.list("Modules"));
      await page.keyboard.press("Escape");
      for (const name of p.list("Domains")) {
        await type(page, page.locator("#domains"), name);
        await page.keyboard.press("Enter");
      }
      await page.getByLabel("Seats").fill(p.text("Seats"));
      await page.getByLabel(p.text("Billing")).check();
      await click(person, "Telephone support", page.getByLabel("Telephone support"));
    },
    send: "Order plan",
  },
];
