import { click, dayOf, days, of, pick, press, suggest, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people, redirect } from "../page.js";

const picture = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from("f") });

/** Writes a range of days as the calendar's field shows it. */
const span = (range: string, pattern: string, between: string): string =>
  days(range)
    .map((iso) => day(iso, pattern))
    .join(between);

export const pages: ComponentPage[] = [
  {
    id: "vue/naive-storage",
    title: "Storage unit",
    libraries: ["naive-ui", "vee-validate", "yup"],
    people: people({
      Tenant: NAMES,
      Depot: ["Leeds South", "Luton Airport", "Lincoln North"],
      "Rental period": ["2027-01-04 - 2027-06-30", "2026-12-14 - 2027-02-12", "2027-03-01 - 2027-09-17"],
      Size: [10, 4, 22],
      Access: ["Weekdays", "By day", "Round the clock"],
      "What you store": [["furniture"], ["books", "wine"], ["bicycles", "tools", "skis"]],
      "Copy of your passport": ["lee.png", "fernandez.png", "okoro.png"],
      "Insure my goods": [true, false, true],
    }),
    wire: {
      Tenant: "rental.tenant",
      Depot: ["rental.depot", (name: string) => name.split(" ")[0]?.toLowerCase()],
      "Rental period": ["rental.period", (range: string) => ({ from: days(range)[0], until: days(range)[1] })],
      Size: "rental.size",
      Access: ["rental.access", { "By day": "day", Weekdays: "week", "Round the clock": "always" }],
      "What you store": "rental.goods",
      "Copy of your passport": "identity",
      "Insure my goods": "rental.insured",
    },
    required: ["Tenant", "Depot", "Rental period"],
    answer: byFlag({ contract: "ST-3009" }, { reason: "This unit cannot be reserved." }),
    lookup: ["Leeds South", "Leicester West", "Lincoln North", "Luton Airport"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Tenant");
      await type(page, page.locator(".n-base-selection-input").first(), p.text("Depot").slice(0, 3));
      await page
        .locator(".n-base-select-option")
        .filter({ hasText: p.text("Depot") })
        .click();
      const range = page.locator(".n-date-picker input");
      for (const [i, iso] of days(p.text("Rental period")).entries()) await range.nth(i).fill(day(iso, "DD.MM.YYYY"));
      await page.getByRole("heading", { name: "Rent a storage unit" }).click();
      await page.getByRole("slider").focus();
      const ahead = (p.number("Size") - 6) / 2;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.getByText(p.text("Access"), { exact: true }).click();
      for (const name of p.list("What you store")) {
        await page.locator(".n-dynamic-tags button").last().click();
        await page.keyboard.type(name);
        await page.keyboard.press("Enter");
      }
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Copy of your passport")));
      await click(person, "Insure my goods", page.getByText("Insure my goods"));
    },
    send: "Reserve unit",
  },
  {
    id: "angular/primeng-market",
    title: "Stall at the market",
    libraries: ["primeng", "@angular/forms"],
    people: people({
      Trader: NAMES,
      Market: ["Farmers' market", "Winter market", "Flower market"],
      Goods: ["Cheese", "Handicraft", "Flowers"],
      Dates: ["2027-05-07 - 2027-05-09", "2026-12-10 - 2026-12-22", "2027-04-16 - 2027-04-18"],
      "Length of the stall": [4.5, 3, 6.5],
      "You need": [["Cooling"], ["Electricity", "Roof"], ["Electricity", "Water", "Roof"]],
      Place: ["Row", "Church side", "Corner"],
      "Trade licence": ["lee.png", "fernandez.png", "okoro.png"],
      "I have been here before": [true, false, true],
    }),
    wire: {
      Trader: "trader",
      Market: "market",
      Goods: ["goods", { "Fruit and vegetables": "F1", Cheese: "F2", Bread: "F3", Flowers: "O1", Handicraft: "O2" }],
      Dates: ["dates", (range: string) => days(range).join("/")],
      "Length of the stall": "metres",
      "You need": ["needs", { Electricity: "power", Water: "water", Cooling: "cold", Roof: "roof" }],
      Place: ["place", { Corner: "corner", Row: "row", "Church side": "church" }],
      "Trade licence": "licence",
      "I have been here before": ["again", String],
    },
    required: ["Trader", "Market"],
    answer: byStatus(),
    lookup: ["Book market", "Farmers' market", "Fish market", "Flower market", "Winter market"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Trader");
      await suggest(page, "#market", p.text("Market"));
      await pick(page, page.locator("p-select"), p.text("Goods"));
      await page.locator("#dates").click();
      const [from = "", to = ""] = days(p.text("Dates"));
      await toMonth(
        from,
        () => page.locator(".p-datepicker-title").innerText(),
        page.locator(".p-datepicker-prev-button"),
        page.locator(".p-datepicker-next-button"),
      );
      const cells = page.locator(".p-datepicker-day-cell:not(.p-datepicker-other-month)");
      for (const iso of [from, to]) await cells.getByText(dayOf(iso), { exact: true }).click();
      await page.keyboard.press("Escape");
      await type(page, page.locator("#metres"), p.text("Length of the stall"));
      await page.keyboard.press("Tab");
      await pick(page, page.locator("p-multiselect"), ...p.list("You need"));
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Place"), { exact: true }).click();
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Trade licence")));
      await click(person, "I have been here before", page.getByText("I have been here before"));
    },
    send: "Apply for a stall",
  },
  {
    id: "elements/webawesome-cattery",
    title: "Cat boarding",
    libraries: ["@awesome.me/webawesome"],
    people: people({
      Owner: NAMES,
      "Names of the cats": [["Mimi"], ["Tiger", "Felix"], ["Nala", "Leo", "Kiki"]],
      Room: ["Quiet room", "Garden room", "Family suite"],
      "Day of arrival": ["2027-07-12", "2026-12-20", "2027-03-26"],
      "Time of arrival": ["09:30", "14:15", "17:45"],
      Nights: [14, 7, 3],
      Food: ["We bring our own", "Dry", "Wet"],
      "All cats are vaccinated": [true, false, true],
    }),
    wire: {
      Owner: "owner",
      "Names of the cats": "cats",
      Room: ["room", { "Garden room": "g1", "Window room": "g2", "Quiet room": "u1", "Family suite": "u2" }],
      "Day of arrival": "arrives_on",
      "Time of arrival": "arrives_at",
      Nights: "nights",
      Food: ["food", { Dry: "dry", Wet: "wet", "We bring our own": "own" }],
      "All cats are vaccinated": ["vaccinated", (is: boolean) => (is ? "1" : "")],
    },
    required: ["Owner", "Room"],
    answer: byFlag(
      { status: "confirmed", message: "We look forward to your cats." },
      { status: "open", message: "Please tell us your name and the room." },
    ),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Owner");
      for (const name of p.list("Names of the cats")) {
        await page.locator("wa-tag-input input").fill(name);
        await page.keyboard.press("Enter");
      }
      await pick(page, page.locator("wa-select"), p.text("Room"));
      const [y = "", m = "", d = ""] = p.text("Day of arrival").split("-");
      const date = page.locator("wa-known-date");
      for (const [part, text] of [
        ["day", d],
        ["month", m],
        ["year", y],
      ])
        await date.locator(`[part~=field-${part}] input`).fill(String(text));
      await type(
        page,
        page.locator("wa-time-input [part~=segment]").first(),
        p.text("Time of arrival").replace(":", ""),
      );
      await page.locator("wa-number-input input").fill(p.text("Nights"));
      await page.getByText(p.text("Food"), { exact: true }).click();
      await click(person, "All cats are vaccinated", page.getByText("All cats are vaccinated"));
    },
    send: "Reserve",
  },
  {
    id: "svelte/bits-party",
    title: "Children's party",
    libraries: ["bits-ui"],
    people: people({
      Parent: NAMES,
      "E-mail address": MAILS,
      Theme: ["Outer space", "Jungle", "Pirates"],
      "Day of the party": ["2027-01-23", "2026-12-05", "2027-02-27"],
      Start: ["13:00", "10:00", "16:00"],
      "Number of children": [12, 6, 19],
      Extras: [["Magician"], ["Birthday cake", "Photographer"], ["Birthday cake", "Face painting", "Magician"]],
      "Lunch for the children": [true, false, true],
    }),
    wire: {
      Parent: "parent",
      "E-mail address": "email",
      Theme: ["theme", { Pirates: "pirate", "Outer space": "space", Circus: "circus", Jungle: "jungle" }],
      "Day of the party": "day",
      Start: "start",
      "Number of children": "children",
      Extras: [
        "extras",
        { "Birthday cake": "cake", "Face painting": "face", Photographer: "photo", Magician: "magic" },
      ],
      "Lunch for the children": "lunch",
    },
    required: ["Parent", "E-mail address", "Theme", "Day of the party"],
    answer: byStatus({ party: 77 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("button", { name: "Plan a party" }).click();
      await write(page, person, "Parent", "E-mail address");
      await pick(page, page.locator("#theme"), p.text("Theme"));
      await page.locator("#day").click();
      await toMonth(
        p.text("Day of the party"),
        () => page.locator("[data-calendar-heading]").innerText(),
        page.locator("[data-calendar-prev-button]"),
        page.locator("[data-calendar-next-button]"),
      );
      await page
        .locator("[data-calendar-day]:not([data-outside-month])")
        .getByText(dayOf(p.text("Day of the party")), { exact: true })
        .click();
      await page.getByText(p.text("Start"), { exact: true }).click();
      await page.getByRole("slider").focus();
      const ahead = p.number("Number of children") - 8;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      for (const name of p.list("Extras")) await page.getByText(name, { exact: true }).click();
      await click(person, "Lunch for the children", page.getByText("Lunch for the children"));
    },
    async send(page) {
      const button = page.getByRole("button", { name: "Book party" });
      if (!(await button.isVisible())) await page.getByRole("button", { name: "Plan a party" }).click();
      await button.click();
    },
  },
  {
    id: "plain/bootstrap-photo",
    title: "Book a photographer",
    libraries: ["bootstrap", "tom-select", "flatpickr", "nouislider", "intl-tel-input"],
    people: people({
      Client: NAMES,
      Telephone: ["+353850123456", "+353861234567", "+353871234567"],
      Place: ["Galway", "Limerick", "Waterford"],
      "Date and time": ["2027-06-19 14:30", "2026-12-12 11:00", "2027-02-24 16:45"],
      Motifs: [["Buildings"], ["Portraits", "Group pictures"], ["Portraits", "Food", "Buildings"]],
      Hours: [5, 3, 9],
      "Pictures as": ["Prints", "Download", "Album"],
      "Example picture": ["church.png", "team.png", "menu.png"],
      "You may publish the pictures": [true, false, true],
    }),
    wire: {
      Client: "client",
      Telephone: "phone_full",
      Place: "place",
      "Date and time": "moment",
      Motifs: ["motifs[]", { Portraits: "portrait", "Group pictures": "group", Food: "food", Buildings: "building" }],
      Hours: "hours",
      "Pictures as": ["medium", { Download: "digital", Prints: "prints", Album: "album" }],
      "Example picture": "example",
      "You may publish the pictures": ["publish", (is: boolean) => (is ? "yes" : "")],
    },
    required: ["Client", "Place"],
    answer: redirect("Your booking is not complete."),
    lookup: ["Cork", "Dublin", "Galway", "Limerick", "Waterford"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Client");
      await page.locator("#phone").fill(p.text("Telephone"));
      await suggest(page, "#place-ts-control", p.text("Place"), ".ts-dropdown .option");
      await page.locator("input.flatpickr-input:not([type=hidden]), input.form-control.input").click();
      await page.locator(".flatpickr-calendar.open").waitFor();
      const [date = "", time = ""] = p.text("Date and time").split(" ");
      const calendar = page.locator(".flatpickr-calendar.open");
      const [y = "", m = ""] = date.split("-");
      await calendar.locator(".cur-year").fill(y);
      await page.keyboard.press("Enter");
      await calendar.locator(".flatpickr-monthDropdown-months").selectOption(String(Number(m) - 1));
      await calendar
        .locator(".flatpickr-day:not(.prevMonthDay):not(.nextMonthDay)")
        .getByText(dayOf(date), { exact: true })
        .click();
      const [hour = "", minute = ""] = time.split(":");
      await calendar.locator(".flatpickr-hour").fill(hour);
      await calendar.locator(".flatpickr-minute").fill(minute);
      await page.keyboard.press("Enter");
      await page.locator("#motifs-ts-control").click();
      for (const name of p.list("Motifs"))
        await page.locator(".ts-dropdown .option").locator("visible=true").getByText(name, { exact: true }).click();
      await page.keyboard.press("Escape");
      await page.locator(".noUi-handle").focus();
      const ahead = p.number("Hours") - 2;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.getByLabel(p.text("Pictures as")).check();
      await page.locator("#example").setInputFiles(picture(p.text("Example picture")));
      await click(person, "You may publish the pictures", page.getByLabel("You may publish the pictures"));
    },
    send: "Book now",
  },
  {
    id: "plain/jquery-canoe",
    title: "Canoe rental",
    libraries: ["select2", "daterangepicker", "jquery-validation", "jquery-mask-plugin", "timepicker", "jquery"],
    people: people({
      "Booked by": NAMES,
      "Phone number": ["0151 496 077", "0207 946 012", "0300 901 820"],
      River: ["Severn", "Thames", "Tweed"],
      "Rental dates": ["2027-05-14 - 2027-05-17", "2027-04-05 - 2027-04-09", "2027-06-21 - 2027-06-22"],
      Boats: [["Kayak"], ["Canoe for two", "Paddle board"], ["Canoe for two", "Canoe for three", "Kayak"]],
      Start: ["10:30", "08:00", "13:00"],
      "Return to": ["Old mill", "Same place", "Lower lock"],
      "Life vests for children": [true, false, true],
    }),
    wire: {
      "Booked by": "booker",
      "Phone number": "phone",
      River: "river",
      "Rental dates": ["dates", (range: string) => span(range, "DD/MM/YYYY", " - ")],
      Boats: ["boats", { "Canoe for two": "c2", "Canoe for three": "c3", Kayak: "k1", "Paddle board": "sup" }],
      Start: "start",
      "Return to": ["back", { "Same place": "same", "Old mill": "mill", "Lower lock": "lock" }],
      "Life vests for children": ["vests", (is: boolean) => (is ? "on" : "")],
    },
    required: ["Booked by", "River", "Rental dates"],
    answer: byFlag(
      { result: "OK", text: "Your canoes are booked." },
      { result: "ERROR", text: "Please tell us who you are, the river and the dates." },
    ),
    lookup: ["Severn", "Thames", "Trent", "Tweed", "Tyne"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Booked by");
      await type(page, page.locator("#phone"), p.text("Phone number").replaceAll(" ", ""));
      await page.locator("#select2-river-container").click();
      await page.keyboard.type(p.text("River").slice(0, 3));
      await page.getByRole("option", { name: p.text("River") }).click();
      await page.locator("#dates").click();
      const calendar = page.locator(".drp-calendar.left");
      const [from = "", to = ""] = days(p.text("Rental dates"));
      await toMonth(
        from,
        () => calendar.locator("th.month").innerText(),
        page.locator(".daterangepicker .prev"),
        page.locator(".daterangepicker .next"),
      );
      for (const iso of [from, to])
        await calendar.locator("td.available:not(.off)").getByText(dayOf(iso), { exact: true }).click();
      for (const name of p.list("Boats")) {
        await page.locator(".select2-selection--multiple").click();
        await page.getByRole("option", { name, exact: true }).click();
      }
      await page.locator("#start").click();
      await page.locator(".ui-timepicker-list").getByText(p.text("Start"), { exact: true }).click();
      await page.getByLabel(p.text("Return to")).check();
      await click(person, "Life vests for children", page.getByLabel("Life vests for children"));
    },
    send: "Send booking",
  },
];
