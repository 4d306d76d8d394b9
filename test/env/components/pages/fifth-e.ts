import { click, dayOf, days, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, NAMES, people } from "../page.js";

const picture = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from("f") });
const kept = (on: boolean): string | undefined => (on ? "yes" : undefined);

export const pages: ComponentPage[] = [
  {
    id: "react/mui-membership",
    title: "Become a member of a fitness club",
    libraries: ["@mui/material", "@mui/x-date-pickers", "formik", "yup"],
    people: people({
      "First name": ["Ann", "Bo", "Chidi"],
      "Last name": ["Lee", "Fernandez", "Okoro"],
      "Home club": ["Old Harbour, Bergen", "Riverside, Oslo", "University, Bergen"],
      Plan: ["Plus", "Student", "Family"],
      "Starts on": ["2027-01-04", "2026-12-15", "2027-02-01"],
      "Trial session": ["2026-12-28 17:30", "2026-12-09 08:15", "2027-01-19 19:45"],
      Classes: [["Boxing"], ["Yoga", "Pilates"], ["Yoga", "Spinning", "Zumba"]],
      "I need a locker": [true, false, true],
    }),
    wire: {
      "First name": "member.firstName",
      "Last name": "member.lastName",
      "Home club": [
        "clubId",
        { "Riverside, Oslo": 11, "Central Station, Oslo": 12, "Old Harbour, Bergen": 21, "University, Bergen": 22 },
      ],
      Plan: ["plan", (plan: string) => plan.toLowerCase()],
      "Starts on": "startsOn",
      "Trial session": ["trial", (time: string) => time.replace(" ", "T")],
      Classes: "classes",
      "I need a locker": "locker",
    },
    required: ["First name", "Last name", "Home club", "Plan", "Starts on"],
    answer: byStatus({ memberId: 30117 }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "First name", "Last name");
      await pick(page, page.getByLabel("Home club", { exact: true }), p.text("Home club"));
      await page.getByRole("button", { name: p.text("Plan"), exact: true }).click();
      await page.getByRole("group", { name: "Starts on" }).getByRole("button").click();
      await toMonth(
        p.text("Starts on"),
        () => page.locator(".MuiPickersCalendarHeader-label").innerText(),
        page.getByLabel("Previous month"),
        page.getByLabel("Next month"),
      );
      await page
        .getByRole("gridcell", { name: dayOf(p.text("Starts on")), exact: true })
        .first()
        .click();
      await page.getByRole("button", { name: "OK" }).click();
      const [date = "", time = ""] = p.text("Trial session").split(" ");
      const month = page.getByRole("group", { name: "Trial session" }).getByRole("spinbutton", { name: "Month" });
      await type(page, month, day(date, "MMDDYYYY") + time.replace(":", ""));
      await pick(page, page.getByRole("combobox", { name: "Classes" }), ...p.list("Classes"));
      await page.keyboard.press("Escape");
      await click(person, "I need a locker", page.getByLabel("I need a locker"));
    },
    send: "Join now",
  },
  {
    id: "react/primereact-cabin",
    title: "Book a cabin",
    libraries: ["primereact", "react-hook-form"],
    people: people({
      Guest: NAMES,
      Cabin: ["Lake house", "Treehouse", "Hunter's lodge"],
      Stay: ["2027-01-15 - 2027-01-19", "2026-12-07 - 2026-12-11", "2027-02-20 - 2027-02-27"],
      People: [5, 1, 3],
      Extras: [["Sauna"], ["Bed linen", "Firewood"], ["Bed linen", "Rowing boat", "Breakfast basket"]],
      "Arrival time": ["15:30", "18:15", "16:45"],
      Payment: ["Bank transfer", "On arrival", "Credit card"],
      "We bring a pet": [true, false, true],
    }),
    wire: {
      Guest: "guest",
      Cabin: ["cabin", (name: string) => name.slice(0, 3).toUpperCase()],
      Stay: ["from", (stay: string) => stay.slice(0, 10)],
      People: "people",
      Extras: "extras",
      "Arrival time": "arrival",
      Payment: ["payment", { "Credit card": "card", "Bank transfer": "bank", "On arrival": "site" }],
      "We bring a pet": "pets",
    },
    required: ["Guest", "Cabin", "Stay"],
    answer: byFlag({ success: true, number: "C-5127" }, { success: false, message: "Please fill in the form" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Guest");
      await pick(page, page.locator(".p-dropdown"), `${p.text("Cabin")}`);
      await page.locator("#people").fill(p.text("People"));
      await page.keyboard.press("Tab");
      await page.locator("#stay").click();
      const [from = "", to = ""] = days(p.text("Stay"));
      await toMonth(
        from,
        () => page.locator(".p-datepicker-title").first().innerText(),
        page.getByLabel("Previous Month").first(),
        page.getByLabel("Next Month").last(),
      );
      const panel = page.locator(".p-datepicker-group").first();
      for (const date of [from, to])
        await panel.locator("td:not(.p-datepicker-other-month)").getByText(dayOf(date), { exact: true }).click();
      await page.locator(".p-datepicker").waitFor({ state: "detached" });
      await pick(page, page.locator(".p-multiselect"), ...p.list("Extras"));
      await page.keyboard.press("Escape");
      await type(page, page.locator("#arrival"), p.text("Arrival time"));
      await page.keyboard.press("Tab");
      await page.getByText(p.text("Payment"), { exact: true }).click();
      await click(person, "We bring a pet", page.getByText("We bring a pet"));
    },
    send: "Book cabin",
  },
  {
    id: "react/aria-hall",
    title: "Reserve the village hall",
    libraries: ["react-aria-components"],
    people: people({
      Organiser: NAMES,
      Occasion: ["Concert", "Flea market", "Wedding"],
      "Day of the event": ["2027-04-17", "2027-03-06", "2027-06-26"],
      Begin: ["19:30", "08:15", "15:45"],
      Stage: ["Large stage", "No stage", "Small stage"],
      Equipment: [["Piano"], ["Projector", "Bar"], ["Loudspeakers", "Projector", "Piano"]],
      "Parking spaces": [45, 80, 25],
      Heating: [true, false, true],
    }),
    wire: {
      Organiser: "organiser",
      Occasion: [
        "occasion",
        { Wedding: "wedding", Concert: "concert", "Club meeting": "meeting", "Flea market": "market" },
      ],
      "Day of the event": "day",
      Begin: ["begin", (time: string) => `${time}:00`],
      Stage: ["stage", { "No stage": "none", "Small stage": "small", "Large stage": "large" }],
      Equipment: ["equipment", { Loudspeakers: "pa", Projector: "beamer", Piano: "piano", Bar: "bar" }],
      "Parking spaces": "parking",
      Heating: ["heating", kept],
    },
    required: ["Organiser", "Occasion", "Day of the event"],
    answer: byFlag({ ok: true }, { ok: false }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Organiser");
      await pick(page, page.getByRole("button", { name: "Occasion" }), p.text("Occasion"));
      const group = (name: string) => page.getByRole("group", { name, exact: true }).first();
      const at = day(p.text("Day of the event"), "DDMMYYYY");
      await type(page, group("Day of the event").getByRole("spinbutton", { name: /^day, / }), at);
      await type(page, group("Begin").getByRole("spinbutton", { name: "hour" }), p.text("Begin").replace(":", ""));
      await page.getByText(p.text("Stage"), { exact: true }).click();
      for (const name of p.list("Equipment")) await page.getByText(name, { exact: true }).click();
      await page.getByRole("slider").focus();
      const steps = (p.number("Parking spaces") - 10) / 5;
      await press(page, steps > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(steps));
      await click(person, "Heating", page.getByText("Heating"));
    },
    send: "Reserve hall",
  },
  {
    id: "react/carbon-vehicle",
    title: "Report a damage of a vehicle",
    libraries: ["@carbon/react"],
    people: people({
      Driver: NAMES,
      Vehicle: ["Renault Zoe", "Ford Transit, 9 seats", "Box trailer"],
      "Date of damage": ["2026-11-02", "2026-10-19", "2026-09-27"],
      "Time of damage": ["14:30", "09:15", "17:45"],
      "Damaged parts": [["Mirror"], ["Bumper", "Paint"], ["Windscreen", "Tyre", "Paint"]],
      "Whose fault was it?": ["Other driver", "My own fault", "Unknown"],
      "Photo of the damage": ["mirror.png", "bumper.png", "front.png"],
      "Can the vehicle be driven?": [true, false, true],
    }),
    wire: {
      Driver: "driver",
      Vehicle: [
        "vehicle",
        {
          "Ford Transit, 3 seats": "V-101",
          "Ford Transit, 9 seats": "V-102",
          "Renault Zoe": "V-205",
          "Box trailer": "V-310",
        },
      ],
      "Date of damage": "date",
      "Time of damage": "time",
      "Damaged parts": ["parts[]", (names: string[]) => names.map((name) => name.toLowerCase())],
      "Whose fault was it?": ["fault", { "My own fault": "own", "Other driver": "other", Unknown: "unknown" }],
      "Photo of the damage": "photo",
      "Can the vehicle be driven?": ["driveable", (is: boolean) => (is ? "1" : "0")],
    },
    required: ["Driver", "Vehicle", "Date of damage"],
    answer: byStatus({ report: "D-77" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Driver");
      await pick(page, page.getByRole("combobox", { name: "Vehicle" }), p.text("Vehicle"));
      const date = p.text("Date of damage");
      await page.locator("#date").click();
      const calendar = page.locator(".flatpickr-calendar.open");
      await toMonth(
        date,
        async () => {
          const month = await calendar.locator(".cur-month").innerText();
          return `${month} ${await calendar.locator(".cur-year").inputValue()}`;
        },
        calendar.locator(".flatpickr-prev-month"),
        calendar.locator(".flatpickr-next-month"),
      );
      await calendar.getByLabel(day(date, "MMMM D, YYYY")).click();
      const [hour = 0, minute = 0] = p.text("Time of damage").split(":").map(Number);
      await page.locator("#time").fill(`${hour % 12 || 12}:${String(minute).padStart(2, "0")}`);
      await page.locator("#half").selectOption(hour < 12 ? "AM" : "PM");
      await pick(page, page.getByRole("combobox", { name: "Damaged parts" }), ...p.list("Damaged parts"));
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Whose fault was it?"), { exact: true }).click();
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Photo of the damage")));
      await click(person, "Can the vehicle be driven?", page.getByText("Can the vehicle be driven?"));
    },
    send: "Send report",
  },
  {
    id: "vue/vuetify-physio",
    title: "Request a physiotherapy appointment",
    libraries: ["vuetify", "vee-validate", "yup"],
    people: people({
      "Your name": NAMES,
      Phone: ["+47 22 85 50 50", "020 7946 0018", "+39 06 6988 1234"],
      Therapist: ["Peter Hauge", "Amir Rezai", "Karin Blom"],
      "First appointment": ["2027-01-12", "2026-12-09", "2027-02-26"],
      Complaints: [["Knee"], ["Back", "Neck"], ["Neck", "Shoulder", "Hip"]],
      Insurance: ["Private", "None", "Public"],
      "Referral letter": ["lee.pdf", "referral-fernandez.pdf", "okoro-letter.pdf"],
      "I need a home visit": [true, false, true],
    }),
    wire: {
      "Your name": "name",
      Phone: "phone",
      Therapist: [
        "therapist_id",
        { "Karin Blom": "th-3", "Peter Hauge": "th-4", "Lucia Ferri": "th-7", "Amir Rezai": "th-9" },
      ],
      "First appointment": "date",
      Complaints: "complaints[]",
      Insurance: ["insurance", (name: string) => name.toLowerCase()],
      "Referral letter": "referral",
      "I need a home visit": ["home_visit", String],
    },
    required: ["Your name", "Phone", "Therapist", "First appointment"],
    answer: byStatus({ request: 9015 }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Your name").first().fill(p.text("Your name"));
      await page.getByLabel("Phone").first().fill(p.text("Phone"));
      await page.getByRole("combobox", { name: "Therapist" }).click();
      await page.getByRole("option", { name: p.text("Therapist") }).click();
      await page
        .getByLabel("First appointment")
        .first()
        .fill(day(p.text("First appointment"), "MM/DD/YYYY"));
      await page.keyboard.press("Tab");
      await page.locator(".v-select").filter({ hasText: "Complaints" }).click();
      for (const name of p.list("Complaints")) await page.getByRole("option", { name }).click();
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: p.text("Insurance"), exact: true }).click();
      const letter = { name: p.text("Referral letter"), mimeType: "application/pdf", buffer: Buffer.from("f") };
      await page.locator("input[type=file]").setInputFiles(letter);
      await click(person, "I need a home visit", page.getByLabel("I need a home visit"));
    },
    send: "Request appointment",
  },
  {
    id: "vue/element-plus-hotel",
    title: "Reserve a hotel room",
    libraries: ["element-plus"],
    people: people({
      "Contact name": NAMES,
      Room: ["Twin room", "Junior suite", "Single room"],
      Stay: ["2027-01-15 - 2027-01-19", "2026-12-07 - 2026-12-11", "2027-02-20 - 2027-02-27"],
      Guests: [2, 4, 3],
      "Arrival time": ["15:30", "18:15", "21:45"],
      Wishes: [["Sea view"], ["Baby bed", "Parking space"], ["Baby bed", "Quiet room", "Late check-out"]],
      Board: ["Half board", "Full board", "Breakfast"],
      "I need an invoice": [true, false, true],
    }),
    wire: {
      "Contact name": "contact",
      Room: ["room", { "Single room": "SGL", "Double room": "DBL", "Twin room": "TWN", "Junior suite": "STE" }],
      Stay: ["checkOut", (stay: string) => stay.slice(-10)],
      Guests: "guests",
      "Arrival time": "arrival",
      Wishes: "wishes",
      Board: ["board", { Breakfast: "BB", "Half board": "HB", "Full board": "FB" }],
      "I need an invoice": "invoice",
    },
    required: ["Contact name", "Room", "Stay"],
    answer: byFlag({ code: 0, data: { id: 518 } }, { code: 4001, msg: "Please check your input" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Contact name");
      await page.locator(".el-select").click();
      await page.getByRole("option", { name: p.text("Room") }).click();
      const [from = "", to = ""] = days(p.text("Stay"));
      await page.getByPlaceholder("Check-in").click();
      await page.getByPlaceholder("Check-in").fill(day(from, "DD/MM/YYYY"));
      await page.getByPlaceholder("Check-out").fill(day(to, "DD/MM/YYYY"));
      await page.keyboard.press("Enter");
      await page.getByLabel("Guests").fill(p.text("Guests"));
      await page.getByPlaceholder("Pick a time").click();
      await page.getByPlaceholder("Pick a time").fill(p.text("Arrival time"));
      await page.keyboard.press("Enter");
      for (const name of p.list("Wishes")) await page.getByText(name, { exact: true }).click();
      await page.getByText(p.text("Board"), { exact: true }).click();
      await click(person, "I need an invoice", page.locator(".el-switch"));
    },
    send: "Reserve",
  },
  {
    id: "plain/bootstrap-roofer",
    title: "Request a roof inspection",
    libraries: ["bootstrap", "choices.js", "flatpickr", "intl-tel-input", "just-validate", "nouislider"],
    people: people({
      Owner: NAMES,
      "Mobile number": ["(213) 373-4253", "(303) 555-0142", "(617) 253-1000"],
      "Type of roof": ["Slate", "Flat roof", "Clay tiles"],
      Problems: [["Moss"], ["Leak", "Storm damage"], ["Leak", "Moss", "Blocked gutter"]],
      Visit: ["2027-01-18 14:30", "2026-12-03 09:15", "2027-02-24 16:45"],
      "Age of the roof": [35, 22, 48],
      "We answer by": ["Telephone", "Letter", "E-mail"],
      "A ladder is on site": [true, false, true],
    }),
    wire: {
      Owner: "owner",
      "Mobile number": ["mobile", (phone: string) => `+1${phone.replace(/\D/g, "")}`],
      "Type of roof": ["roof", { "Clay tiles": "tile", Slate: "slate", "Sheet metal": "metal", "Flat roof": "flat" }],
      Problems: ["problems[]", { Leak: "leak", Moss: "moss", "Storm damage": "storm", "Blocked gutter": "gutter" }],
      Visit: "visit",
      "Age of the roof": "age",
      "We answer by": ["answer", { "E-mail": "email", Telephone: "phone", Letter: "post" }],
      "A ladder is on site": ["ladder", (is: boolean) => (is ? "1" : undefined)],
    },
    required: ["Owner", "Visit"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Owner");
      await type(page, page.locator("#mobile"), p.text("Mobile number"));
      await page.locator(".choices[data-type=select-one]").click();
      await page.getByRole("option", { name: p.text("Type of roof"), exact: true }).click();
      for (const name of p.list("Problems")) {
        await page.locator(".choices[data-type=select-multiple] input").click();
        await page.locator(".choices[data-type=select-multiple] .is-active").getByText(name, { exact: true }).click();
      }
      await page.keyboard.press("Escape");
      const [date = "", time = ""] = p.text("Visit").split(" ");
      await page.getByRole("textbox", { name: "Day and time" }).click();
      const calendar = page.locator(".flatpickr-calendar.open");
      await toMonth(
        date,
        async () =>
          `${await calendar.locator(".flatpickr-monthDropdown-months option:checked").innerText()} ${await calendar.locator(".cur-year").inputValue()}`,
        calendar.locator(".flatpickr-prev-month"),
        calendar.locator(".flatpickr-next-month"),
      );
      await calendar.getByLabel(day(date, "MMMM D, YYYY"), { exact: true }).click();
      const [hour = 0, minute = 0] = time.split(":").map(Number);
      await calendar.locator(".flatpickr-hour").fill(String(hour % 12 || 12));
      await calendar.locator(".flatpickr-minute").fill(String(minute));
      await page.keyboard.press("Tab");
      if ((await calendar.locator(".flatpickr-am-pm").innerText()) !== (hour < 12 ? "AM" : "PM"))
        await calendar.locator(".flatpickr-am-pm").click();
      await page.locator("h1").click();
      await page.locator("#age-handle").focus();
      const ahead = p.number("Age of the roof") - 10;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.getByLabel(p.text("We answer by")).check();
      await click(person, "A ladder is on site", page.getByLabel("A ladder is on site"));
    },
    send: "Request inspection",
  },
  {
    id: "plain/jqueryui-vet",
    title: "Register an animal at a clinic",
    libraries: ["jquery-ui", "select2", "dropzone", "jquery-validation"],
    people: people({
      "Name of the animal": ["Rex", "Bella", "Captain"],
      Breed: ["Border collie", "Persian", "Dwarf lop"],
      Species: ["Dog", "Cat", "Rabbit"],
      "Born on": ["2021-05-14", "2019-11-03", "2024-02-27"],
      Vaccinations: [["Rabies"], ["Rabies", "Parvovirus"], ["Distemper", "Parvovirus", "Leptospirosis"]],
      Sex: ["Female", "Neutered", "Male"],
      "Has a microchip": [true, false, true],
      Photo: ["rex.png", "bella.png", "captain.png"],
    }),
    wire: {
      "Name of the animal": "pet",
      Breed: "breed",
      Species: ["species", { Dog: "1", Cat: "2", Rabbit: "3", Parrot: "4" }],
      "Born on": ["born", (iso: string) => day(iso, "DD.MM.YYYY")],
      Vaccinations: ["vaccines", (names: string[]) => names.map((name) => name.slice(0, 3).toLowerCase())],
      Sex: ["sex", { Male: "m", Female: "f", Neutered: "n" }],
      "Has a microchip": ["chip", kept],
      Photo: ["photo", (name: string) => `stored/${name}`],
    },
    required: ["Name of the animal", "Born on"],
    answer: byFlag({ ok: true, number: 2204 }, { ok: false, error: "The form is not complete" }),
    lookup: ["Beagle", "Border collie", "Border terrier", "Dwarf lop", "Persian", "Siamese"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Name of the animal");
      await type(page, page.locator("#breed"), p.text("Breed").slice(0, 4));
      await page
        .locator(".ui-menu-item")
        .filter({ hasText: p.text("Breed") })
        .click();
      await page.locator("#species-button").click();
      await page.locator("#species-menu").getByText(p.text("Species"), { exact: true }).click();
      await type(page, page.locator("#born"), day(p.text("Born on"), "DD.MM.YYYY"));
      await page.keyboard.press("Enter");
      for (const name of p.list("Vaccinations")) {
        await page.locator(".select2-selection").click();
        await page.locator(".select2-results__option").filter({ hasText: name }).click();
      }
      for (const name of [p.text("Sex"), ...(p.on("Has a microchip") ? ["Has a microchip"] : [])])
        await page
          .locator("label")
          .filter({ hasText: new RegExp(`^\\s*${name}$`) })
          .click();
      await page.locator("input.dz-hidden-input").setInputFiles(picture(p.text("Photo")));
      await page.locator(".dz-success").waitFor();
    },
    send: "Register animal",
  },
];
