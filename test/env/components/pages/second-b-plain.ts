import { click, dayOf, days, of, press, suggest, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, fragment, NAMES, people } from "../page.js";

const file = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from("f") });

export const pages: ComponentPage[] = [
  {
    id: "solid/ark-coworking",
    title: "Desks",
    libraries: ["@ark-ui/solid", "solid-js"],
    people: people({
      Company: ["Lee Ltd", "Fernandez y Hijos", "Okoro Works"],
      Branch: ["Gdansk Docks", "Porto Ribeira", "Lyon Confluence"],
      "Rental period": ["2026-12-07 - 2026-12-18", "2027-01-11 - 2027-01-29", "2027-02-01 - 2027-02-19"],
      Desks: [4, 2, 9],
      "Monthly budget": [500, 850, 1400],
      Plan: ["Private office", "Hot desk", "Fixed desk"],
      Extras: [["Locker"], ["Parking space", "Postal address"], ["Parking space", "Locker", "Postal address"]],
      Weekdays: [["Wed"], ["Mon", "Fri"], ["Tue", "Wed", "Thu"]],
      "Trade licence": ["lee.pdf", "licence.png", "okoro.pdf"],
    }),
    wire: {
      Company: "lease[company]",
      Branch: "lease[branch]",
      "Rental period": [
        "lease[period]",
        (range: string) => JSON.stringify({ start: days(range)[0], end: days(range)[1] }),
      ],
      Desks: ["lease[desks]", String],
      "Monthly budget": ["lease[budget]", String],
      Plan: ["lease[plan]", { "Hot desk": "hot", "Fixed desk": "fix", "Private office": "room" }],
      Extras: ["lease[addons][]", { "Parking space": "park", Locker: "lock", "Postal address": "post" }],
      Weekdays: ["lease[days][]", (list: readonly string[]) => list.map((name) => name.toLowerCase())],
      "Trade licence": "licence",
    },
    required: ["Company", "Branch"],
    answer: byFlag({ ok: true }, { ok: false }),
    lookup: ["Gdansk Docks", "Ghent Station", "Lyon Confluence", "Porto Ribeira"],
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Company").fill(p.text("Company"));
      await suggest(page, "[data-scope=combobox] input", p.text("Branch"));
      const inputs = page.locator("[data-scope=date-picker] input");
      for (const [i, one] of days(p.text("Rental period")).entries()) {
        const [y, m, d] = one.split("-");
        await inputs.nth(i).fill(`${m}/${d}/${y}`);
        await page.keyboard.press("Enter");
      }
      await page.mouse.click(900, 20);
      await page.getByLabel("Desks").fill(p.text("Desks"));
      await page.keyboard.press("Tab");
      await page.getByRole("slider").focus();
      const ahead = (p.number("Monthly budget") - 300) / 50;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      for (const name of [p.text("Plan"), ...p.list("Extras")]) await page.getByText(name, { exact: true }).click();
      for (const name of p.list("Weekdays")) await page.getByRole("button", { name, exact: true }).click();
      await page.locator("input[type=file]").setInputFiles(file(p.text("Trade licence")));
    },
    async send(page) {
      await page.getByRole("button", { name: "Review" }).click();
      const yes = page.getByRole("button", { name: "Yes, send it" });
      await yes.click({ timeout: 1500 }).catch(() => undefined);
    },
  },
  {
    id: "plain/select2-onboarding",
    title: "New employees",
    libraries: ["select2", "bootstrap", "daterangepicker", "inputmask", "jquery-validation", "jquery"],
    people: people({
      "Full name": NAMES,
      Country: ["Italy", "Austria", "Norway"],
      Office: ["Turin", "Salzburg", "Bergen"],
      Manager: ["Greta Holm", "Luis Prado", "Mina Sato"],
      Skills: [["Welding"], ["Excel", "Forklift"], ["Excel", "Spanish", "First aid"]],
      "First day": ["2026-12-01", "2027-01-15", "2027-02-08"],
      "Bank account": ["AT61 1904 3002 3457 32", "AT02 2050 3021 0102 36", "AT46 3200 0000 1234 57"],
      Contract: ["Apprentice", "Permanent", "Temporary"],
      "Needs a laptop": [true, false, true],
    }),
    wire: {
      "Full name": "employee.name",
      Country: ["employee.country", { Austria: "at", Italy: "it", Norway: "no" }],
      Office: ["employee.office", { Turin: "it-3", Salzburg: "at-2", Bergen: "no-2" }],
      Manager: ["employee.boss", (name: string) => name.toLowerCase().replace(" ", ".")],
      Skills: "employee.skills",
      "First day": ["employee.start", (iso: string) => iso.split("-").reverse().join(".")],
      "Bank account": ["employee.iban", (iban: string) => iban.replaceAll(" ", "")],
      Contract: ["employee.contract", { Permanent: "P", Temporary: "T", Apprentice: "A" }],
      "Needs a laptop": "employee.laptop",
    },
    required: ["Full name", "Country"],
    answer: byStatus(),
    lookup: ["Greta Holm", "Gregor Hahn", "Luis Prado", "Mina Sato"],
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("button", { name: "Add employee" }).click();
      await write(page, person, "Full name");
      await page.locator("#country").selectOption({ label: p.text("Country") });
      await page.locator("#office").selectOption({ label: p.text("Office") });
      await page.locator("#select2-boss-container").click();
      await page.keyboard.type(p.text("Manager").slice(0, 4), { delay: 20 });
      await page.getByRole("option", { name: p.text("Manager") }).click();
      for (const skill of p.list("Skills")) {
        await type(
          page,
          page.locator(".select2-selection--multiple textarea, .select2-selection--multiple input"),
          skill,
        );
        await page.keyboard.press("Enter");
      }
      await page.locator("#start").click();
      const [y = "", m = ""] = p.text("First day").split("-");
      await page.locator(".daterangepicker .yearselect").first().selectOption(y);
      await page
        .locator(".daterangepicker .monthselect")
        .first()
        .selectOption(String(Number(m) - 1));
      await page
        .locator(".daterangepicker .drp-calendar.left td:not(.off)")
        .getByText(dayOf(p.text("First day")), { exact: true })
        .click();
      await type(page, page.locator("#iban"), p.text("Bank account").replaceAll(" ", ""));
      await page.getByText(p.text("Contract"), { exact: true }).click();
      await click(person, "Needs a laptop", page.locator("#laptop"));
    },
    async send(page) {
      const save = page.getByRole("button", { name: "Save employee" });
      if (!(await save.isVisible())) await page.getByRole("button", { name: "Add employee" }).click();
      await save.click();
    },
  },
  {
    id: "plain/tomselect-offer",
    title: "Offer",
    libraries: ["tom-select", "nouislider", "imask", "flatpickr", "alpinejs"],
    people: people({
      Contact: NAMES,
      Product: ["Cargo bike", "Tandem", "Folding bike"],
      Options: [["Basket"], ["Red frame", "Lights"], ["Green frame", "Basket", "Side stand"]],
      Quantity: [50, 10, 120],
      "Target price": [1250.5, 899.95, 2400],
      "Delivery between": ["2026-12-07 - 2026-12-18", "2027-01-11 - 2027-01-29", "2027-02-03 - 2027-02-12"],
      Delivery: ["Ship to us", "We collect", "To a building site"],
      "Delivery address": ["Mill Lane 4, Leeds", "", "Dock 7, Gdansk"],
      "Participants of the call": [
        ["kim@lee.example"],
        ["rosa@fernandez.example", "tomas@fernandez.example"],
        ["ada@okoro.example", "yusuf@okoro.example", "ben@okoro.example"],
      ],
    }),
    wire: {
      Contact: "contact",
      Product: ["product", (name: string) => name.toUpperCase().replace(" ", "-")],
      Options: [
        "options",
        { "Red frame": "c-r", "Green frame": "c-g", Lights: "e-l", Basket: "e-b", "Side stand": "e-s" },
      ],
      Quantity: "quantity",
      "Target price": ["price", String],
      "Delivery between": ["delivery.window", days],
      Delivery: ["delivery.how", { "We collect": "pick", "Ship to us": "ship", "To a building site": "site" }],
      "Delivery address": "address",
      "Participants of the call": "people",
    },
    required: ["Contact", "Product"],
    answer: byFlag({ number: "O-1841" }, { number: null }),
    lookup: ["Cargo bike", "City bike", "Folding bike", "Tandem"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Contact");
      await type(page, page.locator("#product-ts-control"), p.text("Product"));
      await page.getByRole("option", { name: p.text("Product") }).click();
      await page.locator("#options-ts-control").click();
      for (const name of p.list("Options"))
        await page.locator(".ts-dropdown [role=option]").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.mouse.click(1000, 20);
      await page.locator(".noUi-handle").focus();
      const ahead = (p.number("Quantity") - 20) / 10;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.locator("#price").click();
      await page.keyboard.press("End");
      await page.keyboard.type(p.text("Target price"), { delay: 20 });
      await page.keyboard.press("Tab");
      await page.locator("#deliver").click();
      for (const one of days(p.text("Delivery between"))) {
        const first = page.locator(".flatpickr-month").first();
        await toMonth(
          one,
          async () =>
            `${await first
              .locator(".cur-month, select")
              .first()
              .evaluate((e) =>
                e instanceof HTMLSelectElement ? e.selectedOptions[0]?.text : e.textContent,
              )} ${await first.locator(".cur-year").inputValue()}`,
          page.locator(".flatpickr-prev-month"),
          page.locator(".flatpickr-next-month"),
        );
        await page
          .locator(".dayContainer")
          .first()
          .locator(".flatpickr-day:not(.prevMonthDay):not(.nextMonthDay)")
          .getByText(dayOf(one), { exact: true })
          .click();
      }
      await page.getByLabel(p.text("Delivery")).check();
      if (p.text("Delivery address") !== "") await page.locator("#addr").fill(p.text("Delivery address"));
      for (const [i, mail] of p.list("Participants of the call").entries()) {
        await page.getByRole("button", { name: "Add participant" }).click();
        await page.getByLabel(`Participant ${i + 1}`).fill(mail);
      }
    },
    send: "Send request",
  },
  {
    id: "plain/quill-advert",
    title: "Advertisement",
    libraries: ["quill", "choices.js", "cleave-zen", "dropzone", "flatpickr", "intl-tel-input", "jquery-validation"],
    people: people({
      Seller: NAMES,
      "Mobile phone": ["+491512345678", "+491609876543", "+491701112223"],
      Category: ["Kitchen", "Bicycles", "Furniture"],
      "Search words": [["oak"], ["retro", "blue"], ["desk", "vintage", "teak"]],
      Price: [1250, 89.5, 15400],
      "Online until": ["2026-12-24", "2027-01-31", "2027-02-10"],
      Package: ["Plus", "Top of page", "Basic"],
      Description: ["Solid oak table", "Rides very well", "From the fifties"],
      Pictures: ["table.png", "bike.png", "desk.png"],
    }),
    wire: {
      Seller: "seller",
      "Mobile phone": "phone",
      Category: ["category", { Furniture: "101", Kitchen: "102", Bicycles: "201", Instruments: "202" }],
      "Search words": "keywords",
      Price: ["price", String],
      "Online until": "until",
      Package: ["package", { Basic: "basic", Plus: "plus", "Top of page": "top" }],
      Description: ["description", (text: string) => `<p>${text.replaceAll(" ", "&nbsp;")}</p>`],
      Pictures: "pictures[]",
    },
    required: ["Seller", "Category"],
    answer: fragment('<p class="ok">Your advertisement is online.</p>', '<p class="bad">Something is missing.</p>'),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Seller");
      await type(page, page.locator("#phone"), p.text("Mobile phone").slice(3));
      await page.locator(".choices").first().click();
      await page
        .locator(".choices__item--choice")
        .filter({ hasText: p.text("Category") })
        .click();
      for (const word of p.list("Search words")) {
        await type(page, page.locator(".choices").nth(1).locator("input.choices__input--cloned"), word);
        await page.keyboard.press("Enter");
      }
      await type(page, page.locator("#price"), p.text("Price").replace(".", ","));
      await page.locator(".field input.flatpickr-input:not([type=hidden]), .field input.form-control").last().click();
      await toMonth(
        p.text("Online until"),
        async () =>
          `${await page.locator(".flatpickr-monthDropdown-months").evaluate((e) => (e as HTMLSelectElement).selectedOptions[0]?.text)} ${await page.locator(".cur-year").inputValue()}`,
        page.locator(".flatpickr-prev-month"),
        page.locator(".flatpickr-next-month"),
      );
      await page
        .locator(".flatpickr-day:not(.prevMonthDay):not(.nextMonthDay)")
        .getByText(dayOf(p.text("Online until")), { exact: true })
        .click();
      await page.getByText(p.text("Package"), { exact: true }).click();
      await type(page, page.locator(".ql-editor"), p.text("Description"));
      await page.locator("input.dz-hidden-input").setInputFiles(file(p.text("Pictures")));
    },
    send: "Publish",
  },
];
