import { click, of, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "vue/codex-archive",
    title: "Archive",
    libraries: ["@wikimedia/codex"],
    people: people({
      Title: ["Letter of the mayor", "Map of the harbour", "Ledger of the mill"],
      "Kind of record": ["Map", "Letter", "Ledger"],
      Town: ["Ribe", "Aarhus", "Viborg"],
      Topics: [["Weather"], ["Trade", "Taxes"], ["Church", "War", "Trade"]],
      "Written on": ["1893-04-12", "1901-10-05", "1876-02-28"],
      Pages: [14, 3, 212],
      Access: ["On request", "Closed", "Open"],
      Keywords: [["storm"], ["toll", "salt"], ["grain", "debt", "rye"]],
      Rights: ["Owned by the town", "Public domain", "Unknown"],
      Seals: [["Lead"], ["Wax", "Embossed"], ["Wax", "Lead", "Embossed"]],
      Summary: ["He asks for help", "Shows the old pier", "Ends in the middle of a line"],
      "Already scanned": [true, false, true],
    }),
    wire: {
      Title: "record.title",
      "Kind of record": ["record.kind", { Letter: "let", Map: "map", Ledger: "led" }],
      Town: ["record.town", { Aarhus: 11, Odense: 12, Ribe: 13, Viborg: 14 }],
      Topics: ["record.topics", { Trade: "tr", Church: "ch", War: "wa", Weather: "we", Taxes: "ta" }],
      "Written on": "record.day",
      Pages: "record.pages",
      Access: ["record.access", { Open: "open", "On request": "ask", Closed: "shut" }],
      Keywords: "record.keywords",
      Rights: ["record.rights", { "Public domain": "pd", "Owned by the town": "town", Unknown: "unk" }],
      Seals: ["record.seals", { Wax: "wax", Lead: "lead", Embossed: "emb" }],
      Summary: "record.note",
      "Already scanned": "record.scanned",
    },
    required: ["Title", "Kind of record"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Title", "Written on", "Pages", "Summary");
      const option = (name: string) => page.locator(".cdx-menu-item:visible").filter({ hasText: name });
      await page.locator(".cdx-select-vue__handle").click();
      await option(p.text("Kind of record")).click();
      await type(page, page.locator(".cdx-lookup input").first(), p.text("Town").slice(0, 3));
      await option(p.text("Town")).click();
      for (const name of p.list("Topics")) {
        await type(page, page.locator(".cdx-multiselect-lookup input"), name);
        await option(name).click();
      }
      await page.keyboard.press("Escape");
      await page.mouse.click(900, 20);
      await page.getByRole("button", { name: p.text("Access"), exact: true }).click();
      for (const word of p.list("Keywords")) {
        await type(page, page.locator(".cdx-chip-input input").last(), word);
        await page.keyboard.press("Enter");
      }
      await page.getByLabel(p.text("Rights"), { exact: true }).check();
      for (const name of p.list("Seals")) await page.getByLabel(name, { exact: true }).check();
      await click(person, "Already scanned", page.getByLabel("Already scanned"));
    },
    send: "Keep record",
  },
  {
    id: "vue/viewui-studio",
    title: "Studio",
    libraries: ["view-ui-plus"],
    people: people({
      Band: ["The Lees", "Fernandez Five", "Okoro Sound"],
      Room: ["Vocal booth", "Big room", "Small room"],
      Studio: ["South / Barn", "North / Mill", "South / Chapel"],
      Day: ["2026-12-09", "2027-01-27", "2027-02-16"],
      Start: ["14:30", "09:15", "18:45"],
      Hours: [5, 3, 8],
      Loudness: [70, 35, 90],
      Instruments: [["Drums"], ["Bass amp", "Synthesizer"], ["Drums", "Grand piano", "Bass amp"]],
      Payment: ["Card", "Club account", "Cash"],
      "Last time": [4, 2, 5],
      "What you play": ["Slow blues", "Folk songs", "Loud marching music"],
      "With a sound engineer": [true, false, true],
    }),
    wire: {
      Band: "band",
      Room: ["room", { "Big room": "a", "Small room": "b", "Vocal booth": "c" }],
      Studio: [
        "place",
        (path: string) =>
          ({
            "North / Mill": ["n", "n1"],
            "North / Dock": ["n", "n2"],
            "South / Barn": ["s", "s1"],
            "South / Chapel": ["s", "s2"],
          })[path],
      ],
      Day: "day",
      Start: "from",
      Hours: "hours",
      Loudness: "volume",
      Instruments: ["gear", { Drums: "dr", "Bass amp": "ba", "Grand piano": "gp", Synthesizer: "sy" }],
      Payment: ["pay", { Cash: "cash", Card: "card", "Club account": "club" }],
      "Last time": "stars",
      "What you play": "story",
      "With a sound engineer": "engineer",
    },
    required: ["Band", "Room"],
    answer: byFlag({ status: "ok" }, { status: "error", errors: ["band and room"] }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) =>
        page
          .locator(".ivu-form-item")
          .filter({ has: page.locator(".ivu-form-item-label").getByText(label, { exact: true }) });
      await item("Band").locator("input").fill(p.text("Band"));
      await item("Room").locator(".ivu-select-selection").click();
      await page
        .locator(".ivu-select-item:visible")
        .filter({ hasText: p.text("Room") })
        .click();
      await item("Studio").locator("input").last().click();
      for (const level of p.text("Studio").split(" / "))
        await page.locator(".ivu-cascader-menu-item:visible").filter({ hasText: level }).click();
      await item("Day").locator("input").fill(p.text("Day"));
      await page.mouse.click(900, 20);
      await item("Start").locator("input").fill(p.text("Start"));
      await page.mouse.click(900, 20);
      await item("Hours").locator("input").fill(p.text("Hours"));
      await page.keyboard.press("Tab");
      await page
        .locator(".ivu-slider-button-wrap [tabindex='0'], .ivu-slider-button-wrap[tabindex='0']")
        .first()
        .focus();
      const ahead = p.number("Loudness") - 50;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await item("Instruments").locator(".ivu-select-selection").click();
      for (const name of p.list("Instruments"))
        await page.locator(".ivu-select-item:visible").filter({ hasText: name }).click();
      await page.mouse.click(900, 20);
      await page.getByText(p.text("Payment"), { exact: true }).click();
      await item("Last time")
        .locator(".ivu-rate-star")
        .nth(p.number("Last time") - 1)
        .click();
      await item("What you play").locator("textarea").fill(p.text("What you play"));
      await click(person, "With a sound engineer", item("With a sound engineer").locator(".ivu-switch"));
    },
    send: "Book room",
  },
  {
    id: "vue/maz-lodging",
    title: "Lodging",
    libraries: ["maz-ui"],
    people: people({
      Lodger: NAMES,
      House: ["Garden house", "Tower", "Bridge house"],
      Needs: [["Crib"], ["Desk", "Parking"], ["Desk", "Ramp", "Crib"]],
      "Moves in": ["2026-12-10", "2027-01-18", "2027-02-22"],
      Months: [9, 3, 14],
      Board: ["Half board", "None", "Full board"],
      Pets: [["Dog"], ["Cat", "Bird"], ["Cat", "Dog", "Bird"]],
      Telephone: ["+447911123456", "+447911654321", "+447400123456"],
      Persons: [2, 4, 3],
      "In three words": [["calm"], ["tidy", "early"], ["loud", "merry", "late"]],
      "About you": ["I study music", "We are a quiet couple", "Works in shifts"],
      Smoker: [true, false, true],
    }),
    wire: {
      Lodger: "data.guest",
      House: ["data.house", { "Bridge house": "bg", "Garden house": "gd", Tower: "tw" }],
      Needs: ["data.needs", { Desk: "desk", Parking: "park", Crib: "crib", Ramp: "ramp" }],
      "Moves in": "data.moves",
      Months: "data.months",
      Board: ["data.board", { None: "none", "Half board": "half", "Full board": "full" }],
      Pets: ["data.pets", { Cat: "cat", Dog: "dog", Bird: "bird" }],
      Telephone: "data.phone",
      Persons: "data.persons",
      "In three words": "data.words",
      "About you": "data.about",
      Smoker: "data.smoker",
    },
    required: ["Lodger"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Lodger").fill(p.text("Lodger"));
      const option = (name: string) => page.locator(".m-select-list-item:visible").filter({ hasText: name });
      await page.getByLabel("House").click();
      await option(p.text("House")).click();
      await page.getByLabel("Needs").click();
      for (const name of p.list("Needs")) await option(name).click();
      await page.mouse.click(900, 20);
      await page.getByLabel("Moves in").click();
      const bar = page.locator(".m-date-picker-calendar-switcher:visible");
      await toMonth(
        p.text("Moves in"),
        () => bar.innerText(),
        bar.locator("button").first(),
        bar.locator("button").last(),
      );
      const date = String(Number(p.text("Moves in").slice(8)));
      await page.waitForTimeout(500);
      await page.locator("[class*=calendar] button:visible").getByText(date, { exact: true }).first().click();
      await page.mouse.click(900, 20);
      const track = await page.locator(".m-slider__bar").boundingBox();
      if (track === null) throw new Error("no slider");
      const share = (months: number): number => track.x + (track.width * (months - 1)) / 23;
      await page.locator(".m-slider__btn").hover();
      await page.mouse.down();
      await page.mouse.move(share(p.number("Months")), track.y + track.height / 2, { steps: 8 });
      await page.mouse.up();
      await page.getByText(p.text("Board"), { exact: true }).click();
      for (const name of p.list("Pets")) await page.getByText(name, { exact: true }).click();
      await page.locator(".m-input-phone-number input").last().fill(p.text("Telephone"));
      await page.locator("#persons").fill(p.text("Persons"));
      for (const word of p.list("In three words")) {
        await type(page, page.getByLabel("In three words"), word);
        await page.keyboard.press("Enter");
      }
      await page.locator("textarea").fill(p.text("About you"));
      await click(person, "Smoker", page.getByText("Smoker"));
    },
    send: "Ask for the room",
  },
  {
    id: "svelte/svar-fleet",
    title: "Fleet",
    libraries: ["@svar-ui/svelte-core"],
    people: people({
      "Licence plate": ["LS 12 ABC", "YK 77 XYZ", "WB 30 KLM"],
      Depot: ["York", "Whitby", "Leeds"],
      Equipment: [["Tow bar"], ["Crane", "Cooling"], ["Crane", "Tail lift", "Tow bar"]],
      "In service since": ["2026-10-14", "2026-08-25", "2026-12-08"],
      Seats: [3, 5, 4],
      "Load in tons": [18, 7, 26],
      Fuel: ["Electric", "Diesel", "Hydrogen"],
      Shift: ["Night", "Day", "Both"],
      Remark: ["Left mirror is cracked", "Smells of fish", "Needs new tyres in March"],
      "Tracked by satellite": [true, false, true],
    }),
    wire: {
      "Licence plate": "vehicle.plate",
      Depot: ["vehicle.depot_id", { Leeds: 1, York: 2, Whitby: 3, Selby: 4 }],
      Equipment: ["vehicle.equipment", { Crane: "crane", "Tail lift": "lift", "Tow bar": "tow", Cooling: "cool" }],
      "In service since": ["vehicle.in_service", (iso: string) => day(iso, "DD.MM.YYYY")],
      Seats: "vehicle.seats",
      "Load in tons": "vehicle.load",
      Fuel: ["vehicle.fuel", { Diesel: "d", Electric: "e", Hydrogen: "h" }],
      Shift: ["vehicle.shift", { Day: "day", Night: "night", Both: "both" }],
      Remark: "vehicle.remark",
      "Tracked by satellite": ["vehicle.tracked", (on: boolean) => (on ? 1 : 0)],
    },
    required: ["Licence plate", "Depot"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      const field = (label: string) => page.locator(".wx-field").filter({ hasText: label });
      await page.getByLabel("Licence plate").fill(p.text("Licence plate"));
      const option = (name: string) => page.locator(".wx-list .wx-item:visible").filter({ hasText: name });
      await field("Depot").locator(".wx-richselect").click();
      await option(p.text("Depot")).click();
      await field("Equipment").locator("input").first().click();
      for (const name of p.list("Equipment")) await option(name).click();
      await page.mouse.click(900, 20);
      await field("In service since").locator("input").click();
      await toMonth(
        p.text("In service since"),
        () => page.locator(".wx-calendar .wx-label").first().innerText(),
        page.locator(".wx-calendar .wxi-angle-left"),
        page.locator(".wx-calendar .wxi-angle-right"),
      );
      const at = await page.evaluate((iso) => new Date(`${iso}T00:00`).valueOf(), p.text("In service since"));
      await page.locator(`.wx-calendar .wx-day[data-id="${at}"]`).click();
      await field("Seats").locator("input").fill(p.text("Seats"));
      await page.keyboard.press("Tab");
      await page.locator("input[type=range]").fill(p.text("Load in tons"));
      await page.getByText(p.text("Fuel"), { exact: true }).click();
      await page.getByText(p.text("Shift"), { exact: true }).click();
      await page.getByLabel("Remark").fill(p.text("Remark"));
      await click(person, "Tracked by satellite", field("Tracked by satellite").locator(".wx-switch"));
    },
    send: "Add vehicle",
  },
  {
    id: "svelte/small-hall",
    title: "Hall",
    libraries: [
      "@svelte-plugins/datepicker",
      "simple-svelte-autocomplete",
      "svelte-awesome-color-picker",
      "svelte-tags-input",
      "svelte-tel-input",
    ],
    people: people({
      Club: ["Chess friends", "Choir of the mill", "Rowing club"],
      Occasion: ["Lecture", "Wedding", "Theatre play"],
      Date: ["2026-12-12", "2027-01-23", "2027-02-20"],
      Telephone: ["+447911123456", "+447700900123", "+447400123456"],
      Hall: ["Mirror hall", "Great hall", "Cellar"],
      Chairs: [80, 20, 120],
      Speakers: [["Ada"], ["Grace", "Alan"], ["Edsger", "Barbara", "Donald"]],
      Seating: ["Banquet", "Theatre rows", "Standing"],
      Remarks: ["We bring our own clocks", "The piano has to be tuned", "Boats stay outside"],
      "Stage needed": [true, false, true],
    }),
    wire: {
      Club: "hall[club]",
      Occasion: ["hall[occasion]", { Wedding: "wed", Fair: "fair", Lecture: "talk", "Theatre play": "play" }],
      Date: "hall[date]",
      Telephone: "hall[telephone]",
      Hall: ["hall[hall]", { "Great hall": "h1", "Mirror hall": "h2", Cellar: "h3" }],
      Chairs: ["hall[chairs]", String],
      Speakers: "hall[speakers][]",
      Seating: ["hall[rows]", { "Theatre rows": "th", Banquet: "ba", Standing: "st" }],
      Remarks: "hall[note]",
      "Stage needed": ["hall[stage]", (on: boolean) => (on ? "1" : "0")],
    },
    required: ["Club", "Occasion"],
    answer: byFlag({ booked: true }, { booked: false }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Club", "Remarks");
      await type(page, page.locator(".autocomplete input").first(), p.text("Occasion").slice(0, 3));
      await page
        .locator(".autocomplete-list-item")
        .filter({ hasText: p.text("Occasion") })
        .click();
      await page.locator("#when").click();
      const picker = page.locator(".calendars-container");
      await toMonth(
        p.text("Date"),
        () => picker.locator("header").first().innerText(),
        picker.locator("header button").first(),
        picker.locator("header button").last(),
      );
      const date = String(Number(p.text("Date").slice(8)));
      await picker.locator(".date:not(.outside)").getByText(date, { exact: true }).first().click();
      await page.locator("#tel").fill(p.text("Telephone"));
      await page.locator("#hall").selectOption({ label: p.text("Hall") });
      const steps = (p.number("Chairs") - 40) / 10;
      for (let i = 0; i < Math.abs(steps); i++)
        await page.getByRole("button", { name: steps > 0 ? "+" : "-", exact: true }).click();
      for (const name of p.list("Speakers")) {
        await type(page, page.locator(".svelte-tags-input"), name);
        await page.keyboard.press("Enter");
      }
      await page.getByLabel(p.text("Seating"), { exact: true }).check();
      await click(person, "Stage needed", page.getByLabel("Stage needed"));
    },
    send: "Book hall",
  },
];
