import { click, of, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "react/wordpress-event",
    title: "Event",
    libraries: ["@wordpress/components"],
    people: people({
      Title: ["Night of the brass bands", "Cheese market", "Why owls turn their heads"],
      Venue: ["River stage", "Old brewery", "School yard"],
      Kind: ["Concert", "Market", "Talk"],
      Entrance: ["Members only", "Paid", "Free"],
      Tags: [["music"], ["food", "open air"], ["children", "music", "food"]],
      Date: ["2026-12-12", "2027-01-23", "2027-02-20"],
      Seats: [120, 40, 85],
      Hours: [4, 6, 3],
      "Tickets at": ["The web shop", "The door", "The library"],
      Place: ["Outdoors", "In a tent", "Indoors"],
      Description: ["Six bands from the valley", "Bring your own knife", "With a living owl"],
      "Live on the web": [true, false, true],
      "Pets may come": [false, true, false],
    }),
    wire: {
      Title: "event[title]",
      Venue: ["event[venue]", { "Town hall": "th", "Old brewery": "ob", "River stage": "rs", "School yard": "sy" }],
      Kind: ["event[kind]", { Concert: "con", Market: "mar", Talk: "tal" }],
      Entrance: ["event[price]", { Free: "0", "Members only": "m", Paid: "p" }],
      Tags: "event[tags][]",
      Date: "event[date]",
      Seats: ["event[seats]", String],
      Hours: ["event[hours]", String],
      "Tickets at": ["event[door]", { "The door": "door", "The web shop": "web", "The library": "lib" }],
      Place: ["event[stage]", { Indoors: "in", Outdoors: "out", "In a tent": "tent" }],
      Description: "event[text]",
      "Live on the web": ["event[live]", (on: boolean) => (on ? "1" : "0")],
      "Pets may come": ["event[pets]", (on: boolean) => (on ? "1" : "0")],
    },
    required: ["Title", "Venue"],
    answer: byFlag({ success: true }, { success: false }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Title", "Date", "Description");
      await type(page, page.getByLabel("Venue", { exact: true }).first(), p.text("Venue"));
      await page.getByRole("option", { name: p.text("Venue") }).click();
      await page.getByLabel("Kind", { exact: true }).selectOption({ label: p.text("Kind") });
      await page.getByRole("combobox", { name: "Entrance" }).click();
      await page.getByRole("option", { name: p.text("Entrance") }).click();
      for (const tag of p.list("Tags")) {
        await type(page, page.getByLabel("Tags", { exact: true }), tag);
        await page.keyboard.press("Enter");
      }
      await page.keyboard.press("Escape");
      await page.locator("input[type=number]").first().fill(p.text("Seats"));
      await page.getByLabel("Hours", { exact: true }).fill(p.text("Hours"));
      await page.keyboard.press("Tab");
      await page.getByLabel(p.text("Tickets at"), { exact: true }).check();
      await page.getByRole("radio", { name: p.text("Place"), exact: true }).click();
      await click(person, "Live on the web", page.getByLabel("Live on the web"));
      await click(person, "Pets may come", page.getByLabel("Pets may come"));
    },
    send: "Publish event",
  },
  {
    id: "react/yamada-survey",
    title: "Survey",
    libraries: ["@yamada-ui/react"],
    people: people({
      Guest: NAMES,
      Room: ["Double", "Suite", "Single"],
      "How you found us": ["Newspaper", "Tour operator", "A friend"],
      "Day of arrival": ["2026-11-12", "2026-10-23", "2026-12-20"],
      Nights: [3, 7, 2],
      "Noise at night": [60, 15, 80],
      Breakfast: [4, 2, 5],
      "Come again": ["Surely", "Never", "Perhaps"],
      "What you liked": [["Garden"], ["View", "Beds"], ["View", "Beds", "Garden"]],
      "Kind of trip": ["Holiday", "Business", "Visit"],
      "Anything else": ["The lift is slow", "Lovely staff", "More towels please"],
      "Send me offers": [true, false, true],
    }),
    wire: {
      Guest: "params.guest",
      Room: ["params.room", { Single: "r1", Double: "r2", Suite: "r3" }],
      "How you found us": [
        "params.source",
        { "A friend": "fr", Newspaper: "np", "Search engine": "se", "Tour operator": "to" },
      ],
      "Day of arrival": "params.day",
      Nights: "params.nights",
      "Noise at night": "params.noise",
      Breakfast: "params.stars",
      "Come again": ["params.again", { Surely: "yes", Perhaps: "maybe", Never: "no" }],
      "What you liked": ["params.liked", { View: "view", Beds: "beds", Garden: "gard" }],
      "Kind of trip": ["params.trip", { Business: "biz", Holiday: "hol", Visit: "vis" }],
      "Anything else": "params.text",
      "Send me offers": "params.mail",
    },
    required: ["Guest", "Room"],
    answer: byFlag({ jsonrpc: "2.0", id: 7, result: true }, { jsonrpc: "2.0", id: 7, error: { code: 12 } }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Guest", "Anything else", "Nights");
      const option = (name: string) => page.getByRole("option", { name, exact: true }).locator("visible=true");
      await page.getByRole("combobox", { name: "Room" }).click();
      await option(p.text("Room")).click();
      await type(page, page.getByLabel("How you found us"), p.text("How you found us"));
      await option(p.text("How you found us")).click();
      await page.getByLabel("Day of arrival").fill(day(p.text("Day of arrival"), "YYYY/MM/DD"));
      await page.keyboard.press("Enter");
      await page.mouse.click(900, 20);
      await page.getByRole("slider").focus();
      const ahead = (p.number("Noise at night") - 30) / 5;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.getByText(p.text("Come again"), { exact: true }).click();
      for (const name of [...p.list("What you liked"), p.text("Kind of trip")])
        await page.getByText(name, { exact: true }).click();
      const star = page.locator("[class*=rating] label, [class*=rating] [role=radio]");
      await star.nth(p.number("Breakfast")).click({ force: true });
      await click(person, "Send me offers", page.getByText("Send me offers"));
    },
    send: "Send answers",
  },
  {
    id: "vue/vexip-depot",
    title: "Depot",
    libraries: ["vexip-ui"],
    people: people({
      Tenant: NAMES,
      "Room size": ["Garage", "Locker", "Hall"],
      Row: ["West / Row 3", "East / Row 1", "West / Row 4"],
      "Rented from": ["2026-12-07", "2027-01-11", "2027-02-15"],
      Boxes: [12, 4, 30],
      "Filled in percent": [45, 25, 70],
      Goods: [["Paper"], ["Furniture", "Wine"], ["Furniture", "Paper", "Bicycles"]],
      Access: ["Always", "By day", "On demand"],
      Extras: [["Camera"], ["Pallets", "Insurance"], ["Pallets", "Camera", "Insurance"]],
      Remarks: ["Nothing may freeze", "The key is lost", "Bring a trolley"],
      Heated: [true, false, true],
    }),
    wire: {
      Tenant: "rent.owner",
      "Room size": ["rent.size", { Locker: "s", Garage: "m", Hall: "l" }],
      Row: [
        "rent.place",
        (path: string) =>
          ({
            "East / Row 1": ["e", "e1"],
            "East / Row 2": ["e", "e2"],
            "West / Row 3": ["w", "w3"],
            "West / Row 4": ["w", "w4"],
          })[path],
      ],
      "Rented from": "rent.from",
      Boxes: "rent.boxes",
      "Filled in percent": "rent.fill",
      Goods: ["rent.goods", { Furniture: "fu", Paper: "pa", Bicycles: "bi", Wine: "wi" }],
      Access: "rent.access",
      Extras: "rent.extras",
      Remarks: "rent.note",
      Heated: "rent.heated",
    },
    required: ["Tenant", "Room size"],
    answer: byFlag({ status: "ok" }, { status: "refused", why: "tenant and size" }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) =>
        page.locator(".vxp-form__item").filter({ has: page.getByText(label, { exact: true }) });
      await item("Tenant").locator("input").fill(p.text("Tenant"));
      await item("Remarks").locator("textarea").fill(p.text("Remarks"));
      const option = (name: string) => page.locator(".vxp-option:visible").filter({ hasText: name });
      await item("Room size").locator(".vxp-select").click();
      await option(p.text("Room size")).click();
      await item("Goods").locator(".vxp-select").click();
      for (const name of p.list("Goods")) await option(name).click();
      await page.mouse.click(900, 20);
      await item("Row").locator(".vxp-cascader").click();
      for (const level of p.text("Row").split(" / "))
        await page.locator(".vxp-cascader__panel .vxp-option:visible").filter({ hasText: level }).click();
      await page.mouse.click(900, 20);
      await item("Rented from").locator(".vxp-date-picker").click();
      const panel = page.locator(".vxp-date-picker__panel:visible");
      await toMonth(
        p.text("Rented from"),
        () => panel.locator(".vxp-date-picker__year-month").innerText(),
        panel.locator(".vxp-date-picker__prev-month"),
        panel.locator(".vxp-date-picker__next-month"),
      );
      const date = String(Number(p.text("Rented from").slice(8)));
      await panel.locator(".vxp-calendar__panel").getByText(date, { exact: true }).first().click();
      await panel.getByRole("button", { name: "Confirm" }).click();
      await item("Boxes").locator("input").fill(p.text("Boxes"));
      await page.keyboard.press("Tab");
      await item("Filled in percent").locator("[role=slider]").focus();
      const ahead = p.number("Filled in percent") - 20;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      for (const name of [p.text("Access"), ...p.list("Extras")]) await page.getByText(name, { exact: true }).click();
      await click(person, "Heated", item("Heated").locator(".vxp-switch"));
    },
    send: "Rent room",
  },
  {
    id: "svelte/smui-kennel",
    title: "Kennel",
    libraries: ["svelte-material-ui"],
    people: people({
      "Name of the dog": ["Rex", "Luna", "Biscuit"],
      Breed: ["Spaniel", "Mongrel", "Terrier"],
      "First day": ["2026-12-11", "2027-01-15", "2027-02-12"],
      "Walks a day": [4, 3, 5],
      "Weight in kg": [22, 7, 31],
      Food: [["Tinned"], ["Dry", "Raw"], ["Dry", "Tinned", "Raw"]],
      "Sleeps in": ["Room", "Garden", "Box"],
      Vet: ["Dr Ito", "Dr Hall", "Any"],
      Care: [["Bath"], ["Brushing", "Claws"], ["Brushing", "Bath", "Claws"]],
      Habits: ["Barks at trams", "Steals shoes", "Afraid of thunder"],
      "Has a chip": [true, false, true],
    }),
    wire: {
      "Name of the dog": "data.stay.dog",
      Breed: "data.stay.breed",
      "First day": "data.stay.from",
      "Walks a day": "data.stay.walks",
      "Weight in kg": "data.stay.weight",
      Food: "data.stay.food",
      "Sleeps in": "data.stay.sleeps",
      Vet: ["data.stay.vet", { "Dr Hall": "hall", "Dr Ito": "ito", Any: "any" }],
      Care: ["data.stay.care", { Brushing: "brush", Bath: "bath", Claws: "claws" }],
      Habits: "data.stay.note",
      "Has a chip": "data.stay.chipped",
    },
    required: ["Name of the dog", "Breed"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Name of the dog", "First day", "Walks a day", "Habits");
      await page.locator(".mdc-select__anchor").click();
      await page.waitForTimeout(300);
      await page
        .locator(".mdc-select__menu .mdc-deprecated-list-item")
        .filter({ hasText: p.text("Breed") })
        .click();
      await page.waitForTimeout(300);
      await page.locator("input[type=range]").focus();
      const ahead = p.number("Weight in kg") - 10;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      for (const name of p.list("Food")) await page.getByText(name, { exact: true }).click();
      if (p.text("Sleeps in") !== "Box") await page.getByRole("radio", { name: p.text("Sleeps in") }).click();
      await page.getByLabel(p.text("Vet"), { exact: true }).check();
      for (const name of p.list("Care")) await page.getByLabel(name, { exact: true }).check();
      await click(person, "Has a chip", page.getByText("Has a chip"));
    },
    send: "Bring the dog",
  },
];
