import type { Page } from "playwright";
import { click, of, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, fragment, graphql, NAMES, people } from "../page.js";

const yes = (on: string) => (value: boolean) => (value ? on : undefined);

/** Clicks a day of the calendar that is open. */
async function pickDay(page: Page, iso: string, heading: string, back: string, on: string, cell: string) {
  const text = () => page.locator(heading).first().innerText();
  await toMonth(iso, text, page.locator(back).first(), page.locator(on).first());
  const date = String(Number(iso.slice(8)));
  await page
    .locator(cell)
    .filter({ hasText: new RegExp(`^\\s*${date}\\s*$`) })
    .first()
    .click();
}

export const pages: ComponentPage[] = [
  {
    id: "elements/igniteui-lesson",
    title: "Driving lessons",
    libraries: ["igniteui-webcomponents"],
    people: people({
      Learner: NAMES,
      "Lesson package": ["Ten hours", "Exam week", "Five hours"],
      "Teacher speaks": [["Turkish"], ["English", "Arabic"], ["English", "French", "Turkish"]],
      "First lesson": ["2026-12-14", "2027-01-05", "2027-02-18"],
      Gearbox: ["Automatic", "Either one", "Manual"],
      "Kilometres a day": [40, 80, 60],
      Confidence: [2, 4, 5],
      "Meeting point": ["In front of the station", "At the school gate", "Market place 3"],
      "Night driving": [true, false, true],
    }),
    wire: {
      Learner: "learner",
      "Lesson package": ["lesson.pack", { "Five hours": "p5", "Ten hours": "p10", "Exam week": "pex" }],
      "Teacher speaks": ["languages", { English: "en", French: "fr", Turkish: "tr", Arabic: "ar" }],
      "First lesson": "lesson.first",
      Gearbox: ["lesson.gear", { Manual: "man", Automatic: "aut", "Either one": "any" }],
      "Kilometres a day": "lesson.km",
      Confidence: "confidence",
      "Meeting point": "meet",
      "Night driving": "night",
    },
    required: ["Learner", "Lesson package"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#learner input").fill(p.text("Learner"));
      await page.locator("#note textarea").fill(p.text("Meeting point"));
      await page.locator("#pack").click();
      await page
        .locator("igc-select-item")
        .filter({ hasText: p.text("Lesson package") })
        .click();
      await page.locator("#langs").click();
      for (const name of p.list("Teacher speaks"))
        await page.locator("igc-combo-item").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.locator("#first input").click();
      await page.keyboard.press("Home");
      const [y = "", m = "", d = ""] = p.text("First lesson").split("-");
      await page.keyboard.type(`${m}${d}${y}`, { delay: 30 });
      await page.keyboard.press("Tab");
      await page
        .locator("igc-radio")
        .filter({ hasText: p.text("Gearbox") })
        .click();
      await page.locator("#km [role=slider]").first().focus();
      await press(page, "ArrowRight", (p.number("Kilometres a day") - 10) / 10);
      await page
        .locator("#nerve igc-rating-symbol")
        .nth(p.number("Confidence") - 1)
        .click();
      await click(person, "Night driving", page.locator("#night"));
    },
    async send(page) {
      await page.locator("igc-button").click();
    },
  },
  {
    id: "elements/vscode-depot",
    title: "Depot",
    libraries: ["@vscode-elements/elements", "cally"],
    people: people({
      Article: ["Rope 12 mm", "Steel drum", "Air filter"],
      Depot: ["Harbour shed", "Cold hall", "North yard"],
      "Handling marks": [["Keep dry"], ["Fragile", "Keep cool"], ["Fragile", "This side up", "Keep dry"]],
      Pieces: [12, 3, 250],
      Priority: ["This week", "At once", "Whenever"],
      "Needed by": ["2026-12-11", "2027-01-21", "2027-02-10"],
      Remark: ["Call before you load", "Gate four", "Please use the ramp"],
      Insured: [true, false, true],
    }),
    wire: {
      Article: "item",
      Depot: ["depot", { "North yard": "D-N", "Harbour shed": "D-H", "Cold hall": "D-C" }],
      "Handling marks": ["marks", { Fragile: "fr", "This side up": "up", "Keep dry": "dry", "Keep cool": "cool" }],
      Pieces: "pieces",
      Priority: ["prio", { Whenever: "1", "This week": "2", "At once": "3" }],
      "Needed by": "needed",
      Remark: "remark",
      Insured: ["insured", (is: boolean) => (is ? "y" : "n")],
    },
    required: ["Article", "Depot"],
    answer: byFlag({ order: "D-77" }, { order: null }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#item input").fill(p.text("Article"));
      await page.locator("#pieces input").fill(p.text("Pieces"));
      await page.locator("#remark textarea").fill(p.text("Remark"));
      await page.locator("#depot .combobox-button").click();
      await page
        .locator("#depot .option")
        .filter({ hasText: p.text("Depot") })
        .click();
      await page.locator("#marks .select-face").click();
      for (const name of p.list("Handling marks"))
        await page.locator("#marks .option").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.locator("#item input").click();
      await page
        .locator("vscode-radio")
        .nth(["Whenever", "This week", "At once"].indexOf(p.text("Priority")))
        .click();
      await page.locator("#day").click();
      await pickDay(
        page,
        p.text("Needed by"),
        "calendar-date #h",
        "calendar-date [part~=previous]",
        "calendar-date [part~=next]",
        "calendar-month button[part~=day]:not([part~=outside])",
      );
      await click(person, "Insured", page.locator("#insured"));
    },
    async send(page) {
      await page.locator("#go").click();
    },
  },
  {
    id: "plain/tagsinput-catering",
    title: "Catering",
    libraries: ["bootstrap-tagsinput", "@claviska/jquery-minicolors", "raty-js"],
    people: people({
      Host: NAMES,
      Menu: ["Warm buffet", "Four courses", "Finger food"],
      "Day of the feast": ["2026-12-19", "2027-01-09", "2027-02-27"],
      "Serve at": ["18:30", "12:15", "19:00"],
      "Number of guests": [35, 48, 22],
      "Last time was": [4, 2, 5],
      Drinks: [["Juice"], ["Wine", "Beer"], ["Wine", "Beer", "Juice"]],
      Allergies: [["nuts"], ["milk", "eggs"], ["soy", "celery"]],
      "Napkin colour": ["#336699", "#cc5500", "#228844"],
      "With waiters": [true, false, true],
    }),
    wire: {
      Host: "host",
      Menu: ["menu", { "Finger food": "fin", "Warm buffet": "buf", "Four courses": "din" }],
      "Day of the feast": "day",
      "Serve at": "hour",
      "Number of guests": ["guests", String],
      "Last time was": ["stars", String],
      Drinks: ["drinks[]", { Wine: "w", Beer: "b", Juice: "j" }],
      Allergies: ["allergies", (list: readonly string[]) => list.join(",")],
      "Napkin colour": "napkins",
      "With waiters": ["waiters", yes("1")],
    },
    required: ["Host", "Menu"],
    answer: fragment("<h3>We will send you an offer</h3>", "<h3>Sorry</h3><p>Host and menu are needed</p>"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Host", "Day of the feast", "Serve at");
      await page.locator("#guests").fill(p.text("Number of guests"));
      await page.locator(".dropdown-toggle").click();
      await page.getByText(p.text("Menu"), { exact: true }).click();
      for (const name of p.list("Drinks")) await page.getByText(name, { exact: true }).click();
      for (const name of p.list("Allergies")) {
        await type(page, page.locator(".bootstrap-tagsinput input"), name);
        await page.keyboard.press("Enter");
      }
      await page.locator("#napkins").fill(p.text("Napkin colour"));
      await page.keyboard.press("Tab");
      await page
        .locator("#stars i")
        .nth(p.number("Last time was") - 1)
        .click();
      await click(person, "With waiters", page.getByLabel("With waiters"));
    },
    send: "Request offer",
  },
  {
    id: "plain/kendo-freight",
    title: "Freight",
    libraries: ["kendo-ui-core"],
    people: people({
      Consignee: NAMES,
      Port: ["Gdansk", "Rijeka", "Bergen"],
      Goods: [["Grain"], ["Timber", "Salt"], ["Timber", "Machine parts", "Salt"]],
      "Weight in tons": [12.5, 8, 40.2],
      "Sails on": ["2026-12-16", "2027-01-08", "2027-02-22"],
      Telephone: ["(212) 555-0147", "(415) 555-0199", "(312) 555-0123"],
      "Deck share": [35, 60, 85],
      Terms: ["Free on board", "Delivered", "Ex works"],
      "Loads at": ["14:15", "09:30", "17:45"],
      Insured: [true, false, true],
    }),
    wire: {
      Consignee: "freight.to",
      Port: ["freight.port", { Bergen: "NOBGO", Gdansk: "PLGDN", Porto: "PTOPO", Rijeka: "HRRJK" }],
      Goods: ["freight.goods", { Timber: 1, "Machine parts": 2, Grain: 3, Salt: 4 }],
      "Weight in tons": "freight.tons",
      "Sails on": "freight.sails",
      Telephone: ["freight.phone", (text: string) => text.replace(/\D/g, "")],
      "Deck share": "freight.deck",
      Terms: ["freight.terms", { "Ex works": "EXW", "Free on board": "FOB", Delivered: "DAP" }],
      "Loads at": "freight.loads",
      Insured: "freight.insured",
    },
    required: ["Consignee", "Port"],
    answer: byFlag({ booking: 9 }, { booking: 0 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#consignee").fill(p.text("Consignee"));
      await type(page, page.getByRole("combobox").first(), p.text("Port"));
      await page
        .locator("li.k-list-item:visible")
        .filter({ hasText: p.text("Port") })
        .click();
      for (const name of p.list("Goods")) {
        await type(page, page.locator(".k-multiselect input"), name);
        await page.locator("li.k-list-item:visible").filter({ hasText: name }).click();
      }
      await page.locator(".k-numerictextbox input:visible").first().click();
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(p.text("Weight in tons"));
      await page.keyboard.press("Tab");
      const [y = "", m = "", d = ""] = p.text("Sails on").split("-");
      await page.locator("#sails").fill(`${d}.${m}.${y}`);
      await page.keyboard.press("Tab");
      await page.locator("#phone").click();
      await page.keyboard.press("Home");
      await page.keyboard.type(p.text("Telephone").replace(/\D/g, ""), { delay: 20 });
      await page.locator("[role=slider]").first().focus();
      await press(page, "ArrowRight", p.number("Deck share") / 5);
      await page.getByText(p.text("Terms"), { exact: true }).click();
      await page.locator("#loads").fill(p.text("Loads at"));
      await page.keyboard.press("Tab");
      await click(person, "Insured", page.locator("#insured"));
    },
    send: "Book freight",
  },
  {
    id: "plain/htmx-tasting",
    title: "Wine tasting",
    libraries: ["@trevoreyre/autocomplete-js", "tui-date-picker", "multi.js", "vanilla-picker", "sweetalert2"],
    people: people({
      Name: NAMES,
      "Wine estate": ["Hill of larks", "Old mill", "Three oaks"],
      "Tasting on": ["2026-12-12", "2027-01-16", "2027-02-13"],
      "Wines to taste": [["Merlot"], ["Riesling", "Tannat"], ["Riesling", "Silvaner", "Merlot"]],
      "Colour of the label": ["#336699", "#cc5500", "#228844"],
      Table: ["Terrace", "Counter", "Cellar"],
      Persons: [4, 2, 7],
      Message: ["We come by train", "It is a birthday", "One of us does not drink"],
      "Bread and cheese": [true, false, true],
    }),
    wire: {
      Name: "guest",
      "Wine estate": "estate",
      "Tasting on": ["on", (iso: string) => iso.replaceAll("-", "/")],
      "Wines to taste": ["wines", { Riesling: "ri", Silvaner: "si", Merlot: "me", Tannat: "ta" }],
      "Colour of the label": "tint",
      Table: ["table", { Cellar: "cel", Terrace: "ter", Counter: "bar" }],
      Persons: ["people", String],
      Message: "words",
      "Bread and cheese": ["bread", yes("yes")],
    },
    required: ["Name", "Wine estate"],
    lookup: ["Hill of larks", "Old mill", "Old vineyard", "Three oaks"],
    answer: fragment("<h1>Your table is reserved</h1>", "<h1>Not reserved</h1><p>Name and estate, please.</p>"),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#guest").fill(p.text("Name"));
      await type(page, page.locator("#estate"), p.text("Wine estate").slice(0, 4));
      await page.getByRole("option", { name: p.text("Wine estate") }).click();
      await page.locator("#on").fill(p.text("Tasting on").replaceAll("-", "/"));
      await page.keyboard.press("Enter");
      await page.locator("#words").click();
      for (const name of p.list("Wines to taste"))
        await page.locator(".non-selected-wrapper a").filter({ hasText: name }).click();
      await page.locator("#shade").click();
      await page.locator(".picker_editor input").fill(p.text("Colour of the label"));
      await page.locator(".picker_done button").click();
      await page.getByLabel(p.text("Table")).check();
      await page.locator("#people").fill(p.text("Persons"));
      await page.locator("#words").fill(p.text("Message"));
      await click(person, "Bread and cheese", page.getByLabel("Bread and cheese"));
    },
    async send(page) {
      await page.getByRole("button", { name: "Reserve tasting" }).click();
      await page.getByRole("button", { name: "Yes, reserve" }).click();
    },
  },
  {
    id: "angular/ngbootstrap-trial",
    title: "Trial ride",
    libraries: ["@ng-bootstrap/ng-bootstrap", "ngx-mask"],
    people: people({
      Cyclist: NAMES,
      Bicycle: ["Cargo mule", "Swan racer", "Swift tourer"],
      "Day of the ride": ["2026-12-18", "2027-01-13", "2027-02-11"],
      "Pick-up time": ["14:25", "10:40", "16:05"],
      Mobile: ["(212) 555-0147", "(415) 555-0199", "(312) 555-0123"],
      "How fit are you": [4, 2, 5],
      "Frame size": ["Medium", "Tall", "Small"],
      Terrain: ["Gravel", "Forest", "Road"],
      "Lights needed": [true, false, true],
    }),
    wire: {
      Cyclist: "ride.cyclist",
      Bicycle: ["ride.bike", { "Swift tourer": 11, "Cargo mule": 12, "Swan racer": 13, "Folding wren": 14 }],
      "Day of the ride": "ride.day",
      "Pick-up time": ["ride.time", (time: string) => `${time}:00`],
      Mobile: ["ride.phone", (text: string) => text.replace(/\D/g, "")],
      "How fit are you": "ride.fit",
      "Frame size": ["ride.size", { Small: "48", Medium: "54", Tall: "60" }],
      Terrain: ["ride.terrain", { Road: "road", Gravel: "gravel", Forest: "forest" }],
      "Lights needed": "ride.lights",
    },
    required: ["Cyclist", "Bicycle"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Cyclist");
      await type(page, page.locator("#bike"), p.text("Bicycle").slice(0, 3));
      await page.getByRole("option", { name: p.text("Bicycle") }).click();
      await page.locator("#day").fill(p.text("Day of the ride"));
      const [hour = "", minute = ""] = p.text("Pick-up time").split(":");
      await page.locator("ngb-timepicker input").nth(0).fill(hour);
      await page.keyboard.press("Tab");
      await page.locator("ngb-timepicker input").nth(1).fill(minute);
      await page.keyboard.press("Tab");
      await type(page, page.locator("#phone"), p.text("Mobile").replace(/\D/g, ""));
      await page
        .locator("ngb-rating > span:not(.visually-hidden)")
        .nth(p.number("How fit are you") - 1)
        .click();
      await page.locator("#size").selectOption({ label: p.text("Frame size") });
      await page
        .locator("label")
        .filter({ hasText: p.text("Terrain") })
        .click();
      await click(person, "Lights needed", page.locator("#lights"));
    },
    send: "Book trial",
  },
  {
    id: "solid/solidselect-move",
    title: "Moving van",
    libraries: ["@thisbeyond/solid-select", "@corvu/calendar", "@tanstack/solid-form"],
    people: people({
      Customer: NAMES,
      Household: ["Three rooms", "Whole house", "One room"],
      "Special items": [["Safe"], ["Piano", "Palm tree"], ["Piano", "Aquarium", "Safe"]],
      "Moving day": ["2026-12-17", "2027-01-19", "2027-02-15"],
      Boxes: [25, 40, 15],
      Floor: ["First", "Higher", "Ground"],
      Remark: ["The street is narrow", "Dog in the yard", "Bring blankets please"],
      "There is a lift": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      Household: ["move.size", { "One room": "s", "Three rooms": "m", "Whole house": "l" }],
      "Special items": ["special", { Piano: "pi", Aquarium: "aq", Safe: "sa", "Palm tree": "pl" }],
      "Moving day": "move.day",
      Boxes: "move.boxes",
      Floor: "move.floor",
      Remark: "remark",
      "There is a lift": "move.lift",
    },
    required: ["Customer", "Household"],
    answer: byFlag({ van: "V-2" }, { errors: ["customer", "size"] }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Customer", "Remark");
      const select = (nth: number) => page.locator(".solid-select-control").nth(nth);
      const option = (name: string) => page.locator(".solid-select-option").filter({ hasText: name });
      await select(0).click();
      await option(p.text("Household")).click();
      for (const name of p.list("Special items")) {
        await select(1).click();
        await option(name).click();
      }
      await page.locator("#day").click();
      await pickDay(
        page,
        p.text("Moving day"),
        "[data-corvu-calendar-label]",
        "[data-corvu-calendar-nav]:first-of-type",
        "[data-corvu-calendar-nav]:last-of-type",
        "[role=dialog] [role=gridcell]",
      );
      const more = (p.number("Boxes") - 10) / 5;
      for (let i = 0; i < more; i++) await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("button", { name: p.text("Floor"), exact: true }).click();
      await click(person, "There is a lift", page.getByLabel("There is a lift"));
    },
    send: "Reserve van",
  },
  {
    id: "engines/jedison-hire",
    title: "New employee",
    libraries: ["jedison"],
    people: people({
      "Full name": NAMES,
      Team: ["Laboratory", "Shop floor", "Operations"],
      Equipment: [["Master key"], ["Laptop", "Telephone"], ["Laptop", "Telephone", "Company car"]],
      "First day": ["2026-12-01", "2027-01-18", "2027-02-16"],
      "Weekly hours": [32, 20, 40],
      "Badge colour": ["Blue", "Red", "Green"],
      Building: ["North tower", "Barn", "Mill house"],
      "Desk number": [14, 203, 7],
      Remarks: ["Left handed", "Comes by bicycle", "Needs a quiet room"],
      "Trial period": [true, false, true],
    }),
    wire: {
      "Full name": "variables.e.name",
      Team: ["variables.e.team", { Operations: "ops", Laboratory: "lab", "Shop floor": "shop" }],
      Equipment: ["variables.e.tools", { Laptop: "lap", Telephone: "pho", "Master key": "key", "Company car": "car" }],
      "First day": "variables.e.start",
      "Weekly hours": "variables.e.hours",
      "Badge colour": ["variables.e.badge", { Green: "g", Blue: "b", Red: "r" }],
      Building: "variables.e.address.building",
      "Desk number": "variables.e.address.desk",
      Remarks: "variables.e.note",
      "Trial period": "variables.e.trial",
    },
    required: ["Full name", "Team"],
    answer: graphql("hire"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Full name", "First day", "Weekly hours", "Building", "Desk number", "Remarks");
      await page
        .getByLabel("Team")
        .first()
        .selectOption({ label: p.text("Team") });
      for (const name of p.list("Equipment")) await page.getByLabel(name, { exact: true }).check();
      await page.getByLabel(p.text("Badge colour"), { exact: true }).check();
      await click(person, "Trial period", page.getByLabel("Trial period").first());
      await page.keyboard.press("Tab");
    },
    send: "Hire employee",
  },
];
