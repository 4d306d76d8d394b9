import { click, days, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, graphql, MAILS, NAMES, people } from "../page.js";

const picture = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from("f") });

export const pages: ComponentPage[] = [
  {
    id: "angular/ngbootstrap-cooking",
    title: "Cooking course",
    libraries: ["@ng-bootstrap/ng-bootstrap", "@angular/forms", "bootstrap"],
    people: people({
      "Your name": NAMES,
      "E-mail": MAILS,
      Course: ["Sushi for beginners", "Fresh pasta", "Vegan desserts"],
      Date: ["2027-01-21", "2026-12-08", "2027-03-16"],
      Start: ["17:30", "10:15", "19:00"],
      "Number of places": [4, 1, 9],
      Diet: [["Gluten free"], ["Vegetarian", "Lactose free"], ["Vegetarian", "Gluten free", "Lactose free"]],
      Payment: ["Voucher", "Bank transfer", "PayPal"],
    }),
    wire: {
      "Your name": "name",
      "E-mail": "email",
      Course: "course",
      Date: "date",
      Start: "start",
      "Number of places": "places",
      Diet: ["diet[]", { Vegetarian: "vegetarian", "Gluten free": "gluten", "Lactose free": "lactose" }],
      Payment: ["payment", { "Bank transfer": "transfer", PayPal: "paypal", Voucher: "voucher" }],
    },
    required: ["Your name", "E-mail", "Course"],
    answer: byFlag(
      { success: true, message: "Your course is booked. We look forward to seeing you!" },
      { success: false, message: "Name, e-mail and course are needed." },
    ),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Your name", "E-mail");
      await type(page, page.locator("#course"), p.text("Course").slice(0, 4));
      await page.getByRole("option", { name: p.text("Course") }).click();
      await page.locator("#date").fill(day(p.text("Date"), "DD.MM.YYYY"));
      for (const [i, part] of p.text("Start").split(":").entries()) {
        await page.locator("ngb-timepicker input").nth(i).fill(part);
        await page.keyboard.press("Tab");
      }
      await page.locator("#places").focus();
      const ahead = p.number("Number of places") - 2;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      for (const name of [...p.list("Diet"), p.text("Payment")]) await page.getByLabel(name, { exact: true }).check();
    },
    send: "Book course",
  },
  {
    id: "svelte/flowbite-cottage",
    title: "Holiday cottage",
    libraries: ["flowbite-svelte"],
    people: people({
      "Name of the guest": NAMES,
      Village: ["Keswick", "Bowness", "Grasmere"],
      Stay: ["2027-01-09 - 2027-01-16", "2026-12-12 - 2026-12-19", "2027-03-20 - 2027-03-27"],
      Persons: ["3 persons", "2 persons", "5 persons"],
      Wishes: [["Sauna"], ["Fireplace", "Internet"], ["Fireplace", "Sauna", "Lake view"]],
      "Bed linen": ["Beds made", "We bring our own", "Rented"],
      "Copy of your identity card": ["lee.png", "fernandez.png", "okoro.png"],
      "We bring a dog": [true, false, true],
    }),
    wire: {
      "Name of the guest": "guest",
      Village: "village",
      Stay: ["stay", (range: string) => days(range).join("..")],
      Persons: ["persons", (text: string) => text.slice(0, 1)],
      Wishes: ["wishes", { Fireplace: "fire", Sauna: "sauna", "Lake view": "view", Internet: "wifi" }],
      "Bed linen": ["linen", { "We bring our own": "own", Rented: "rent", "Beds made": "made" }],
      "Copy of your identity card": "identity",
      "We bring a dog": ["dog", (is: boolean) => (is ? "yes" : "no")],
    },
    required: ["Name of the guest", "Village", "Stay"],
    answer: byFlag({ booking: "HC-0912" }, { error: "Please complete your booking." }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Name of the guest");
      await type(page, page.locator("#village"), p.text("Village").slice(0, 3));
      await page.getByRole("button", { name: p.text("Village") }).click();
      await page.locator("#stay").click();
      const calendar = page.locator("#datepicker-dropdown");
      const [from = "", to = ""] = days(p.text("Stay"));
      await toMonth(
        from,
        () => calendar.locator("[aria-live=polite]").innerText(),
        calendar.getByRole("button", { name: "Previous month" }),
        calendar.getByRole("button", { name: "Next month" }),
      );
      for (const iso of [from, to]) await calendar.locator(`[aria-label$=" ${day(iso, "D MMMM YYYY")}"]`).click();
      await page.getByRole("heading", { name: "Holiday cottages" }).click();
      await page.locator("#persons").selectOption({ label: p.text("Persons") });
      for (const name of p.list("Wishes")) await page.getByLabel(name).check();
      await page.getByRole("radio", { name: p.text("Bed linen") }).click();
      await page.locator("input[type=file]").setInputFiles(picture(p.text("Copy of your identity card")));
      await click(person, "We bring a dog", page.getByText("We bring a dog"));
    },
    send: "Book cottage",
  },
  {
    id: "solid/kobalte-driving",
    title: "Driving lessons",
    libraries: ["@kobalte/core", "@modular-forms/solid", "solid-js"],
    people: people({
      Pupil: NAMES,
      Instructor: ["Petra Novak", "Omar Haddad", "Sam Whitfield"],
      "First lesson": ["2027-01-20", "2026-12-09", "2027-02-23"],
      "Pick me up at": ["16:30", "08:45", "11:15"],
      "Topics to practise": [["Parking"], ["Motorway", "Roundabouts"], ["Motorway", "Night driving", "Winter roads"]],
      "Number of lessons": [8, 3, 15],
      "How sure do you feel?": [2, 4, 5],
      "I drive automatic only": [true, false, true],
    }),
    wire: {
      Pupil: "variables.lesson.pupil",
      Instructor: [
        "variables.lesson.instructorId",
        { "Grace Hopkins": "T-11", "Omar Haddad": "T-12", "Petra Novak": "T-21", "Sam Whitfield": "T-22" },
      ],
      "First lesson": "variables.lesson.firstDay",
      "Pick me up at": "variables.lesson.pickupAt",
      "Topics to practise": "variables.lesson.topics",
      "Number of lessons": "variables.lesson.count",
      "How sure do you feel?": "variables.lesson.confidence",
      "I drive automatic only": "variables.lesson.automatic",
    },
    required: ["Pupil", "Instructor"],
    answer: graphql("bookLessons"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Pupil", "First lesson");
      await pick(page, page.getByRole("button", { name: "Instructor" }), p.text("Instructor"));
      for (const [i, part] of p.text("Pick me up at").split(":").entries())
        await type(page, page.getByRole("spinbutton").nth(i), part);
      await pick(page, page.getByRole("button", { name: "Topics to practise" }), ...p.list("Topics to practise"));
      await page.keyboard.press("Escape");
      await page.locator("[role=slider]").focus();
      const ahead = p.number("Number of lessons") - 4;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page
        .locator(".stars [role=radio]")
        .nth(p.number("How sure do you feel?") - 1)
        .click();
      await click(person, "I drive automatic only", page.getByText("I drive automatic only"));
    },
    send: "Book lessons",
  },
  {
    id: "elements/material-web-tutor",
    title: "Book a tutor",
    libraries: ["@material/web"],
    people: people({
      "Name of the pupil": NAMES,
      "E-mail of a parent": MAILS,
      Subject: ["Mathematics", "English", "Physics"],
      "First lesson": ["2027-01-12", "2026-12-07", "2027-02-24"],
      Time: ["16:15", "14:30", "17:45"],
      "Possible days": [["Wed"], ["Mon", "Thu"], ["Tue", "Wed", "Fri"]],
      Place: ["Online", "At school", "At home"],
      "Start with a trial lesson": [true, false, true],
    }),
    wire: {
      "Name of the pupil": "request.pupil",
      "E-mail of a parent": "request.email",
      Subject: ["request.subject", { Biology: "bio", English: "eng", Mathematics: "mat", Physics: "phy" }],
      "First lesson": "request.first",
      Time: "request.time",
      "Possible days": ["request.days", { Mon: 1, Tue: 2, Wed: 3, Thu: 4, Fri: 5 }],
      Place: ["request.place", { "At home": "home", "At school": "school", Online: "online" }],
      "Start with a trial lesson": "request.trial",
    },
    required: ["Name of the pupil", "E-mail of a parent", "Subject"],
    answer: byStatus({ request: 93 }),
    async fill(page, person) {
      const p = of(person);
      for (const [name, label] of [
        ["pupil", "Name of the pupil"],
        ["email", "E-mail of a parent"],
        ["first", "First lesson"],
        ["time", "Time"],
      ])
        await page.locator(`[name=${name}] input`).fill(p.text(label ?? ""));
      await page.locator("md-outlined-select").click();
      await page
        .locator("md-select-option")
        .filter({ hasText: p.text("Subject") })
        .click();
      for (const name of p.list("Possible days")) await page.locator(`md-filter-chip[label=${name}]`).click();
      await page.getByText(p.text("Place"), { exact: true }).click();
      await click(person, "Start with a trial lesson", page.getByText("Start with a trial lesson"));
    },
    send: "Send request",
  },
];
