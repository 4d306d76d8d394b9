import { click, of, pick, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, graphql, NAMES, people } from "../page.js";

const DAYS = ["2026-12-08", "2027-01-21", "2027-03-05"];

export const pages: ComponentPage[] = [
  {
    id: "react/arco-shipment",
    title: "Shipment",
    libraries: ["@arco-design/web-react"],
    people: people({
      Sender: NAMES,
      Destination: ["Norway / Bergen", "Finland / Helsinki", "Norway / Oslo"],
      "Delivery window": ["2026-12-07 - 2026-12-11", "2027-01-12 - 2027-01-15", "2026-12-20 - 2027-01-04"],
      Parcels: [3, 12, 40],
      Services: [["Signature"], ["Insurance", "Saturday delivery"], ["Insurance", "Saturday delivery", "Signature"]],
      Temperature: [4, 18, 12],
      "Dangerous goods": [true, false, true],
    }),
    wire: {
      Sender: "shipment.sender",
      Destination: [
        "shipment.to",
        { "Norway / Oslo": ["no", "osl"], "Norway / Bergen": ["no", "bgo"], "Finland / Helsinki": ["fi", "hel"] },
      ],
      "Delivery window": ["shipment.window", (text: string) => ({ from: text.slice(0, 10), to: text.slice(13) })],
      Parcels: "shipment.parcels",
      Services: ["shipment.services", { Insurance: "ins", "Saturday delivery": "sat", Signature: "sig" }],
      Temperature: "shipment.temperature",
      "Dangerous goods": "shipment.hazard",
    },
    required: ["Sender", "Destination"],
    answer: byStatus({ number: "SH-19" }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Sender").fill(p.text("Sender"));
      await page.locator("#to_input").click();
      for (const step of p.text("Destination").split(" / "))
        await page.locator(".arco-cascader-list-item").filter({ hasText: step }).click();
      const [from, to] = p.text("Delivery window").split(" - ") as [string, string];
      for (const [input, one] of [
        ["0", from],
        ["1", to],
      ] as const) {
        await type(page, page.locator(".arco-picker-range input").nth(Number(input)), one);
        await page.locator(".arco-picker-cell-in-view.arco-picker-cell-selected").nth(Number(input)).click();
      }
      await page.locator("#parcels_input").fill(p.text("Parcels"));
      await page.getByText("Services", { exact: true }).click();
      await page.locator("#services_input").click();
      for (const name of p.list("Services"))
        await page.locator(".arco-select-option").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      const slider = page.getByRole("slider");
      await slider.focus();
      for (let i = 10; i < p.number("Temperature"); i++) await page.keyboard.press("ArrowRight");
      for (let i = 10; i > p.number("Temperature"); i--) await page.keyboard.press("ArrowLeft");
      await click(person, "Dangerous goods", page.getByText("Dangerous goods"));
    },
    send: "Book shipment",
  },
  {
    id: "react/grommet-volunteer",
    title: "Volunteer",
    libraries: ["grommet"],
    people: people({
      Name: NAMES,
      Team: ["Tickets", "Kitchen", "Stage crew"],
      "Available from": DAYS,
      Days: [["Sunday"], ["Friday", "Saturday"], ["Friday", "Saturday", "Sunday"]],
      Shift: ["Night", "Early", "Late"],
      Hours: [6, 3, 11],
      Note: ["Can carry things", "No stairs please", "Knows the hall"],
      "I bring a car": [true, false, true],
    }),
    wire: {
      Name: "name",
      Team: ["team", { Kitchen: "k", "Stage crew": "s", Tickets: "t" }],
      "Available from": "from",
      Days: "days",
      Shift: ["shift", { Early: "e", Late: "l", Night: "n" }],
      Hours: "hours",
      Note: "note",
      "I bring a car": "car",
    },
    required: ["Name"],
    answer: byStatus({ volunteer: 12 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#name").fill(p.text("Name"));
      await pick(page, page.locator("#team"), p.text("Team"));
      await type(page, page.locator("#from"), day(p.text("Available from"), "MM/DD/YYYY"));
      await page.keyboard.press("Escape");
      for (const name of p.list("Days")) await page.getByText(name, { exact: true }).click();
      await page.getByText(p.text("Shift"), { exact: true }).click();
      await page.locator("#hours").fill(p.text("Hours"));
      await page.locator("#note").fill(p.text("Note"));
      await click(person, "I bring a car", page.getByText("I bring a car"));
    },
    send: "Sign up",
  },
  {
    id: "react/spectrum-permit",
    title: "Roadworks",
    libraries: ["@adobe/react-spectrum"],
    people: people({
      Owner: NAMES,
      Zone: ["Hillside", "Old town", "Harbour"],
      Street: ["Mill Road", "Quay Street", "Birch Lane"],
      "Day of work": DAYS,
      Metres: [12, 40, 7],
      Machines: [["Pump"], ["Digger", "Crane"], ["Digger", "Crane", "Pump"]],
      Noise: ["Loud", "None", "Some"],
      "Night work": [true, false, true],
    }),
    wire: {
      Owner: "variables.input.owner",
      Zone: ["variables.input.zone", { "Old town": "z1", Harbour: "z2", Hillside: "z3" }],
      Street: ["variables.input.street", { "Birch Lane": "birch", "Mill Road": "mill", "Quay Street": "quay" }],
      "Day of work": "variables.input.day",
      Metres: "variables.input.meters",
      Machines: ["variables.input.tools", { Digger: "dig", Crane: "crane", Pump: "pump" }],
      Noise: ["variables.input.noise", { None: "0", Some: "1", Loud: "2" }],
      "Night work": "variables.input.night",
    },
    required: ["Owner", "Zone"],
    answer: graphql("permit"),
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("textbox", { name: "Owner" }).fill(p.text("Owner"));
      await pick(page, page.getByRole("button", { name: "Zone" }), p.text("Zone"));
      await page.getByRole("combobox", { name: "Street" }).fill(p.text("Street"));
      await page.getByRole("option", { name: p.text("Street") }).click();
      await type(page, page.getByRole("spinbutton", { name: /^month/ }), day(p.text("Day of work"), "MMDDYYYY"));
      await page.getByRole("textbox", { name: "Metres" }).fill(p.text("Metres"));
      for (const name of p.list("Machines")) await page.getByRole("checkbox", { name }).check({ force: true });
      await page.getByRole("radio", { name: p.text("Noise") }).check({ force: true });
      await click(person, "Night work", page.getByRole("switch").locator(".."));
    },
    send: "Apply",
  },
  {
    id: "react/cloudscape-alarm",
    title: "Alarm",
    libraries: ["@cloudscape-design/components"],
    people: people({
      "Alarm name": ["Disk almost full", "Door open", "High load"],
      Site: ["Ohio", "Dublin", "Frankfurt"],
      Channels: [["Pager"], ["Mail", "Chat"], ["Mail", "Text message", "Pager"]],
      "Active from": DAYS,
      "Time of day": ["06:30", "22:15", "13:45"],
      Severity: ["High", "Low", "Medium"],
      Message: ["Call the night shift", "Close the door", "Restart the nodes"],
      "Repeat hourly": [true, false, true],
      "Start muted": [false, true, false],
    }),
    wire: {
      "Alarm name": "name",
      Site: ["site", { Dublin: "eu-1", Frankfurt: "eu-2", Ohio: "us-1" }],
      Channels: ["channels", { Mail: "m", "Text message": "s", Pager: "p", Chat: "c" }],
      "Active from": "from",
      "Time of day": "at",
      Severity: ["level", { Low: "1", Medium: "2", High: "3" }],
      Message: "text",
      "Repeat hourly": "repeat",
      "Start muted": "muted",
    },
    required: ["Alarm name", "Site"],
    answer: byFlag({ alarm: "A-7" }, { alarm: null, reason: "incomplete" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Alarm name", "Message");
      await pick(page, page.getByRole("button", { name: "Site" }), p.text("Site"));
      await pick(page, page.getByRole("button", { name: "Channels" }), ...p.list("Channels"));
      await page.keyboard.press("Escape");
      await type(page, page.getByRole("textbox", { name: "Active from" }), day(p.text("Active from"), "YYYY/MM/DD"));
      await type(page, page.getByRole("textbox", { name: "Time of day" }), p.text("Time of day"));
      await page.getByRole("radio", { name: p.text("Severity") }).check();
      await click(person, "Repeat hourly", page.getByText("Repeat hourly"));
      await click(person, "Start muted", page.getByText("Start muted"));
    },
    send: "Create alarm",
  },
  {
    id: "react/wojtek-tour",
    title: "Stadtführung",
    libraries: ["react-date-picker", "react-time-picker", "react-international-phone", "react-simple-star-rating"],
    people: people({
      Gast: NAMES,
      "Tag der Tour": DAYS,
      Beginn: ["10:30", "18:00", "14:15"],
      Handynummer: ["+49 151 23456789", "+49 160 1234567", "+49 172 9876543"],
      Erfahrung: [3, 5, 2],
      Sprache: ["Französisch", "Deutsch", "Englisch"],
      "Mit Mittagessen": [true, false, true],
    }),
    wire: {
      Gast: "guest",
      "Tag der Tour": ["day", (iso: string) => day(iso, "DD.MM.YYYY")],
      Beginn: "time",
      Handynummer: ["phone", (text: string) => text.replaceAll(" ", "")],
      Erfahrung: "stars",
      Sprache: ["language", { Deutsch: "de", Englisch: "en", Französisch: "fr" }],
      "Mit Mittagessen": "lunch",
    },
    required: ["Gast", "Tag der Tour"],
    answer: byFlag({ success: true }, { success: false }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Gast").fill(p.text("Gast"));
      await page.locator("[name=day]").fill(String(Number(p.text("Tag der Tour").slice(8))));
      await page.locator("[name=month]").fill(String(Number(p.text("Tag der Tour").slice(5, 7))));
      await page.locator("[name=year]").fill(p.text("Tag der Tour").slice(0, 4));
      const [h = "", m = ""] = p.text("Beginn").split(":");
      await page.locator("[name=hour24]").fill(h);
      await page.locator("[name=minute]").fill(m);
      await page.locator("#phone").fill("");
      await type(page, page.locator("#phone"), p.text("Handynummer"));
      const stars = (await page.locator(".react-simple-star-rating .empty-icons").first().boundingBox()) as {
        x: number;
        y: number;
        width: number;
        height: number;
      };
      await page.mouse.move(stars.x + 10, stars.y + 5, { steps: 3 });
      await page.mouse.click(stars.x + (stars.width * (p.number("Erfahrung") - 0.5)) / 5, stars.y + stars.height / 2);
      await page.getByLabel("Sprache").selectOption({ label: p.text("Sprache") });
      await click(person, "Mit Mittagessen", page.getByLabel("Mit Mittagessen"));
    },
    send: "Tour buchen",
  },
  {
    id: "react/duallist-course",
    title: "Course",
    libraries: ["react-dual-listbox", "react-tag-autocomplete", "react-datetime"],
    people: people({
      "Course title": ["Opening a shop", "Selling abroad", "First year"],
      Modules: [["Taxes"], ["Bookkeeping", "Marketing"], ["Bookkeeping", "Labour law", "Taxes"]],
      Topics: [["Retail"], ["Export", "Food"], ["Food", "Retail", "Tourism"]],
      Begins: ["2026-12-08 10:30", "2027-01-21 18:00", "2027-03-05 09:15"],
      Fee: ["120.50", "89", "240"],
      "Open to guests": [true, false, true],
    }),
    wire: {
      "Course title": "course.title",
      Modules: ["course.modules", { Bookkeeping: "m1", "Labour law": "m2", Marketing: "m3", Taxes: "m4" }],
      Topics: ["course.topics", { Export: 1, Food: 2, Retail: 3, Tourism: 4 }],
      Begins: "course.begins",
      Fee: "course.fee",
      "Open to guests": "course.open",
    },
    required: ["Course title"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Course title", "Fee");
      for (const name of p.list("Modules")) {
        await page.locator(".rdl-available select").selectOption({ label: name });
        await page.getByRole("button", { name: "Move to selected" }).click();
      }
      for (const name of p.list("Topics")) {
        await type(page, page.getByRole("combobox", { name: "Topics" }), name);
        await page.getByRole("option", { name }).click();
      }
      await page.getByLabel("Begins").fill(p.text("Begins"));
      await page.getByText("Course title").click();
      await click(person, "Open to guests", page.getByLabel("Open to guests"));
    },
    send: "Publish course",
  },
  {
    id: "react/joy-guide",
    title: "Tour guide",
    libraries: ["@mui/joy"],
    people: people({
      Guide: NAMES,
      City: ["Gdansk", "Copenhagen", "Athens"],
      Languages: [["Polish"], ["Danish", "Dutch"], ["Greek", "Italian", "Polish"]],
      "Group size": ["Any", "Up to 5", "Up to 15"],
      "Rate per hour": [25, 40, 55],
      "About the tours": ["Quiet walks", "Food and wine", "By bicycle"],
      Insured: [true, false, true],
      "Has a licence": [false, true, false],
    }),
    wire: {
      Guide: "guide",
      City: ["city", { Copenhagen: "cph", Athens: "ath", Gdansk: "gdn" }],
      Languages: ["languages", (all: string[]) => all.map((name) => name.toLowerCase())],
      "Group size": ["group", { "Up to 5": "s", "Up to 15": "m", Any: "l" }],
      "Rate per hour": "rate",
      "About the tours": "about",
      Insured: ["insured", (on: boolean) => (on ? "1" : "0")],
      "Has a licence": ["licence", (on: boolean) => (on ? "yes" : undefined)],
    },
    required: ["Guide", "City"],
    answer: byStatus({ saved: true }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("[name=guide]").fill(p.text("Guide"));
      await pick(page, page.getByRole("combobox", { name: "City" }), p.text("City"));
      for (const name of p.list("Languages")) await pick(page, page.getByRole("combobox", { name: "Languages" }), name);
      await page.getByRole("radio", { name: p.text("Group size") }).check();
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", (p.number("Rate per hour") - 20) / 5);
      await page.locator("[name=about]").fill(p.text("About the tours"));
      await click(
        person,
        "Insured",
        page
          .getByRole("switch")
          .or(page.getByRole("checkbox", { name: "Insured" }))
          .first(),
      );
      await click(person, "Has a licence", page.getByRole("checkbox", { name: "Has a licence" }));
    },
    send: "Save profile",
  },
];
