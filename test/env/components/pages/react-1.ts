import { click, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, graphql, MAILS, NAMES, people, redirect } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "react/mui-order",
    title: "Order",
    libraries: ["@mui/material"],
    people: people({
      Customer: NAMES,
      "Box size": ["Large (48 pieces)", "Small (12 pieces)", "Medium (24 pieces)"],
      Extras: [["Gift wrap"], ["Express delivery", "Engraving"], ["Insurance", "Gift wrap", "Engraving"]],
      Quantity: [4, 9, 17],
      "Send an invoice": [true, false, true],
    }),
    wire: {
      Customer: "order.customer",
      "Box size": ["order.size", { "Small (12 pieces)": "s", "Medium (24 pieces)": "m", "Large (48 pieces)": "l" }],
      Extras: "order.extras",
      Quantity: "order.quantity",
      "Send an invoice": "order.invoice",
    },
    required: ["Customer", "Box size"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Customer").fill(p.text("Customer"));
      await pick(page, page.getByRole("combobox", { name: "Box size" }), p.text("Box size"));
      for (const extra of p.list("Extras"))
        await pick(page, page.getByRole("combobox", { name: "Extras", exact: true }), extra);
      await page.getByRole("slider", { name: "Quantity" }).focus();
      await press(page, "ArrowRight", p.number("Quantity") - 1);
      await click(person, "Send an invoice", page.getByLabel("Send an invoice"));
    },
    send: "Place order",
  },
  {
    id: "react/mui-leave",
    title: "Leave request",
    libraries: ["@mui/x-date-pickers", "@mui/material", "formik", "yup"],
    people: people({
      Employee: NAMES,
      "Kind of leave": ["Parental", "Annual", "Sick"],
      "First day": ["2026-04-03", "2027-11-22", "2026-08-15"],
      "Leaving at": ["16:30", "09:15", "12:45"],
      Reason: ["A trip to the coast", "Moving house", "An operation on the knee"],
    }),
    wire: {
      Employee: "employee",
      "Kind of leave": ["kind", { Annual: "annual", Sick: "sick", Parental: "parental" }],
      "First day": "from",
      "Leaving at": "at",
      Reason: "reason",
    },
    required: ["Employee", "Kind of leave", "First day"],
    answer: byFlag({ ok: true, id: 9 }, { ok: false }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Employee", "Reason");
      await page.getByRole("radio", { name: p.text("Kind of leave") }).check();
      const month = page.getByRole("group", { name: "First day" }).getByRole("spinbutton", { name: "Month" });
      await type(page, month, day(p.text("First day"), "MMDDYYYY"));
      const [h = 0, m = ""] = p.text("Leaving at").split(":");
      const hours = page.getByRole("group", { name: "Leaving at" }).getByRole("spinbutton", { name: "Hours" });
      await type(page, hours, `${String(+h % 12 || 12).padStart(2, "0")}${m}${+h < 12 ? "AM" : "PM"}`);
    },
    send: "Request leave",
  },
  {
    id: "react/antd-booking",
    title: "Room booking",
    libraries: ["antd"],
    people: people({
      Guest: NAMES,
      Room: ["Suite with balcony", "Single room", "Double room"],
      Stay: ["2026-12-30 - 2027-01-04", "2027-02-10 - 2027-02-12", "2026-12-05 - 2026-12-19"],
      People: [2, 5, 8],
      Breakfast: [true, false, true],
      Bed: ["King", "Twin", "Queen"],
    }),
    wire: {
      Guest: "guest",
      Room: ["room", { "Single room": 11, "Double room": 12, "Suite with balcony": 21 }],
      Stay: ["stay", (stay: string) => ({ from: stay.slice(0, 10), to: stay.slice(13) })],
      People: "people",
      Breakfast: "breakfast",
      Bed: "bed",
    },
    required: ["Guest", "Room", "Stay"],
    answer: byStatus({ booking: "B-77" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Guest", "People");
      await page.getByLabel("Room").click();
      await page
        .locator(".ant-select-item-option")
        .filter({ hasText: p.text("Room") })
        .click();
      const [from, to] = p.text("Stay").split(" - ") as [string, string];
      for (const [input, day] of [
        ["Start date", from],
        ["End date", to],
      ] as const) {
        await page.getByPlaceholder(input).fill(day);
        await page.locator(`.ant-picker-cell-in-view[title="${day}"]`).first().click();
      }
      await click(person, "Breakfast", page.getByRole("switch", { name: "Breakfast" }));
      await page
        .locator("label")
        .filter({ hasText: p.text("Bed") })
        .click();
    },
    send: "Book now",
  },
  {
    id: "react/antd-expense",
    title: "Expense",
    libraries: ["antd"],
    people: people({
      Purpose: ["Visit of a customer", "New desk", "Fair in Porto"],
      Category: ["Travel / Train", "Office / Computers", "Travel / Flight"],
      "Spent on": ["2025-03-14", "2024-10-02", "2026-01-29"],
      Tags: [["urgent"], ["q4", "paid"], ["fair", "porto", "team"]],
      Urgency: [2, 4, 5],
      Receipt: ["ticket.pdf", "desk.png", "fair-invoice.pdf"],
    }),
    wire: {
      Purpose: "purpose",
      Category: [
        "category",
        { "Travel / Train": "travel/rail", "Travel / Flight": "travel/air", "Office / Computers": "office/it" },
      ],
      "Spent on": ["spent_on", (iso: string) => day(iso, "DD.MM.YYYY")],
      Tags: "tags[]",
      Urgency: "urgency",
      Receipt: "receipt",
    },
    required: ["Purpose", "Category", "Spent on"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Purpose");
      await page.getByLabel("Category").click();
      for (const step of p.text("Category").split(" / "))
        await page.locator(".ant-cascader-menu-item").filter({ hasText: step }).click();
      await page.getByLabel("Spent on").fill(day(p.text("Spent on"), "DD.MM.YYYY"));
      await page.locator(`.ant-picker-cell-in-view[title="${p.text("Spent on")}"]`).click();
      for (const tag of p.list("Tags")) {
        await type(page, page.getByLabel("Tags"), tag);
        await page.keyboard.press("Enter");
      }
      await page
        .locator(".ant-rate-star")
        .nth(p.number("Urgency") - 1)
        .click();
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: p.text("Receipt"), mimeType: "text/plain", buffer: Buffer.from("x") });
    },
    send: "File expense",
  },
  {
    id: "react/mantine-survey",
    title: "Course survey",
    libraries: ["@mantine/core", "@mantine/form"],
    people: people({
      "E-mail": MAILS,
      Overall: [3, 5, 4],
      Pace: ["Too fast", "Just right", "Too slow"],
      "Topics to deepen": [["Hiring"], ["Budgets", "Security"], ["Contracts", "Hiring", "Security"]],
      "Contact me by": ["Chat", "Phone", "Post"],
      Remarks: ["More exercises", "The room was cold", "Thanks to all speakers"],
    }),
    wire: {
      "E-mail": "variables.input.email",
      Overall: "variables.input.stars",
      Pace: ["variables.input.pace", { "Too slow": "slow", "Just right": "normal", "Too fast": "fast" }],
      "Topics to deepen": ["variables.input.topics", { Budgets: "t1", Hiring: "t2", Contracts: "t3", Security: "t4" }],
      "Contact me by": ["variables.input.contact", { Phone: "phone", Post: "post", Chat: "chat" }],
      Remarks: "variables.input.remarks",
    },
    required: ["E-mail", "Overall"],
    answer: graphql("answerSurvey"),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("E-mail").fill(p.text("E-mail"));
      await page
        .locator(".mantine-Rating-symbolGroup")
        .nth(p.number("Overall") - 1)
        .click();
      await page.getByText(p.text("Pace")).click();
      await pick(page, page.locator(".mantine-MultiSelect-input"), ...p.list("Topics to deepen"));
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Contact me by"), { exact: true }).click();
      await write(page, person, "Remarks");
    },
    send: "Send answers",
  },
  {
    id: "react/mantine-appointment",
    title: "Appointment",
    libraries: ["@mantine/dates", "@mantine/core"],
    people: people({
      Patient: NAMES,
      Doctor: ["Dr. Brandt", "Dr. Costa", "Dr. Amara"],
      Day: ["2026-10-07", "2027-03-21", "2026-12-15"],
      Time: ["08:40", "14:05", "10:30"],
      Persons: [2, 3, 5],
      Symptoms: [["cough"], ["fever", "rash"], ["back pain", "cramps", "fatigue"]],
      "This is my first visit": [true, false, true],
    }),
    wire: {
      Patient: "patient.name",
      Doctor: ["slot.doctor", { "Dr. Amara": "17", "Dr. Brandt": "23", "Dr. Costa": "31" }],
      Day: "slot.date",
      Time: "slot.time",
      Persons: "persons",
      Symptoms: "symptoms",
      "This is my first visit": "patient.first_visit",
    },
    required: ["Patient", "Doctor", "Day"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Patient", "Time", "Persons");
      await pick(page, page.getByRole("combobox", { name: "Doctor" }), p.text("Doctor"));
      await page.getByRole("button", { name: "Day" }).click();
      const level = page.locator("[data-calendar] button[data-static], .mantine-DatePickerInput-calendarHeaderLevel");
      const arrow = (which: string) => page.locator(`button[data-direction=${which}]`);
      await toMonth(p.text("Day"), () => level.first().innerText(), arrow("previous"), arrow("next"));
      await page.getByRole("button", { name: day(p.text("Day"), "D MMMM YYYY"), exact: true }).click();
      for (const symptom of p.list("Symptoms")) {
        await type(page, page.getByRole("combobox", { name: "Symptoms" }), symptom);
        await page.keyboard.press("Enter");
      }
      await click(person, "This is my first visit", page.getByLabel("This is my first visit"));
    },
    send: "Make appointment",
  },
  {
    id: "react/chakra-registration",
    title: "Conference registration",
    libraries: ["@chakra-ui/react"],
    people: people({
      Name: NAMES,
      Country: ["Kenya", "Peru", "Finland"],
      Ticket: ["Supporter", "Student", "Regular"],
      Seats: [3, 7, 11],
      "Invitation code": ["4821", "9075", "1366"],
      "Vegan meals": [true, false, true],
    }),
    wire: {
      Name: "name",
      Country: ["country", { Finland: "FI", Kenya: "KE", Peru: "PE" }],
      Ticket: ["ticket", { Student: "T1", Regular: "T2", Supporter: "T3" }],
      Seats: "seats",
      "Invitation code": "pin",
      "Vegan meals": "vegan",
    },
    required: ["Name", "Ticket"],
    answer: byFlag({ success: true }, { success: false, reason: "Bitte alle Pflichtfelder ausfüllen." }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Name").fill(p.text("Name"));
      await page.getByLabel("Country").selectOption({ label: p.text("Country") });
      await page.getByText(p.text("Ticket"), { exact: true }).click();
      await page.getByLabel("Seats").fill(p.text("Seats"));
      await type(page, page.locator("input[data-part=input][data-index='0']"), p.text("Invitation code"));
      await click(person, "Vegan meals", page.getByText("Vegan meals"));
    },
    send: "Register",
  },
  {
    id: "react/aria-leave",
    title: "Trip approval",
    libraries: ["react-aria-components", "@internationalized/date"],
    people: people({
      Traveller: NAMES,
      Destination: ["Lisbon", "Oslo", "Barcelona"],
      Departure: ["2026-06-18", "2027-09-03", "2026-02-27"],
      Nights: [4, 12, 7],
      Needs: [["Visa"], ["Hotel", "Advance payment"], ["Hotel", "Visa", "Advance payment"]],
      "Rental car": [true, false, true],
    }),
    wire: {
      Traveller: "traveller",
      Destination: ["destination", { Barcelona: "BCN", Lisbon: "LIS", Oslo: "OSL" }],
      Departure: "from",
      Nights: "nights",
      Needs: "needs",
      "Rental car": "car",
    },
    required: ["Traveller", "Destination", "Departure"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Traveller");
      await page.getByRole("combobox", { name: "Destination" }).fill(p.text("Destination").slice(0, 3));
      await page.getByRole("option", { name: p.text("Destination") }).click();
      const month = page.getByRole("spinbutton", { name: /month, Departure/ });
      await type(page, month, day(p.text("Departure"), "MMDDYYYY"));
      await page.getByRole("textbox", { name: "Nights" }).fill(p.text("Nights"));
      for (const need of p.list("Needs")) await page.getByText(need).click();
      await click(person, "Rental car", page.getByText("Rental car"));
    },
    send: "Ask for approval",
  },
  {
    id: "react/headlessui-address",
    title: "Delivery address",
    libraries: ["@headlessui/react"],
    people: people({
      Recipient: NAMES,
      "Street and number": ["Low Road 4", "Calle Mayor 17", "Hill Street 230b"],
      Country: ["Czechia", "Austria", "Denmark"],
      "Delivery days": [["Tuesday"], ["Monday", "Thursday"], ["Monday", "Wednesday", "Thursday"]],
      "Kind of place": ["Office", "House", "Flat"],
      "Ring the bell": [true, false, true],
    }),
    wire: {
      Recipient: "recipient",
      "Street and number": "street",
      Country: ["country[code]", { Austria: "AT", Belgium: "BE", Czechia: "CZ", Denmark: "DK" }],
      "Delivery days": ["days", (days: string[]) => days],
      "Kind of place": ["place", { House: "house", Flat: "flat", Office: "office" }],
      "Ring the bell": ["ring", (on: boolean) => (on ? "on" : undefined)],
    },
    required: ["Recipient", "Country"],
    answer: redirect("We could not save this address."),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Recipient", "Street and number");
      await page.getByRole("combobox", { name: "Country" }).fill(p.text("Country").slice(0, 3));
      await page.getByRole("option", { name: p.text("Country") }).click();
      await pick(page, page.getByRole("button", { name: "Delivery days" }), ...p.list("Delivery days"));
      await page.keyboard.press("Escape");
      await page.getByRole("radio", { name: p.text("Kind of place") }).click();
      await click(person, "Ring the bell", page.getByRole("switch", { name: "Ring the bell" }));
    },
    send: "Save address",
  },
  {
    id: "react/radix-feedback",
    title: "Feedback",
    libraries: ["radix-ui"],
    people: people({
      "Your name": NAMES,
      Area: ["Delivery", "Web shop", "Billing"],
      "How did it go?": ["Badly", "Well", "Fairly"],
      "Likelihood to return": [3, 9, 6],
      "Devices used": [["Tablet"], ["Phone", "Laptop"], ["Phone", "Tablet", "Laptop"]],
      "Please call me back": [true, false, true],
    }),
    wire: {
      "Your name": "who",
      Area: ["area", { Billing: "bil", Delivery: "del", "Web shop": "web" }],
      "How did it go?": ["mood", { Badly: "1", Fairly: "2", Well: "3" }],
      "Likelihood to return": "nps",
      "Devices used": ["devices", (names: string[]) => names.map((name) => name.toLowerCase()).join(",")],
      "Please call me back": ["callback", (on: boolean) => (on ? "yes" : undefined)],
    },
    required: ["Your name", "Area", "How did it go?"],
    answer: byFlag({ state: "stored" }, { state: "void" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Your name");
      await pick(page, page.getByRole("combobox", { name: "Area" }), p.text("Area"));
      await page.getByRole("radio", { name: p.text("How did it go?") }).click();
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Likelihood to return"));
      for (const device of ["Phone", "Tablet", "Laptop"])
        if (p.list("Devices used").includes(device)) await page.getByRole("button", { name: device }).click();
      await click(person, "Please call me back", page.getByRole("checkbox"));
    },
    send: "Send feedback",
  },
];
