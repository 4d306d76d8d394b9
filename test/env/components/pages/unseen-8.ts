import { click, of, press, toMonth, type, write } from "../hand.js";
import { byFlag, type ComponentPage, day, NAMES, people } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "plain/zebra-rental",
    title: "Tool rental",
    libraries: ["zebra_datepicker", "bootstrap-slider"],
    people: people({
      Renter: NAMES,
      Tool: ["Tile cutter", "Floor sander", "Concrete mixer"],
      Accessories: [["Cable drum"], ["Gloves", "Dust mask"], ["Gloves", "Goggles", "Cable drum"]],
      "Rented from": ["2026-12-14", "2027-01-11", "2027-02-17"],
      Days: [4, 9, 14],
      "Number plate": ["B-XY 12", "M-AB 7", "K-L 55"],
      Collection: ["Deliver it", "Courier", "I collect it"],
      "Pay deposit by card": [true, false, true],
    }),
    wire: {
      Renter: "rental.renter",
      Tool: ["rental.tool", { "Concrete mixer": "T1", "Tile cutter": "T2", "Floor sander": "T3" }],
      Accessories: ["rental.extras", { Gloves: "gl", Goggles: "gg", "Cable drum": "ca", "Dust mask": "ma" }],
      "Rented from": ["rental.from", (iso: string) => day(iso, "DD MMM YYYY")],
      Days: "rental.days",
      "Number plate": "rental.plate",
      Collection: ["rental.how", { "I collect it": "0", "Deliver it": "1", Courier: "2" }],
      "Pay deposit by card": "rental.deposit",
    },
    required: ["Renter", "Tool"],
    answer: byFlag({ ok: true }, { ok: false }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#renter").fill(p.text("Renter"));
      await page.locator("#tool").selectOption({ label: p.text("Tool") });
      await page.locator("summary").click();
      for (const name of p.list("Accessories")) await page.getByLabel(name, { exact: true }).check();
      await page.locator("#from").click();
      await toMonth(
        p.text("Rented from"),
        () => page.locator(".dp_caption").first().innerText(),
        page.locator(".dp_previous").first(),
        page.locator(".dp_next").first(),
      );
      const date = String(Number(p.text("Rented from").slice(8)));
      await page
        .locator(".dp_daypicker td:not(.dp_not_in_month):not(.dp_disabled)")
        .filter({ hasText: new RegExp(`^${date}$`) })
        .click();
      await page.locator(".slider-handle").first().focus();
      await press(page, "ArrowRight", p.number("Days") - 1);
      await page.locator("#plate").fill(p.text("Number plate"));
      await page.getByLabel(p.text("Collection")).check();
      await click(person, "Pay deposit by card", page.locator("#deposit"));
    },
    send: "Rent tool",
  },
  {
    id: "elements/astro-pass",
    title: "Satellite pass",
    libraries: ["@astrouxds/astro-web-components"],
    people: people({
      Operator: NAMES,
      "Ground station": ["Svalbard", "Maspalomas", "Kiruna"],
      Band: ["X band", "Ka band", "S band"],
      "Data to fetch": [["Log files"], ["Telemetry", "Images"], ["Telemetry", "Images", "Log files"]],
      "Day of the pass": ["2026-12-15", "2027-01-07", "2027-02-20"],
      "Antenna gain": [35, 50, 10],
      "Pass mode": ["Manual", "Shadow", "Automatic"],
      Instructions: ["Point north first", "Stop at sunset", "Call the duty desk"],
      "Record the signal": [true, false, true],
    }),
    wire: {
      Operator: "pass[operator]",
      "Ground station": ["pass[station]", { Kiruna: "KRN", Svalbard: "SVB", Maspalomas: "MSP" }],
      Band: ["pass[band]", { "S band": "s", "X band": "x", "Ka band": "ka" }],
      "Data to fetch": ["pass[data][]", { Telemetry: "tlm", Images: "img", "Log files": "log" }],
      "Day of the pass": "pass[on]",
      "Antenna gain": ["pass[gain]", String],
      "Pass mode": ["pass[mode]", (mode: string) => mode.toLowerCase()],
      Instructions: "pass[note]",
      "Record the signal": ["pass[record]", (is: boolean) => (is ? "1" : "0")],
    },
    required: ["Operator", "Ground station"],
    answer: byFlag({ pass: 31 }, { pass: null }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#operator input:not([type=hidden])").fill(p.text("Operator"));
      await page.locator("#station select").selectOption({ label: p.text("Ground station") });
      await page
        .locator("rux-radio")
        .filter({ hasText: p.text("Band") })
        .locator("label")
        .click();
      for (const name of p.list("Data to fetch"))
        await page.locator("rux-checkbox").filter({ hasText: name }).locator("label").click();
      await page.locator("#on input:not([type=hidden])").fill(p.text("Day of the pass"));
      await page.locator("#gain input[type=range]").focus();
      const steps = (p.number("Antenna gain") - 20) / 5;
      await press(page, steps > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(steps));
      await page
        .locator("#mode label")
        .filter({ hasText: p.text("Pass mode") })
        .click();
      await page.locator("#note textarea").fill(p.text("Instructions"));
      await click(person, "Record the signal", page.locator("#record label").first());
    },
    async send(page) {
      await page.locator("#go").click();
    },
  },
  {
    id: "engines/w2ui-ticket",
    title: "Ticket",
    libraries: ["w2ui"],
    people: people({
      Caller: NAMES,
      Area: ["Software", "Network", "Hardware"],
      Sites: [["Dresden"], ["Bremen", "Erfurt"], ["Bremen", "Cologne", "Erfurt"]],
      Since: ["2026-11-02", "2026-11-10", "2026-10-21"],
      "Call back at": ["14:30", "09:15", "16:45"],
      "Seats affected": [12, 3, 45],
      "Flag colour": ["#336699", "#cc5500", "#228844"],
      Level: ["Middle", "High", "Low"],
      "What happens": ["The screen stays dark", "No mail since noon", "It beeps three times"],
      "Important customer": [true, false, true],
    }),
    wire: {
      Caller: "ticket.caller",
      Area: ["ticket.area", { Hardware: "hw", Software: "sw", Network: "net" }],
      Sites: ["ticket.sites", { Bremen: 1, Cologne: 2, Dresden: 3, Erfurt: 4 }],
      Since: "ticket.since",
      "Call back at": "ticket.call",
      "Seats affected": "ticket.seats",
      "Flag colour": ["ticket.flag", (colour: string) => colour.slice(1).toUpperCase()],
      Level: ["ticket.level", { Low: "l", Middle: "m", High: "h" }],
      "What happens": "ticket.story",
      "Important customer": "ticket.vip",
    },
    required: ["Caller", "Area"],
    answer: byFlag({ number: 1203 }, { number: 0 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#caller").fill(p.text("Caller"));
      await page.locator("#area").click();
      await page
        .locator(".w2ui-menu-item, .w2ui-menu .menu-text")
        .filter({ hasText: p.text("Area") })
        .first()
        .click();
      for (const name of p.list("Sites")) {
        await page.locator("input.w2ui-enum-input, .w2ui-list input, .w2ui-multi-items input").first().click();
        await page.locator(".w2ui-menu-item, .w2ui-menu .menu-text").filter({ hasText: name }).first().click();
        await page.keyboard.press("Escape");
      }
      await page.locator("#since").fill(p.text("Since"));
      await page.keyboard.press("Tab");
      await page.locator("#call").fill(p.text("Call back at"));
      await page.keyboard.press("Tab");
      await page.locator("#seats").fill(p.text("Seats affected"));
      await page.locator("#flag").fill(p.text("Flag colour").slice(1));
      await page.keyboard.press("Tab");
      await page.getByText(p.text("Level"), { exact: true }).click();
      await page.locator("#story").fill(p.text("What happens"));
      await click(person, "Important customer", page.locator("#vip"));
      await page.keyboard.press("Tab");
    },
    send: "Save",
  },
  {
    id: "plain/alpinemask-visa",
    title: "Visa",
    libraries: ["@alpinejs/mask", "alpinejs"],
    people: people({
      Applicant: NAMES,
      Telephone: ["(212) 555-0147", "(415) 555-0199", "(312) 555-0123"],
      Nationality: ["Georgia", "Nepal", "Chile"],
      "Visa type": ["Work", "Studies", "Tourism"],
      Languages: [["Spanish"], ["Nepali", "English"], ["Greek", "Danish", "Welsh"]],
      "Days of stay": [12, 5, 21],
      "Passport valid until": ["2029-04-17", "2031-10-05", "2028-12-30"],
      "Travel insurance": [true, false, true],
    }),
    wire: {
      Applicant: "name",
      Telephone: "phone",
      Nationality: ["nationality", { Chile: "CL", Georgia: "GE", Ghana: "GH", Nepal: "NP" }],
      "Visa type": ["type", { Tourism: "tour", Work: "work", Studies: "study" }],
      Languages: ["languages", (list: readonly string[]) => list.join(";")],
      "Days of stay": ["days", String],
      "Passport valid until": ["passport", (iso: string) => day(iso, "DD/MM/YYYY")],
      "Travel insurance": ["insurance", (is: boolean) => (is ? "yes" : "no")],
    },
    required: ["Applicant", "Nationality"],
    answer: byFlag({ case: "V-12" }, { case: "" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Applicant");
      await type(page, page.locator("#tel"), p.text("Telephone").replace(/\D/g, ""));
      await type(page, page.locator("#nat"), p.text("Nationality").slice(0, 3));
      await page.getByRole("option", { name: p.text("Nationality") }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("radio", { name: p.text("Visa type") }).click();
      for (const name of p.list("Languages")) {
        await type(page, page.locator("#lang"), name);
        await page.keyboard.press("Enter");
      }
      const more = p.number("Days of stay") - 7;
      const step = page.getByRole("button", { name: more > 0 ? "+" : "-", exact: true });
      for (let i = 0; i < Math.abs(more); i++) await step.click();
      await type(page, page.locator("#exp"), day(p.text("Passport valid until"), "DD/MM/YYYY"));
      await click(person, "Travel insurance", page.getByRole("switch"));
    },
    async send(page) {
      const onward = page.getByRole("button", { name: "Continue" });
      if (await onward.isVisible()) await onward.click();
      await page.getByRole("button", { name: "Review" }).click();
      await page.getByRole("button", { name: "Submit application" }).click();
    },
  },
];
