import { click, of, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, flash, NAMES, people, redirect } from "../page.js";

const yes =
  (value: string) =>
  (on: boolean): string | undefined =>
    on ? value : undefined;

export const pages: ComponentPage[] = [
  {
    id: "elements/shoelace-desk",
    title: "Desk booking",
    libraries: ["@shoelace-style/shoelace"],
    people: people({
      "Full name": NAMES,
      Floor: ["Second floor", "Roof", "First floor"],
      Equipment: [["Lamp"], ["Monitor", "Headset"], ["Monitor", "Dock", "Headset"]],
      "Part of the day": ["Afternoon", "All day", "Morning"],
      Days: [3, 5, 8],
      Note: ["Near a window", "No phone calls", "With my team"],
      "Quiet zone": [true, false, true],
    }),
    wire: {
      "Full name": "name",
      Floor: ["floor", { "First floor": "f1", "Second floor": "f2", Roof: "f3" }],
      Equipment: ["gear", { Monitor: "mon", Dock: "dock", Lamp: "lamp", Headset: "head" }],
      "Part of the day": ["half", { Morning: "am", Afternoon: "pm", "All day": "all" }],
      Days: "days",
      Note: "note",
      "Quiet zone": ["quiet", yes("on")],
    },
    required: ["Full name", "Floor"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Full name", "Note");
      await page.locator("sl-select[name=floor]").click();
      await page.getByRole("option", { name: p.text("Floor") }).click();
      await page.locator("sl-select[name=gear]").click();
      for (const name of p.list("Equipment")) await page.getByRole("option", { name }).click();
      await page.keyboard.press("Escape");
      await page.getByRole("radio", { name: p.text("Part of the day") }).click();
      await page.getByLabel("Days").focus();
      await press(page, "ArrowRight", p.number("Days") - 1);
      if (p.on("Quiet zone")) await page.locator("sl-switch").click({ position: { x: 12, y: 12 } });
    },
    send: "Book desk",
  },
  {
    id: "elements/material-web-ride",
    title: "Ride",
    libraries: ["@material/web"],
    people: people({
      Passenger: NAMES,
      "Pick-up date": ["2026-12-03", "2027-02-14", "2026-11-28"],
      Vehicle: ["Minibus", "Cargo bike", "Saloon car"],
      Payment: ["Card", "Account", "Cash"],
      "Luggage pieces": [2, 5, 7],
      "Child seat": [true, false, true],
      "Return trip": [false, true, false],
    }),
    wire: {
      Passenger: "passenger",
      "Pick-up date": "date",
      Vehicle: ["vehicle", { "Saloon car": "car", Minibus: "bus", "Cargo bike": "bike" }],
      Payment: ["pay", { Cash: "c", Card: "d", Account: "a" }],
      "Luggage pieces": "bags",
      "Child seat": ["child", yes("yes")],
      "Return trip": ["back", yes("yes")],
    },
    required: ["Passenger", "Pick-up date", "Vehicle"],
    answer: redirect("Passenger, date and vehicle are needed."),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Passenger", "Pick-up date");
      await page.locator("md-outlined-select").click();
      await page
        .locator("md-select-option")
        .filter({ hasText: p.text("Vehicle") })
        .click();
      await page.getByText(p.text("Payment"), { exact: true }).click();
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Luggage pieces"));
      await click(person, "Child seat", page.locator("md-checkbox"));
      await click(person, "Return trip", page.locator("md-switch"));
    },
    send: "Request ride",
  },
  {
    id: "elements/vaadin-doctor",
    title: "Doctor's appointment",
    libraries: ["@vaadin/combo-box", "@vaadin/date-picker", "@vaadin/multi-select-combo-box"],
    people: people({
      Patient: NAMES,
      Department: ["Heart", "Skin", "Eyes"],
      Date: ["2026-12-15", "2027-03-02", "2026-11-27"],
      Time: ["09:15", "14:30", "16:45"],
      Languages: [["Finnish"], ["English", "Polish"], ["Arabic", "English", "Finnish"]],
      Insurance: ["Private", "None", "Public"],
      "First visit": [true, false, true],
    }),
    wire: {
      Patient: "patient",
      Department: ["department", { Eyes: 3, Heart: 5, Skin: 8 }],
      Date: "at.date",
      Time: "at.time",
      Languages: "languages",
      Insurance: ["insurance", { Public: "pub", Private: "pri", None: "none" }],
      "First visit": "first",
    },
    required: ["Patient", "Department", "Date"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Patient");
      await type(page, page.getByRole("combobox", { name: "Department" }), p.text("Department"));
      await page.keyboard.press("Enter");
      await type(page, page.getByRole("combobox", { name: "Date", exact: true }), day(p.text("Date"), "M/D/YYYY"));
      await page.keyboard.press("Enter");
      await type(page, page.getByRole("combobox", { name: "Time", exact: true }), p.text("Time"));
      await page.keyboard.press("Enter");
      for (const language of p.list("Languages")) {
        await type(page, page.getByRole("combobox", { name: "Languages" }), language);
        await page.keyboard.press("Enter");
      }
      await page.keyboard.press("Escape");
      await page.keyboard.press("Tab");
      await page.getByRole("radio", { name: p.text("Insurance") }).check();
      await click(person, "First visit", page.getByRole("checkbox", { name: "First visit" }));
    },
    send: "Make appointment",
  },
  {
    id: "elements/ui5-purchase",
    title: "Purchase",
    libraries: ["@ui5/webcomponents"],
    people: people({
      Requester: NAMES,
      Plant: ["Turin", "Hamburg", "Lyon"],
      "Delivery date": ["2026-12-17", "2027-01-26", "2026-11-30"],
      "Material groups": [["Paint"], ["Steel", "Glass"], ["Steel", "Cables", "Glass"]],
      Quantity: [40, 125, 8],
      Priority: ["High", "Low", "Middle"],
      "Dangerous goods": [true, false, true],
    }),
    wire: {
      Requester: "d.who",
      Plant: ["d.plant", { Hamburg: "1000", Lyon: "2000", Turin: "3000" }],
      "Delivery date": "d.due",
      "Material groups": "d.groups",
      Quantity: "d.qty",
      Priority: ["d.prio", { Low: "L", Middle: "M", High: "H" }],
      "Dangerous goods": ["d.hazard", yes("X")],
    },
    required: ["Requester", "Plant"],
    answer: byFlag({ number: 4500017 }, { number: null }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#who input").fill(p.text("Requester"));
      await page.locator("#plant").click();
      await page
        .locator("ui5-option")
        .filter({ hasText: p.text("Plant") })
        .click();
      await page.locator("#due input").fill(p.text("Delivery date"));
      await page.keyboard.press("Tab");
      for (const group of p.list("Material groups")) {
        await type(page, page.locator("#groups input").first(), group);
        await page.keyboard.press("Enter");
      }
      await page.keyboard.press("Tab");
      await page.locator("#qty input").fill(p.text("Quantity"));
      await page.keyboard.press("Tab");
      await page
        .locator("ui5-radio-button")
        .filter({ has: page.getByText(p.text("Priority")) })
        .click();
      const hazard = page.locator("ui5-checkbox[name=hazard]");
      if (p.on("Dangerous goods")) await hazard.click({ position: { x: 20, y: 20 } });
    },
    send: "Request purchase",
  },
  {
    id: "elements/ionic-pizza",
    title: "Pizza",
    libraries: ["@ionic/core"],
    people: people({
      "Your name": NAMES,
      Pizza: ["Tartufo", "Margherita", "Funghi"],
      Toppings: [["Capers"], ["Olives", "Rocket"], ["Olives", "Capers", "Rocket"]],
      Address: ["Low Road 4", "Calle Mayor 17", "Hill Street 230b"],
      Size: ["Large", "Small", "Medium"],
      Cutlery: [true, false, true],
      "Do not ring": [false, true, false],
    }),
    wire: {
      "Your name": "0.name",
      Pizza: ["0.pizza", { Margherita: "mar", Funghi: "fun", Tartufo: "tar" }],
      Toppings: ["0.toppings", { Olives: "oli", Capers: "cap", Rocket: "ruc" }],
      Address: "0.address",
      Size: ["0.size", { Small: "s", Medium: "m", Large: "l" }],
      Cutlery: "0.cutlery",
      "Do not ring": ["0.ring", (quiet: boolean) => !quiet],
    },
    required: ["Your name", "Pizza", "Size"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Your name", "Address");
      await page.locator("ion-select[name=pizza]").click();
      await page
        .locator("ion-popover ion-item")
        .filter({ hasText: p.text("Pizza") })
        .click();
      await page.locator("ion-popover").waitFor({ state: "detached" });
      await page.locator("ion-select[name=toppings]").click();
      for (const name of p.list("Toppings")) await page.getByRole("checkbox", { name }).click();
      await page.getByRole("button", { name: "OK" }).click();
      await page.locator("ion-alert").waitFor({ state: "detached" });
      await page
        .locator("ion-radio")
        .filter({ hasText: p.text("Size") })
        .click();
      await click(person, "Cutlery", page.locator("ion-toggle"));
      await click(person, "Do not ring", page.locator("ion-checkbox[name=ring]"));
    },
    send: "Order pizza",
  },
  {
    id: "elements/fluent-profile",
    title: "Supplier profile",
    libraries: ["@fluentui/web-components"],
    people: people({
      Firm: ["Lind & Sons", "Casa Verde", "Okoro Ltd"],
      Country: ["Netherlands", "Ireland", "Malta"],
      Staff: [12, 250, 37],
      About: ["Doors and windows", "Plants for offices", "Freight by sea"],
      "Legal form": ["Partnership", "Sole trader", "Company"],
      "ISO certified": [true, false, true],
      "Delivers abroad": [false, true, false],
    }),
    wire: {
      Firm: "firm",
      Country: ["country", { Ireland: "IE", Malta: "MT", Netherlands: "NL" }],
      Staff: "staff",
      About: "about",
      "Legal form": ["legal", { Company: "ltd", Partnership: "llp", "Sole trader": "st" }],
      "ISO certified": ["iso", yes("1")],
      "Delivers abroad": ["abroad", yes("1")],
    },
    required: ["Firm", "Country"],
    answer: flash("Profile saved!", "Firm and country are needed"),
    async fill(page, person) {
      const p = of(person);
      await page.locator("fluent-text-field input").fill(p.text("Firm"));
      await page.locator("fluent-select").click();
      await page
        .locator("fluent-option")
        .filter({ hasText: p.text("Country") })
        .click();
      await page.locator("fluent-number-field input").fill(p.text("Staff"));
      await page.locator("fluent-text-area textarea").fill(p.text("About"));
      await page.keyboard.press("Tab");
      await page
        .locator("fluent-radio")
        .filter({ hasText: p.text("Legal form") })
        .click();
      await click(person, "ISO certified", page.locator("fluent-checkbox"));
      await click(person, "Delivers abroad", page.locator("fluent-switch"));
    },
    send: (page) => page.locator("fluent-button").click(),
  },
  {
    id: "elements/lion-refund",
    title: "Refund",
    libraries: ["@lion/ui"],
    people: people({
      "Account holder": NAMES,
      Amount: ["45.50", "1200.00", "9.99"],
      "Bought on": ["2026-02-11", "2025-12-24", "2026-09-03"],
      IBAN: ["NL91ABNA0417164300", "DE89370400440532013000", "FI2112345600000785"],
      Reason: ["Late", "Broken", "Not needed"],
      Comment: ["It came in June", "The glass is cracked", "A double gift"],
      Options: [["Send a receipt"], ["Keep the voucher", "Send a receipt"], ["Keep the voucher"]],
    }),
    wire: {
      "Account holder": "refund.holder",
      Amount: ["refund.amount", (amount: string) => Number(amount)],
      "Bought on": "refund.bought",
      IBAN: "refund.iban",
      Reason: ["refund.why", { Broken: "broken", Late: "late", "Not needed": "unneeded" }],
      Comment: "refund.note",
      Options: ["refund.options", { "Keep the voucher": "voucher", "Send a receipt": "receipt" }],
    },
    required: ["Account holder", "Amount"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Account holder", "Amount", "IBAN", "Comment");
      await page.getByLabel("Bought on").fill(day(p.text("Bought on"), "DD/MM/YYYY"));
      await page.getByLabel(p.text("Reason"), { exact: true }).check();
      for (const option of p.list("Options")) await page.getByLabel(option).check();
    },
    send: "Ask for a refund",
  },
  {
    id: "elements/lit-parcel",
    title: "Parcel report",
    libraries: ["lit"],
    people: people({
      Courier: ["Fleet Fox", "Redline", "Swift"],
      "Parcel number": ["0042817", "9913305", "5501120"],
      "Week of delivery": ["2026-W08", "2025-W50", "2026-W33"],
      Condition: [4, 2, 5],
      "Left with": ["Shop", "Door", "Neighbour"],
      Damaged: [true, false, true],
    }),
    wire: {
      Courier: "report.courier",
      "Parcel number": "report.parcel",
      "Week of delivery": "report.week",
      Condition: "report.condition",
      "Left with": ["report.left", { Neighbour: "n", Shop: "s", Door: "d" }],
      Damaged: "report.damaged",
    },
    required: ["Courier", "Parcel number"],
    answer: ({ accepted }) =>
      accepted ? { status: 201, json: { data: { id: "88" } } } : { status: 400, json: { detail: "Champs manquants" } },
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Courier", "Parcel number", "Week of delivery");
      await page.getByRole("radio", { name: `${p.number("Condition")} stars` }).click();
      await page.getByLabel("Left with").selectOption({ label: p.text("Left with") });
      await click(person, "Damaged", page.getByLabel("Damaged"));
    },
    send: "Send report",
  },
];
