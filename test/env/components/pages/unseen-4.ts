import type { Locator, Page } from "playwright";
import { click, of, pick, press, toMonth, type, write } from "../hand.js";
import { again, byFlag, byStatus, type ComponentPage, day, graphql, NAMES, people, redirect } from "../page.js";

const yes = (on: string) => (value: boolean) => (value ? on : undefined);

/** Clicks a slider's track at a share of its width. */
async function clickShare(page: Page, track: Locator, share: number): Promise<void> {
  const box = await track.boundingBox();
  if (box === null) throw new Error("no track");
  await page.mouse.click(box.x + share * box.width, box.y + box.height / 2);
}

export const pages: ComponentPage[] = [
  {
    id: "react/semi-candidate",
    title: "Candidate",
    libraries: ["@douyinfe/semi-ui-19"],
    people: people({
      Candidate: NAMES,
      Position: ["Accountant", "Driver", "Developer"],
      Degrees: [["Master"], ["Bachelor", "Certificate"], ["Bachelor", "Master", "Doctorate"]],
      "First working day": ["2026-12-14", "2027-01-04", "2027-02-15"],
      "Wanted salary": [3400, 2900, 5200],
      Skills: [["ledgers"], ["night shifts", "trucks"], ["rust", "sql", "css"]],
      Contract: ["Part time", "Full time", "Freelance"],
      Impression: [4, 3, 5],
      Remarks: ["Speaks three languages", "Has a licence for trucks", "Lives far away"],
      "Works remotely": [true, false, true],
    }),
    wire: {
      Candidate: "candidate.name",
      Position: ["post", { Developer: "dev", Accountant: "acc", Driver: "drv" }],
      Degrees: ["degrees", { Bachelor: "ba", Master: "ma", Doctorate: "phd", Certificate: "cert" }],
      "First working day": "terms.start",
      "Wanted salary": "terms.salary",
      Skills: "skills",
      Contract: ["terms.contract", { "Full time": "full", "Part time": "part", Freelance: "free" }],
      Impression: "rating",
      Remarks: "candidate.note",
      "Works remotely": "terms.remote",
    },
    required: ["Candidate", "Position"],
    answer: byFlag({ code: 0, message: "ok" }, { code: 40001, message: "missing fields" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#name").fill(p.text("Candidate"));
      const option = (name: string) => page.locator(".semi-select-option:visible").filter({ hasText: name });
      await page.locator("#post").click();
      await option(p.text("Position")).click();
      await page.locator("#degrees").click();
      for (const name of p.list("Degrees")) await option(name).click();
      await page.keyboard.press("Escape");
      await page.locator(".semi-datepicker-input input").fill(p.text("First working day"));
      await page.keyboard.press("Tab");
      await page.mouse.click(900, 20);
      await page.locator("#salary").fill(p.text("Wanted salary"));
      for (const skill of p.list("Skills")) {
        await type(page, page.locator(".semi-tagInput input"), skill);
        await page.keyboard.press("Enter");
      }
      await page.getByText(p.text("Contract"), { exact: true }).click();
      await page
        .locator(".semi-rating-star")
        .nth(p.number("Impression") - 1)
        .click();
      await page.locator("textarea").first().fill(p.text("Remarks"));
      await click(person, "Works remotely", page.locator(".semi-switch"));
    },
    send: "Save candidate",
  },
  {
    id: "react/fluent8-room",
    title: "Room",
    libraries: ["@fluentui/react"],
    people: people({
      "Booked by": NAMES,
      Room: ["Elm room", "Ash room", "Oak room"],
      Equipment: [["Camera"], ["Projector", "White board"], ["Projector", "Conference phone", "Camera"]],
      Team: ["Research", "Purchasing", "Marketing"],
      "Day of the meeting": ["2026-12-09", "2027-01-21", "2027-02-11"],
      Seats: [12, 8, 25],
      Hours: [3, 2, 6],
      Layout: ["Theatre", "Horseshoe", "Board table"],
      "Note for the desk": ["Two guests come later", "Please open the windows", "Coffee at ten"],
      Lunch: [true, false, true],
      "Guests from outside": [false, true, false],
    }),
    wire: {
      "Booked by": "booked_by",
      Room: ["room", { "Oak room": "oak", "Elm room": "elm", "Ash room": "ash" }],
      Equipment: ["gear", { Projector: "beam", "White board": "board", "Conference phone": "phone", Camera: "cam" }],
      Team: "team",
      "Day of the meeting": ["date", (iso: string) => day(iso, "MM/DD/YYYY")],
      Seats: ["seats", String],
      Hours: ["hours", String],
      Layout: ["layout", { Horseshoe: "u", Theatre: "t", "Board table": "b" }],
      "Note for the desk": "note",
      Lunch: ["lunch", (on: boolean) => (on ? "Y" : "N")],
      "Guests from outside": ["guests", yes("external")],
    },
    required: ["Booked by", "Room"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Booked by", "Note for the desk");
      await pick(page, page.getByRole("combobox", { name: "Room" }), p.text("Room"));
      await page.getByRole("combobox", { name: "Equipment" }).click();
      for (const name of p.list("Equipment")) await page.getByText(name, { exact: true }).last().click();
      await page.keyboard.press("Escape");
      await type(page, page.getByRole("combobox", { name: "Team" }), p.text("Team"));
      await page.keyboard.press("Enter");
      await page.getByRole("combobox", { name: "Day of the meeting" }).click();
      const heading = async () => (await page.locator("[class*=monthAndYear]").first().textContent()) ?? "";
      await toMonth(
        p.text("Day of the meeting"),
        heading,
        page.getByTitle("Go to previous month"),
        page.getByTitle("Go to next month"),
      );
      const name = new RegExp(`^${day(p.text("Day of the meeting"), "D, MMMM, YYYY")}$`);
      await page.getByRole("button", { name }).click();
      await page.getByRole("spinbutton", { name: "Seats" }).fill(p.text("Seats"));
      await page.keyboard.press("Tab");
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Hours") - 1);
      await page.getByText(p.text("Layout"), { exact: true }).click();
      await click(person, "Lunch", page.getByRole("switch"));
      await click(person, "Guests from outside", page.getByText("Guests from outside"));
    },
    send: "Book room",
  },
  {
    id: "react/gestalt-campaign",
    title: "Campaign",
    libraries: ["gestalt"],
    people: people({
      "Campaign name": ["Winter coats", "Spring bulbs", "Garden chairs"],
      Objective: ["Website visits", "Brand awareness", "Catalogue sales"],
      Market: ["Norway", "Austria", "Finland"],
      "Daily budget": [45, 120, 80],
      "Starts on": ["2026-12-01", "2027-02-22", "2027-04-03"],
      Placements: [["Search results"], ["Home feed", "Related pins"], ["Home feed", "Search results"]],
      Bidding: ["Custom bid", "Automatic", "Target cost"],
      Keywords: [["wool"], ["tulip", "crocus"], ["bench", "teak", "patio"]],
      Pitch: ["Warm from head to toe", "Plant now, smile later", "Sit down at last"],
      "Paused at first": [true, false, true],
    }),
    wire: {
      "Campaign name": "variables.campaign.name",
      Objective: [
        "variables.campaign.objective",
        { "Brand awareness": "AWARE", "Catalogue sales": "SALES", "Website visits": "VISITS" },
      ],
      Market: [
        "variables.campaign.country",
        { Austria: "AU", Denmark: "DE", Finland: "FI", Norway: "NO", Sweden: "SW" },
      ],
      "Daily budget": "variables.campaign.dailyBudget",
      "Starts on": "variables.campaign.startDate",
      Placements: [
        "variables.campaign.placements",
        { "Home feed": "home", "Search results": "search", "Related pins": "related" },
      ],
      Bidding: ["variables.campaign.bidding", { Automatic: "AUTO", "Custom bid": "CUSTOM", "Target cost": "TARGET" }],
      Keywords: "variables.campaign.keywords",
      Pitch: "variables.campaign.pitch",
      "Paused at first": ["variables.campaign.status", (on: boolean) => (on ? "PAUSED" : "ACTIVE")],
    },
    required: ["Campaign name", "Objective"],
    answer: graphql("createCampaign"),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#name").fill(p.text("Campaign name"));
      await page.locator("#goal").selectOption({ label: p.text("Objective") });
      await type(page, page.locator("#combobox-market"), p.text("Market").slice(0, 3));
      await page.getByRole("option", { name: p.text("Market") }).click();
      await page.locator("#budget").fill(p.text("Daily budget"));
      await page.locator("#starts").fill(p.text("Starts on"));
      for (const name of p.list("Placements")) await page.getByLabel(name, { exact: true }).check();
      await page.getByLabel(p.text("Bidding"), { exact: true }).check();
      for (const word of p.list("Keywords")) {
        await page.locator("#keywords").fill(word);
        await page.keyboard.press("Enter");
      }
      await page.locator("#pitch").fill(p.text("Pitch"));
      await click(person, "Paused at first", page.locator("#paused"));
    },
    send: "Create campaign",
  },
  {
    id: "vue/varlet-sitter",
    title: "Sitter",
    libraries: ["@varlet/ui"],
    people: people({
      "Family name": ["Lee", "Fernandez", "Okoro"],
      Quarter: ["Riverside", "Old town", "Hillside"],
      Needs: [["Supper"], ["Bedtime story", "Nappies"], ["Supper", "Homework", "Nappies"]],
      "Evening of": ["2026-12-18", "2027-01-09", "2027-02-27"],
      "Comes at": ["18:30", "19:15", "17:45"],
      Children: [3, 2, 4],
      "Euros an hour": [15, 19, 22],
      Language: ["Polish", "English", "German"],
      Experience: [4, 2, 5],
      "What else": ["The cat may go out", "No sweets after eight", "Grandma sleeps upstairs"],
      "We have pets": [true, false, true],
    }),
    wire: {
      "Family name": "family",
      Quarter: ["quarter", { "Old town": "1", Riverside: "2", Hillside: "3" }],
      Needs: ["needs[]", { "Bedtime story": "story", Supper: "supper", Homework: "work", Nappies: "nappy" }],
      "Evening of": "date",
      "Comes at": "time",
      Children: ["children", String],
      "Euros an hour": ["rate", String],
      Language: ["language", { German: "de", English: "en", Polish: "pl" }],
      Experience: ["stars", String],
      "What else": "note",
      "We have pets": ["pets", String],
    },
    required: ["Family name", "Quarter"],
    answer: byFlag({ status: "ok" }, { status: "error", message: "Name and quarter, please" }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) => page.locator(".var-space > *").filter({ hasText: label }).first();
      await page.locator(".var-input input").first().fill(p.text("Family name"));
      await page.locator(".var-select").nth(0).click();
      await page
        .locator(".var-option")
        .filter({ hasText: p.text("Quarter") })
        .click();
      await page.waitForTimeout(400);
      await page.locator(".var-select").nth(1).click();
      for (const name of p.list("Needs")) await page.locator(".var-option:visible").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.mouse.click(900, 20);
      await page.waitForTimeout(400);
      await page.locator(".var-date-input input").first().fill(p.text("Evening of"));
      await page.keyboard.press("Enter");
      await page.mouse.click(900, 20);
      await page.locator("input[type=time]").fill(p.text("Comes at"));
      await page.locator(".var-counter input").fill(p.text("Children"));
      await page.keyboard.press("Tab");
      await clickShare(page, page.locator(".var-slider__horizontal-track"), (p.number("Euros an hour") - 8) / 22);
      await page.getByText(p.text("Language"), { exact: true }).click();
      await page
        .locator(".var-rate__content, .var-rate > *")
        .nth(p.number("Experience") - 1)
        .click();
      await page.locator("textarea").first().fill(p.text("What else"));
      await click(person, "We have pets", item("We have pets").locator(".var-switch"));
    },
    send: "Find a sitter",
  },
  {
    id: "vue/wave-table",
    title: "Table",
    libraries: ["wave-ui"],
    people: people({
      Guest: NAMES,
      "Main dish": ["Venison", "Risotto", "Trout"],
      Wines: [["Merlot"], ["Riesling", "Chablis"], ["Riesling", "Merlot", "Shiraz"]],
      Evening: ["2026-12-31", "2027-01-16", "2027-03-05"],
      Persons: [24, 18, 31],
      "Seating area": ["Bar", "Terrace", "Hall"],
      "Leave out": [["Milk"], ["Nuts", "Gluten"], ["Nuts", "Milk", "Gluten"]],
      "Last visit": [4, 2, 5],
      "Special wish": ["A cake with candles", "A quiet corner", "High chair for a baby"],
      "I have a voucher": [true, false, true],
    }),
    wire: {
      Guest: "table.guest",
      "Main dish": ["menu.dish", { Trout: "trout", Venison: "deer", Risotto: "rice" }],
      Wines: ["menu.wines", { Riesling: "rie", Merlot: "mer", Shiraz: "shi", Chablis: "cha" }],
      Evening: "table.date",
      Persons: "table.persons",
      "Seating area": ["table.area", { Terrace: 1, Hall: 2, Bar: 3 }],
      "Leave out": ["menu.without", { Nuts: "nuts", Milk: "milk", Gluten: "glut" }],
      "Last visit": "service",
      "Special wish": "wish",
      "I have a voucher": "voucher",
    },
    required: ["Guest", "Main dish"],
    answer: byStatus({ table: 9 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator(".w-input input").first().fill(p.text("Guest"));
      await page.locator(".w-select__selection-wrap, .w-select__selection").first().click();
      await page
        .locator(".w-list__item-label")
        .filter({ hasText: p.text("Main dish") })
        .click();
      await page.locator(".w-select").nth(1).locator(".w-select__selection-wrap").click();
      for (const name of p.list("Wines"))
        await page.locator(".w-list__item-label:visible").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.mouse.click(900, 20);
      await page.locator("input[type=date]").fill(p.text("Evening"));
      await page.waitForTimeout(400);
      await clickShare(page, page.locator(".w-slider__track"), (p.number("Persons") - 1) / 39);
      await page.getByText(p.text("Seating area"), { exact: true }).click();
      for (const name of p.list("Leave out")) await page.getByText(name, { exact: true }).click();
      await page
        .locator(".w-rating button")
        .nth(p.number("Last visit") - 1)
        .click();
      await page.locator("textarea").fill(p.text("Special wish"));
      await click(person, "I have a voucher", page.locator(".w-switch").getByText("I have a voucher"));
    },
    send: "Reserve table",
  },
  {
    id: "svelte/skeleton-camp",
    title: "Camp site",
    libraries: ["@skeletonlabs/skeleton-svelte"],
    people: people({
      Camper: NAMES,
      Pitch: ["Forest edge", "Meadow", "Lake side"],
      Arrival: ["2026-12-19", "2027-01-30", "2027-02-08"],
      Nights: [5, 3, 9],
      "Fellow campers": [["Mia"], ["Tom", "Lena"], ["Ida", "Bert", "Ruth"]],
      Roof: ["Caravan", "Tent", "Motorhome"],
      Meals: [["Dinner"], ["Breakfast", "Lunch"], ["Breakfast", "Lunch", "Dinner"]],
      "Last stay": [4, 2, 5],
      Wishes: ["Near the showers", "Far from the road", "Next to our friends"],
      "We bring a dog": [true, false, true],
    }),
    wire: {
      Camper: "data.attributes.guest",
      Pitch: ["data.attributes.pitch", { "Lake side": "pw", "Forest edge": "pf", Meadow: "pm" }],
      Arrival: "data.attributes.arrival",
      Nights: "data.attributes.nights",
      "Fellow campers": "data.attributes.campers",
      Roof: ["data.attributes.tent", { Tent: "t", Caravan: "c", Motorhome: "m" }],
      Meals: ["data.attributes.meals", { Breakfast: "br", Lunch: "lu", Dinner: "di" }],
      "Last stay": "data.attributes.lastStay",
      Wishes: "data.attributes.wish",
      "We bring a dog": "data.attributes.dog",
    },
    required: ["Camper", "Pitch"],
    answer: byStatus({ data: { id: "b-7" } }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Camper", { exact: true }).fill(p.text("Camper"));
      await page.getByLabel("Wishes").fill(p.text("Wishes"));
      await type(page, page.getByRole("combobox", { name: "Pitch" }), p.text("Pitch"));
      await page.getByRole("option", { name: p.text("Pitch") }).click();
      await page.locator("[data-scope=date-picker][data-part=input]").fill(day(p.text("Arrival"), "MM/DD/YYYY"));
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await page.getByRole("slider").first().focus();
      await press(page, "ArrowRight", p.number("Nights") - 2);
      for (const name of p.list("Fellow campers")) {
        await page.locator("[data-scope=tags-input][data-part=input]").fill(name);
        await page.keyboard.press("Enter");
      }
      await page.getByText(p.text("Roof"), { exact: true }).click();
      for (const name of p.list("Meals")) await page.getByLabel(name, { exact: true }).check();
      await page
        .locator("[data-scope=rating-group][data-part=item]")
        .nth(p.number("Last stay") - 1)
        .click();
      await click(person, "We bring a dog", page.getByText("We bring a dog"));
    },
    send: "Book pitch",
  },
  {
    id: "elements/ix-service",
    title: "Service order",
    libraries: ["@siemens/ix"],
    people: people({
      Plant: ["Hall seven", "North works", "Harbour site"],
      Machine: ["Mill", "Press", "Lathe"],
      "Spare parts": [["Belt"], ["Bearing", "Seal"], ["Belt", "Filter", "Seal"]],
      "Date of service": ["2026-12-03", "2027-01-27", "2027-02-18"],
      Arrival: ["07:30", "13:45", "10:15"],
      "Running hours": [1200, 860, 4300],
      Priority: ["High", "Low", "Medium"],
      Shifts: [["Late shift"], ["Early shift", "Night shift"], ["Early shift", "Late shift", "Night shift"]],
      Fault: ["Stops when it is warm", "Loses oil", "Makes a rattling noise"],
      "Under warranty": [true, false, true],
    }),
    wire: {
      Plant: "order.plant",
      Machine: ["order.machine.id", { Lathe: "M-100", Mill: "M-200", Press: "M-300" }],
      "Spare parts": ["order.parts", { Bearing: "bea", Belt: "bel", Filter: "fil", Seal: "sea" }],
      "Date of service": ["order.visit.date", (iso: string) => day(iso, "YYYY/MM/DD")],
      Arrival: "order.visit.time",
      "Running hours": "order.machine.hours",
      Priority: ["order.priority", { Low: "3", Medium: "2", High: "1" }],
      Shifts: ["order.shifts", { "Early shift": "e", "Late shift": "l", "Night shift": "n" }],
      Fault: "order.fault",
      "Under warranty": "order.warranty",
    },
    required: ["Plant", "Machine"],
    answer: byStatus({ order: 88 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("ix-input input").fill(p.text("Plant"));
      await page.locator("ix-textarea textarea").fill(p.text("Fault"));
      await page.locator("ix-number-input input").fill(p.text("Running hours"));
      await page.locator("ix-select").nth(0).click();
      await page
        .locator("ix-select-item:visible")
        .filter({ hasText: p.text("Machine") })
        .click();
      await page.locator("ix-select").nth(1).click();
      for (const name of p.list("Spare parts"))
        await page.locator("ix-select-item:visible").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page
        .locator("ix-date-input input")
        .first()
        .fill(day(p.text("Date of service"), "YYYY/MM/DD"));
      await page.keyboard.press("Tab");
      await page.keyboard.press("Escape");
      await page.locator("ix-time-input input").first().fill(p.text("Arrival"));
      await page.keyboard.press("Tab");
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Priority"), { exact: true }).click();
      for (const name of p.list("Shifts")) await page.getByText(name, { exact: true }).click();
      await click(person, "Under warranty", page.locator("ix-toggle"));
    },
    send: "Order service",
  },
  {
    id: "elements/scale-tariff",
    title: "Tariff",
    libraries: ["@telekom/scale-components"],
    people: people({
      Customer: NAMES,
      "Customer number": ["DE-48213", "DE-90177", "DE-33046"],
      "New tariff": ["Medium", "Unlimited", "Small"],
      "Change on": ["2026-12-16", "2027-01-11", "2027-02-24"],
      Gigabytes: [25, 18, 40],
      "Contract term": ["One year", "One month", "Two years"],
      Options: [["Second card"], ["Roaming", "Streaming"], ["Roaming", "Second card", "Streaming"]],
      "Reason for the change": ["Moved to the country", "Too much for one person", "The children stream"],
      "Paper bill": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      "Customer number": "number",
      "New tariff": ["tariff", { Small: "S", Medium: "M", Unlimited: "XL" }],
      "Change on": "change",
      Gigabytes: ["gb", String],
      "Contract term": ["term", { "One month": "1", "One year": "12", "Two years": "24" }],
      Options: ["options", { Roaming: "roam", "Second card": "card", Streaming: "tv" }],
      "Reason for the change": "reason",
      "Paper bill": ["paper", yes("on")],
    },
    required: ["Customer", "New tariff"],
    answer: redirect("Customer and tariff are needed."),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Customer", { exact: true }).fill(p.text("Customer"));
      await page.getByLabel("Customer number").fill(p.text("Customer number"));
      await page.locator("scale-dropdown-select").click();
      await page.getByRole("option", { name: p.text("New tariff") }).click();
      await page.locator("scale-date-picker input").first().fill(p.text("Change on"));
      await page.keyboard.press("Tab");
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Gigabytes") - 10);
      await page.getByText(p.text("Contract term"), { exact: true }).click();
      for (const name of p.list("Options")) await page.getByText(name, { exact: true }).click();
      await page.locator("scale-textarea textarea").fill(p.text("Reason for the change"));
      await click(person, "Paper bill", page.locator("scale-switch label, scale-switch .switch").first());
    },
    send: "Change tariff",
  },
  {
    id: "plain/chosen-tender",
    title: "Tender",
    libraries: ["chosen-js", "sumoselect", "jquery-datetimepicker", "tagin"],
    people: people({
      Bidder: ["Stone & Sons", "Alpine Works", "Delta Build"],
      Lot: ["Roofing", "Concrete", "Earthworks"],
      Trades: [["Joiners"], ["Masons", "Painters"], ["Masons", "Joiners", "Plumbers"]],
      Regions: [["East side"], ["North side", "West side"], ["North side", "East side", "South side"]],
      "Site visit": ["2026-12-07 09:30", "2027-01-13 14:00", "2027-02-02 11:30"],
      "Ready by": ["2027-05-28", "2027-08-14", "2027-10-09"],
      "Reference projects": [["Town hall"], ["Old bridge", "School"], ["Clinic", "Station", "Harbour"]],
      "Net sum": ["48250.50", "120900.00", "9800.75"],
      "Bid bond enclosed": [true, false, true],
    }),
    wire: {
      Bidder: "bidder",
      Lot: ["lot", { Earthworks: "L-01", Concrete: "L-02", Roofing: "L-03" }],
      Trades: ["trades[]", { Masons: "10", Joiners: "20", Plumbers: "30", Painters: "40" }],
      Regions: ["regions[]", { "North side": "n", "East side": "e", "South side": "s", "West side": "w" }],
      "Site visit": ["visit", (text: string) => `${day(text.slice(0, 10), "DD.MM.YYYY")} ${text.slice(11)}`],
      "Ready by": ["ready", (iso: string) => day(iso, "YYYY/MM/DD")],
      "Reference projects": ["refs", (list: readonly string[]) => list.join(",")],
      "Net sum": "sum",
      "Bid bond enclosed": ["bond", yes("1")],
    },
    required: ["Bidder", "Lot"],
    answer: again("The tender has arrived!", "Bidder and lot are needed"),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#bidder").fill(p.text("Bidder"));
      await page.locator("#sum").fill(p.text("Net sum"));
      await page.locator("#lot_chosen").click();
      await page
        .locator("#lot_chosen .active-result")
        .filter({ hasText: p.text("Lot") })
        .click();
      for (const name of p.list("Trades")) {
        await page.locator("#trades_chosen").click();
        await page.locator("#trades_chosen .active-result").filter({ hasText: name }).click();
      }
      await page.locator(".SumoSelect").click();
      for (const name of p.list("Regions")) await page.locator(".SumoSelect .opt").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.mouse.click(900, 20);
      const [visit = "", time = ""] = p.text("Site visit").split(" ");
      for (const [css, text] of [
        ["#opens", `${day(visit, "DD.MM.YYYY")} ${time}`],
        ["#ready", day(p.text("Ready by"), "YYYY/MM/DD")],
      ] as const) {
        await page.locator(css).fill(text);
        await page.waitForTimeout(300);
        await page.keyboard.press("Tab");
        await page.locator("h1").click();
        await page.waitForTimeout(300);
      }
      for (const name of p.list("Reference projects")) {
        await type(page, page.locator(".tagin-input"), name);
        await page.keyboard.press("Enter");
      }
      await click(person, "Bid bond enclosed", page.getByLabel("Bid bond enclosed"));
    },
    send: "Hand in tender",
  },
  {
    id: "plain/metro-trailer",
    title: "Trailer",
    libraries: ["@olton/metroui"],
    people: people({
      Hirer: NAMES,
      Trailer: ["Car carrier", "Horse float", "Box trailer"],
      Extras: [["Cargo net"], ["Coupling lock", "Spare wheel"], ["Coupling lock", "Cargo net", "Loading ramp"]],
      "Collected on": ["2026-12-05", "2027-01-23", "2027-02-13"],
      "Rental days": [3, 2, 8],
      "Towing speed": [80, 72, 95],
      "Number plates": [["BAL204"], ["MBF17", "MBF18"], ["HHC1", "HHC2", "HHC3"]],
      Condition: [4, 3, 5],
      "Paid by": ["Debit", "Cash", "On account"],
      "Breakdown cover": [true, false, true],
    }),
    wire: {
      Hirer: "hirer",
      Trailer: ["trailer", { "Box trailer": "11", "Car carrier": "12", "Horse float": "13" }],
      Extras: [
        "extras[]",
        { "Coupling lock": "lock", "Cargo net": "net", "Loading ramp": "ramp", "Spare wheel": "wheel" },
      ],
      "Collected on": "collected",
      "Rental days": ["days", String],
      "Towing speed": ["speed", String],
      "Number plates": ["plates", (list: readonly string[]) => list.join(",")],
      Condition: ["condition", String],
      "Paid by": ["paid", { Cash: "c", Debit: "d", "On account": "i" }],
      "Breakdown cover": ["insured", yes("yes")],
    },
    required: ["Hirer", "Trailer"],
    answer: redirect("Hirer and trailer are needed."),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#hirer").fill(p.text("Hirer"));
      await page.locator(".select").nth(0).click();
      await page
        .locator(".select:visible li:visible")
        .filter({ hasText: p.text("Trailer") })
        .click();
      await page.locator(".select").nth(1).click();
      for (const name of p.list("Extras")) await page.locator(".select li:visible").filter({ hasText: name }).click();
      await page.mouse.click(900, 20);
      await page.locator("[name=days]").fill(p.text("Rental days"));
      await page.keyboard.press("Tab");
      await clickShare(page, page.locator(".slider"), (p.number("Towing speed") - 50) / 50);
      for (const plate of p.list("Number plates")) {
        await type(page, page.locator(".tag-input input.input-wrapper"), plate);
        await page.keyboard.press("Enter");
      }
      await page
        .locator(".rating .stars li")
        .nth(p.number("Condition") - 1)
        .click();
      await page.getByText(p.text("Paid by"), { exact: true }).click();
      await click(person, "Breakdown cover", page.getByText("Breakdown cover"));
      await page.locator("#collected").fill(p.text("Collected on"));
    },
    send: "Hire trailer",
  },
];
