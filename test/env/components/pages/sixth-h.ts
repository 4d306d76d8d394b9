import { click, dayOf, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

const picture = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from("f") });

export const pages: ComponentPage[] = [
  {
    id: "react/mui-boiler",
    title: "Boiler service",
    libraries: ["@mui/material", "@mui/x-date-pickers", "react-dropzone", "react-hook-form", "zod"],
    people: people({
      "Full name": NAMES,
      Boiler: ["Borealis Nordic 18", "Arcadia Family 30", "Caldera Wall 20"],
      Symptoms: [
        ["Leaks water"],
        ["No hot water", "Pressure drops"],
        ["Strange noises", "Leaks water", "Shows an error"],
      ],
      "Day of the visit": ["2027-01-14", "2026-12-09", "2027-03-02"],
      "Time of day": ["1 - 4 pm", "8 - 10 am", "4 - 6 pm"],
      "How urgent is it?": [7, 10, 3],
      "Photo of the boiler": ["leak.png", "boiler.png", "display.png"],
      "Someone is at home all day": [true, false, true],
    }),
    wire: {
      "Full name": "customer",
      Boiler: [
        "boiler",
        {
          "Arcadia Compact 24": "AR-24",
          "Arcadia Family 30": "AR-30",
          "Borealis Nordic 18": "BO-18",
          "Borealis Nordic 35": "BO-35",
          "Caldera Wall 20": "CA-20",
        },
      ],
      Symptoms: "symptoms",
      "Day of the visit": "day",
      "Time of day": [
        "window",
        { "8 - 10 am": "early", "10 am - 12 noon": "late", "1 - 4 pm": "after", "4 - 6 pm": "evening" },
      ],
      "How urgent is it?": "urgency",
      "Photo of the boiler": "photo",
      "Someone is at home all day": ["all_day", (is: boolean) => (is ? "1" : "0")],
    },
    required: ["Full name", "Boiler", "Symptoms", "Day of the visit"],
    answer: byFlag({ ticket: "B-2207" }, { error: "We could not take your request." }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Full name").fill(p.text("Full name"));
      await pick(page, page.getByRole("combobox", { name: "Boiler" }), p.text("Boiler"));
      await pick(page, page.getByRole("combobox", { name: "Symptoms" }), ...p.list("Symptoms"));
      await page.keyboard.press("Escape");
      const date = page.getByRole("group", { name: "Day of the visit" }).getByRole("spinbutton", { name: "Day" });
      await type(page, date, day(p.text("Day of the visit"), "DDMMYYYY"));
      await pick(page, page.getByRole("combobox", { name: "Time of day" }), p.text("Time of day"));
      await page.getByRole("slider").focus();
      const ahead = p.number("How urgent is it?") - 5;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Photo of the boiler")));
      await click(person, "Someone is at home all day", page.getByLabel("Someone is at home all day"));
    },
    send: "Request a visit",
  },
  {
    id: "react/antd-stand",
    title: "Stand at a fair",
    libraries: ["antd"],
    people: people({
      Company: ["Lee & Sons", "Fernandez Foods", "Okoro Machines"],
      Hall: ["Hall 2 - Drinks", "Hall 1 - Food", "Hall 5 - Machines"],
      "Kind of stand": ["Corner", "Row", "Island"],
      "Area in m²": [24, 12, 60],
      "Day of set-up": ["2027-04-08", "2027-05-17", "2027-09-23"],
      "Arrival of the lorry": ["10:30", "07:15", "14:45"],
      "Names on the badges": [["Ann Lee"], ["Bo Fernandez", "Eva Ruiz"], ["Chidi Okoro", "Ada Obi", "Tom Weber"]],
      Logo: ["lee.png", "fernandez.png", "okoro.png"],
    }),
    wire: {
      Company: "stand.company",
      Hall: ["stand.hall", (name: string) => `${/[12] /.test(name) ? "N" : "S"}${name.slice(5, 6)}`],
      "Kind of stand": ["stand.type", (name: string) => name.toLowerCase()],
      "Area in m²": "stand.area",
      "Day of set-up": "stand.setup",
      "Arrival of the lorry": "stand.arrival",
      "Names on the badges": "stand.badges",
      Logo: ["stand.logo", (name: string) => `stored/${name}`],
    },
    required: ["Company", "Hall", "Area in m²", "Day of set-up"],
    answer: byStatus({ stand: "S5-117" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Company");
      await page.locator("#hall").click();
      await page
        .locator(".ant-select-item-option")
        .filter({ hasText: p.text("Hall") })
        .click();
      await page.getByText(p.text("Kind of stand"), { exact: true }).click();
      await write(page, person, "Area in m²");
      await type(page, page.getByLabel("Day of set-up"), day(p.text("Day of set-up"), "D MMM YYYY"));
      await page.keyboard.press("Tab");
      await type(page, page.getByLabel("Arrival of the lorry"), p.text("Arrival of the lorry"));
      await page.locator(".ant-picker-ok button").locator("visible=true").click();
      await page.locator("#badges").click();
      for (const name of p.list("Names on the badges")) {
        await page.keyboard.type(name);
        await page.keyboard.press("Enter");
      }
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Logo")));
      await page.locator(".ant-upload-list-item-done").waitFor();
    },
    send: "Book stand",
  },
  {
    id: "react/mantine-flat",
    title: "Find a flat",
    libraries: ["@mantine/core", "@mantine/dates", "@mantine/form", "zod"],
    people: people({
      "Your name": NAMES,
      District: ["Dockside", "Old Town", "Oak Hill"],
      "Monthly rent": ["700 - 1300", "400 - 900", "1200 - 2100"],
      Rooms: [3, 1, 5],
      Features: [["Lift"], ["Balcony", "Fitted kitchen"], ["Balcony", "Lift", "Garage"]],
      "Moving in": ["2027-02-01", "2027-01-15", "2027-04-26"],
      "Time for viewings": ["17:30", "08:30", "12:30"],
      "I have pets": [true, false, true],
    }),
    wire: {
      "Your name": "name",
      District: ["district", { "Old Town": "101", Dockside: "201", "Oak Hill": "302" }],
      "Monthly rent": [
        "rent",
        (rent: string) => {
          const [min, max] = rent.split(" - ").map(Number);
          return { min, max };
        },
      ],
      Rooms: "rooms",
      Features: ["features", { Balcony: "balcony", Lift: "lift", Garage: "garage", "Fitted kitchen": "kitchen" }],
      "Moving in": "movingIn",
      "Time for viewings": "viewing",
      "I have pets": "pets",
    },
    required: ["Your name", "District", "Moving in"],
    answer: byFlag({ success: true }, { success: false }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Your name").fill(p.text("Your name"));
      await type(page, page.getByRole("combobox", { name: "District" }), p.text("District").slice(0, 4));
      await page.getByRole("option", { name: p.text("District") }).click();
      const thumbs: [string, number][] = [
        ["Lowest rent", 500],
        ["Highest rent", 1500],
      ];
      for (const [i, [name, from]] of thumbs.entries()) {
        await page.getByRole("slider", { name }).focus();
        const ahead = (Number(p.text("Monthly rent").split(" - ")[i]) - from) / 100;
        await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      }
      await page.locator(".mantine-SegmentedControl-root").getByText(p.text("Rooms"), { exact: true }).click();
      for (const name of p.list("Features")) await page.getByText(name, { exact: true }).click();
      await page.getByLabel("Moving in").click();
      const level = page.locator(".mantine-DatePickerInput-calendarHeaderLevel");
      const arrow = (direction: string) => page.locator(`button[data-direction=${direction}]`);
      await toMonth(p.text("Moving in"), () => level.innerText(), arrow("previous"), arrow("next"));
      await page
        .locator(".mantine-DatePickerInput-day:not([data-outside])")
        .getByText(dayOf(p.text("Moving in")), { exact: true })
        .click();
      await page.getByRole("button", { name: p.text("Time for viewings"), exact: true }).click();
      await click(person, "I have pets", page.getByRole("switch"));
    },
    send: "Save search",
  },
  {
    id: "react/chakra-piano",
    title: "Piano tuning",
    libraries: ["@chakra-ui/react", "formik", "yup"],
    people: people({
      "Your name": NAMES,
      Tuner: ["Mario Conti", "Elena Sorokin", "Sofia Brandt"],
      Day: ["2027-01-14", "2026-12-09", "2027-03-02"],
      Instrument: ["Grand piano", "Upright", "Digital piano"],
      Floor: [3, 7, 1],
      "What shall we do?": [["Voicing"], ["Tuning", "Cleaning"], ["Tuning", "Voicing", "Repair"]],
      "Photo of the piano": ["grand.png", "upright.png", "keys.png"],
      "There is a lift": [true, false, true],
    }),
    wire: {
      "Your name": "name",
      Tuner: ["tuner", { "Elena Sorokin": "7", "Henrik Dahl": "12", "Mario Conti": "15", "Sofia Brandt": "21" }],
      Day: "day",
      Instrument: "instrument",
      Floor: "floor",
      "What shall we do?": ["work[]", (names: string[]) => names.map((name) => name.toLowerCase())],
      "Photo of the piano": "photo",
      "There is a lift": ["lift", String],
    },
    required: ["Your name", "Tuner", "Day"],
    answer: byStatus({ appointment: 3318 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Your name").fill(p.text("Your name"));
      await pick(page, page.getByRole("combobox", { name: "Tuner" }), p.text("Tuner"));
      await page.getByLabel("Day", { exact: true }).fill(day(p.text("Day"), "DD/MM/YYYY"));
      await page.keyboard.press("Enter");
      await page.getByText(p.text("Instrument"), { exact: true }).click();
      await page.getByLabel("Floor").fill(p.text("Floor"));
      for (const name of p.list("What shall we do?")) await page.getByText(name, { exact: true }).click();
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Photo of the piano")));
      await click(person, "There is a lift", page.getByText("There is a lift"));
    },
    send: "Book appointment",
  },
  {
    id: "react/aria-firewood",
    title: "Order firewood",
    libraries: ["react-aria-components", "@tanstack/react-form", "zod"],
    people: people({
      Customer: NAMES,
      Village: ["Langdale", "Brackwell", "Thornby"],
      "Kind of wood": ["Oak", "Beech", "Spruce"],
      "Cubic metres": [3.5, 2, 12.5],
      "Length of the logs": ["25 cm", "33 cm", "50 cm"],
      "Delivery day": ["2027-01-14", "2026-12-09", "2027-03-02"],
      Extras: [["Kindling"], ["Fire lighters", "Gloves"], ["Kindling", "Fire lighters", "Briquettes"]],
      "Stack the wood for me": [true, false, true],
    }),
    wire: {
      Customer: "order.customer",
      Village: "order.village",
      "Kind of wood": ["order.wood", (name: string) => name.toLowerCase()],
      "Cubic metres": "order.cubic",
      "Length of the logs": ["order.length", (text: string) => text.slice(0, 2)],
      "Delivery day": "order.day",
      Extras: [
        "order.extras",
        { Kindling: "kindling", "Fire lighters": "lighters", Briquettes: "briquettes", Gloves: "gloves" },
      ],
      "Stack the wood for me": "order.stack",
    },
    required: ["Customer", "Village", "Kind of wood", "Delivery day"],
    answer: byStatus({ order: "W-602" }),
    lookup: ["Brackley", "Brackwell", "Langdale", "Langford", "Thornby"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Customer");
      await type(page, page.getByRole("combobox", { name: "Village" }), p.text("Village").slice(0, 4));
      await page.getByRole("option", { name: p.text("Village") }).click();
      await pick(page, page.getByRole("button", { name: "Kind of wood" }), p.text("Kind of wood"));
      await page.getByRole("textbox", { name: "Cubic metres" }).fill(p.text("Cubic metres"));
      await page.keyboard.press("Tab");
      await page.getByText(p.text("Length of the logs"), { exact: true }).click();
      const month = page.getByRole("group", { name: "Delivery day" }).getByRole("spinbutton", { name: /^month, / });
      await type(page, month, day(p.text("Delivery day"), "MMDDYYYY"));
      await pick(page, page.getByRole("button", { name: "Extras" }), ...p.list("Extras"));
      await page.keyboard.press("Escape");
      await click(person, "Stack the wood for me", page.getByText("Stack the wood for me"));
    },
    send: "Place order",
  },
];
