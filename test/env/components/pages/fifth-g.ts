import { click, dayOf, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people } from "../page.js";

const picture = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from("f") });

export const pages: ComponentPage[] = [
  {
    id: "react/antd-coach",
    title: "Hire a coach",
    libraries: ["antd"],
    people: people({
      "Contact person": NAMES,
      "Pick-up point": ["Central station", "Northgate school", "Castle hotel"],
      Departure: ["2027-03-12 07:30", "2027-05-04 09:15", "2026-12-18 16:45"],
      Passengers: [48, 12, 33],
      Class: ["Comfort", "First class", "Economy"],
      "On board": [["Refrigerator"], ["Toilet", "Wheelchair lift"], ["Toilet", "Wireless internet", "Refrigerator"]],
      Budget: [1200, 300, 1700],
      "Invoice to a company": [true, false, true],
    }),
    wire: {
      "Contact person": "hire.contact",
      "Pick-up point": "hire.pickup",
      Departure: ["hire.departure", (moment: string) => `${moment.replace(" ", "T")}:00`],
      Passengers: "hire.seats",
      Class: ["hire.class", { Economy: "eco", Comfort: "comfort", "First class": "first" }],
      "On board": [
        "hire.equipment",
        { Toilet: "wc", "Wireless internet": "wifi", Refrigerator: "fridge", "Wheelchair lift": "lift" },
      ],
      Budget: "hire.budget",
      "Invoice to a company": ["hire.invoice", (is: boolean) => (is ? "company" : "private")],
    },
    required: ["Contact person", "Pick-up point", "Departure"],
    answer: byStatus({ offer: "O-881" }),
    lookup: ["Castle hotel", "Central station", "East station", "Northgate school", "University hospital"],
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("button", { name: "Start a request" }).click();
      await write(page, person, "Contact person");
      const option = (name: string) =>
        page.locator(".ant-select-item-option").filter({ hasText: name }).locator("visible=true");
      await type(page, page.getByLabel("Pick-up point"), p.text("Pick-up point").slice(0, 4));
      await option(p.text("Pick-up point")).click();
      const [date = "", time = ""] = p.text("Departure").split(" ");
      await type(page, page.getByLabel("Departure"), `${day(date, "DD.MM.YYYY")} ${time}`);
      await page.keyboard.press("Enter");
      await write(page, person, "Passengers");
      await page.getByText(p.text("Class"), { exact: true }).click();
      await page.getByLabel("On board").click();
      for (const name of p.list("On board")) await option(name).click();
      await page.locator(".ant-modal-title").click();
      await page.getByRole("slider").focus();
      const ahead = (p.number("Budget") - 500) / 100;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await click(person, "Invoice to a company", page.getByRole("switch"));
    },
    async send(page) {
      const open = page.getByRole("button", { name: "Start a request" });
      const button = page.getByRole("button", { name: "Request offer" });
      if (!(await button.isVisible())) await open.click();
      await button.click();
    },
  },
  {
    id: "react/mantine-print",
    title: "Print order",
    libraries: ["@mantine/core", "@mantine/dates", "@mantine/form"],
    people: people({
      Customer: NAMES,
      Product: ["Posters", "Flags", "Business cards"],
      Copies: [250, 12, 1500],
      Printing: ["Both sides", "Black", "Colour"],
      "Collect on": ["2027-01-22", "2026-12-11", "2027-03-05"],
      "Collect at": ["10:30", "16:15", "08:45"],
      Finishing: [["Laminated"], ["Punched", "Folded"], ["Laminated", "Folded", "Rounded corners"]],
      Artwork: ["poster.png", "flag.png", "card.png"],
      "Send me a proof first": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      Product: [
        "product",
        { Flyers: "flyer", Posters: "poster", "Business cards": "card", "T-shirts": "shirt", Flags: "flag" },
      ],
      Copies: "copies",
      Printing: ["colour", { Black: "1/0", Colour: "4/0", "Both sides": "4/4" }],
      "Collect on": "collect_on",
      "Collect at": "collect_at",
      Finishing: ["finish[]", { Laminated: "lam", Folded: "fold", "Rounded corners": "round", Punched: "hole" }],
      Artwork: "artwork",
      "Send me a proof first": ["proof", String],
    },
    required: ["Customer", "Product", "Collect on"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Customer").fill(p.text("Customer"));
      await type(page, page.getByRole("combobox", { name: "Product" }), p.text("Product").slice(0, 4));
      await page.getByRole("option", { name: p.text("Product") }).click();
      await page.getByLabel("Copies").fill(p.text("Copies"));
      await page.getByText(p.text("Printing"), { exact: true }).click();
      await page.getByLabel("Collect on").click();
      const level = page.locator(".mantine-DatePickerInput-calendarHeaderLevel");
      const arrow = (direction: string) => page.locator(`button[data-direction=${direction}]`);
      await toMonth(p.text("Collect on"), () => level.innerText(), arrow("previous"), arrow("next"));
      await page
        .locator(".mantine-DatePickerInput-day:not([data-outside])")
        .getByText(dayOf(p.text("Collect on")), { exact: true })
        .click();
      await type(page, page.locator(".mantine-TimePicker-field").first(), p.text("Collect at").replace(":", ""));
      for (const name of p.list("Finishing")) await page.getByText(name, { exact: true }).click();
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Artwork")));
      await click(person, "Send me a proof first", page.getByRole("switch"));
    },
    send: "Place order",
  },
  {
    id: "react/shadcn-grooming",
    title: "Grooming appointment",
    libraries: ["radix-ui", "react-hook-form", "react-day-picker", "zod"],
    people: people({
      Owner: NAMES,
      "E-mail": MAILS,
      Animal: ["Large dog", "Cat", "Rabbit"],
      "Weight in kilograms": [32, 5, 3],
      Day: ["2027-02-16", "2026-12-08", "2027-04-21"],
      Time: ["14:00", "09:00", "16:30"],
      Coat: ["Curly", "Long", "Short"],
      Care: [["Bath"], ["Cut claws", "Brush teeth"], ["Cut claws", "Clean ears", "Bath"]],
    }),
    wire: {
      Owner: "owner",
      "E-mail": "email",
      Animal: ["animal", { "Small dog": "dog-s", "Large dog": "dog-l", Cat: "cat", Rabbit: "rabbit" }],
      "Weight in kilograms": "weight",
      Day: "day",
      Time: "slot",
      Coat: ["coat", (coat: string) => coat.toLowerCase()],
      Care: ["care", { "Cut claws": "claws", "Clean ears": "ears", Bath: "bath", "Brush teeth": "teeth" }],
    },
    required: ["Owner", "E-mail", "Animal", "Day"],
    answer: byStatus({ appointment: 90210 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("button", { name: "New appointment" }).click();
      await write(page, person, "Owner", "E-mail");
      await pick(page, page.getByRole("combobox", { name: "Animal" }), p.text("Animal"));
      await page.getByRole("slider").focus();
      const ahead = p.number("Weight in kilograms") - 10;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.getByText("Pick a date").click();
      const [y = "", m = ""] = p.text("Day").split("-");
      await page.locator(".rdp-years_dropdown").selectOption(y);
      await page.locator(".rdp-months_dropdown").selectOption(String(Number(m) - 1));
      await page
        .locator(".rdp-day:not(.rdp-outside)")
        .getByText(dayOf(p.text("Day")), { exact: true })
        .click();
      for (const name of [p.text("Time"), p.text("Coat"), ...p.list("Care")])
        await page.getByText(name, { exact: true }).click();
    },
    async send(page) {
      const button = page.getByRole("button", { name: "Book appointment" });
      if (!(await button.isVisible())) await page.getByRole("button", { name: "New appointment" }).click();
      await button.click();
    },
  },
  {
    id: "react/formik-driving",
    title: "Driving school",
    libraries: ["react-select", "react-datepicker", "react-international-phone", "formik", "yup"],
    people: people({
      "Full name": NAMES,
      "Date of birth": ["2006-04-17", "1998-11-30", "2009-02-08"],
      "Mobile phone": ["+447400123456", "+447700900123", "+447911123456"],
      Branch: ["Old Town", "Harbour West", "Station Road"],
      "Licence classes": [["B - car"], ["A1 - light motorcycle", "T - tractor"], ["B - car", "BE - car with trailer"]],
      "First lesson": ["2026-12-15 09:30", "2027-01-11 17:00", "2027-02-03 14:30"],
      Gearbox: ["Automatic", "Manual", "Electric"],
      "I wear glasses": [true, false, true],
    }),
    wire: {
      "Full name": "name",
      "Date of birth": "born",
      "Mobile phone": "phone",
      Branch: ["branch", (name: string) => name.toLowerCase().replaceAll(" ", "_")],
      "Licence classes": ["class", (names: string[]) => names.map((name) => name.split(" ")[0])],
      "First lesson": "first",
      Gearbox: ["gearbox", (name: string) => name.slice(0, 1).toLowerCase()],
      "I wear glasses": ["glasses", (is: boolean) => (is ? "1" : "0")],
    },
    required: ["Full name", "Date of birth", "Branch", "Licence classes"],
    answer: byFlag({ student: 5521 }, { error: "Some answers are missing." }),
    lookup: ["Harbour East", "Harbour West", "Old Town", "Station Road", "University"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Full name");
      await type(page, page.getByLabel("Date of birth"), day(p.text("Date of birth"), "DD/MM/YYYY"));
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await type(page, page.getByLabel("Mobile phone"), p.text("Mobile phone").replace("+44", ""));
      await page.getByRole("button", { name: "Next", exact: true }).click();
      await type(page, page.getByLabel("Branch"), p.text("Branch").slice(0, 3));
      await page.getByRole("option", { name: p.text("Branch") }).click();
      for (const name of p.list("Licence classes")) {
        await type(page, page.getByLabel("Licence classes"), name);
        await page.getByRole("option", { name, exact: true }).click();
      }
      const [date = "", time = ""] = p.text("First lesson").split(" ");
      await type(page, page.getByLabel("First lesson"), `${day(date, "DD/MM/YYYY")} ${time}`);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await page.getByLabel(p.text("Gearbox")).check();
      await click(person, "I wear glasses", page.getByLabel("I wear glasses"));
    },
    async send(page) {
      await page.getByRole("button", { name: /^(Next|Register)$/ }).click();
    },
  },
  {
    id: "vue/primevue-pottery",
    title: "Pottery course",
    libraries: ["primevue"],
    people: people({
      Participant: NAMES,
      Course: ["Glazing", "Wheel throwing", "Raku weekend"],
      "First evening": ["2027-01-19 18:30", "2026-12-10 19:15", "2027-03-06 10:45"],
      "Number of people": [2, 5, 3],
      Experience: ["Beginner", "Never tried", "Advanced"],
      Clays: [["Porcelain"], ["Stoneware", "Red clay"], ["Stoneware", "Porcelain", "Black clay"]],
      "Picture of your idea": ["vase.png", "bowl.png", "mug.png"],
      "Fire my pieces afterwards": [true, false, true],
    }),
    wire: {
      Participant: "booking[name]",
      Course: [
        "booking[course_id]",
        { "Wheel throwing": "301", "Hand building": "302", Glazing: "303", "Raku weekend": "304" },
      ],
      "First evening": "booking[begins_at]",
      "Number of people": "booking[people]",
      Experience: ["booking[level]", { "Never tried": "n", Beginner: "b", Advanced: "a" }],
      Clays: "booking[clays][]",
      "Picture of your idea": "booking[photo]",
      "Fire my pieces afterwards": ["booking[firing]", (is: boolean) => (is ? "1" : "0")],
    },
    required: ["Participant", "Course", "First evening"],
    answer: byFlag({ ok: true }, { ok: false }),
    async fill(page, person) {
      const p = of(person);
      await page.getByRole("button", { name: "Book a course" }).click();
      await write(page, person, "Participant");
      await pick(page, page.locator(".p-select"), p.text("Course"));
      const [date = "", time = ""] = p.text("First evening").split(" ");
      await page.locator("#begins").click();
      await page.locator(".p-datepicker-panel").waitFor();
      await page.locator("#begins").fill(`${day(date, "DD/MM/YYYY")} ${time}`);
      await page.keyboard.press("Escape");
      await page.locator(".p-datepicker-panel").waitFor({ state: "detached" });
      await page.locator("#people").fill(p.text("Number of people"));
      await page.keyboard.press("Tab");
      await page.getByText(p.text("Experience"), { exact: true }).click();
      for (const name of p.list("Clays")) await page.getByRole("option", { name, exact: true }).click();
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Picture of your idea")));
      await click(person, "Fire my pieces afterwards", page.getByText("Fire my pieces afterwards"));
    },
    async send(page) {
      const button = page.getByRole("button", { name: "Book", exact: true });
      if (!(await button.isVisible())) await page.getByRole("button", { name: "Book a course" }).click();
      await button.click();
    },
  },
  {
    id: "vue/quasar-adoption",
    title: "Adopt an animal",
    libraries: ["quasar"],
    people: people({
      "Your name": NAMES,
      "Mobile phone": ["(555) 204 - 7781", "(555) 310 - 2246", "(555) 877 - 9013"],
      Town: ["Ashford", "Bradwell", "Ashbury"],
      "You live in a": ["House", "Farm", "Flat"],
      "Other animals at home": [["Cats"], ["Dogs", "Rodents"], ["Cats", "Birds", "Rodents"]],
      Animal: ["Simba", "Rocky", "Luna"],
      "Hours alone each day": [6, 1, 3],
      "Day of your visit": ["2026-12-12", "2027-01-16", "2027-02-27"],
      "Time of your visit": ["10:30", "15:00", "13:45"],
      "We have a garden": [true, false, true],
    }),
    wire: {
      "Your name": "application.applicant.name",
      "Mobile phone": ["application.applicant.phone", (phone: string) => phone.replace(/\D/g, "")],
      Town: "application.applicant.town",
      "You live in a": ["application.household.home", (home: string) => home.toLowerCase()],
      "Other animals at home": [
        "application.household.otherAnimals",
        { Dogs: "dog", Cats: "cat", Birds: "bird", Rodents: "rodent" },
      ],
      Animal: ["application.animalId", { Luna: "A-17", Simba: "A-22", Hops: "A-31", Rocky: "A-40" }],
      "Hours alone each day": "application.household.hoursAlone",
      "Day of your visit": "application.visit.day",
      "Time of your visit": "application.visit.time",
      "We have a garden": "application.household.garden",
    },
    required: ["Your name", "Town", "Animal"],
    answer: byStatus({ application: 612 }),
    lookup: ["Ashbury", "Ashford", "Bradford", "Bradwell", "Norwich"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Your name");
      await type(page, page.getByLabel("Mobile phone"), p.text("Mobile phone").replace(/\D/g, ""));
      await type(page, page.getByLabel("Town"), p.text("Town").slice(0, 4));
      await page.getByRole("option", { name: p.text("Town") }).click();
      for (const name of [p.text("You live in a"), ...p.list("Other animals at home")])
        await page.getByText(name, { exact: true }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByLabel("Animal", { exact: true }).click();
      await page.locator(".q-menu").getByText(p.text("Animal"), { exact: true }).click();
      await page.getByRole("slider").focus();
      const ahead = p.number("Hours alone each day") - 4;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.getByLabel("Day of your visit").fill(p.text("Day of your visit").replaceAll("-", "/"));
      await write(page, person, "Time of your visit");
      await click(person, "We have a garden", page.getByText("We have a garden"));
    },
    async send(page) {
      await page.getByRole("button", { name: /^(Continue|Apply)$/ }).click();
    },
  },
];
