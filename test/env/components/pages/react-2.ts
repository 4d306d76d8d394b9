import { click, of, pick, press, toMonth, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people, redirect } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "react/fluent-ticket",
    title: "Support ticket",
    libraries: ["@fluentui/react-components"],
    people: people({
      Subject: ["No connection", "Broken screen", "Locked account"],
      Queue: ["Network", "Hardware", "Accounts"],
      "Teams concerned": [["Sales"], ["Finance", "Support"], ["Logistics", "Sales", "Support"]],
      Severity: ["High", "Low", "Medium"],
      "Hours lost": [3, 12, 27],
      Details: ["Since nine this morning", "It fell off the desk", "After my holidays"],
      "Notify my manager": [true, false, true],
    }),
    wire: {
      Subject: "data.attributes.subject",
      Queue: ["data.attributes.queue", { Network: "q-net", Hardware: "q-hw", Accounts: "q-acc" }],
      "Teams concerned": "data.attributes.teams",
      Severity: ["data.attributes.level", { Low: "S3", Medium: "S2", High: "S1" }],
      "Hours lost": "data.attributes.hours",
      Details: "data.attributes.details",
      "Notify my manager": "data.attributes.notify",
    },
    required: ["Subject", "Queue"],
    answer: byStatus({ data: { id: "12" } }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Subject").fill(p.text("Subject"));
      await pick(page, page.getByRole("combobox", { name: "Queue" }), p.text("Queue"));
      await page.getByRole("combobox", { name: "Teams concerned" }).click();
      for (const name of p.list("Teams concerned")) await page.getByRole("menuitemcheckbox", { name }).click();
      await page.keyboard.press("Escape");
      await page.getByRole("radio", { name: p.text("Severity") }).check();
      await page.getByRole("spinbutton", { name: "Hours lost" }).fill(p.text("Hours lost"));
      await page.keyboard.press("Tab");
      await write(page, person, "Details");
      await click(person, "Notify my manager", page.getByLabel("Notify my manager"));
    },
    send: "Open ticket",
  },
  {
    id: "react/primereact-invoice",
    title: "Invoice",
    libraries: ["primereact"],
    people: people({
      Client: ["Lind & Sons", "Casa Verde", "Okoro Ltd"],
      "VAT number": ["se-123-456", "pt-987-001", "ng-555-204"],
      "Issued on": ["2025-07-09", "2024-12-24", "2026-02-03"],
      Amount: ["120.50", "8900.00", "47.99"],
      "Payment terms": ["Within 30 days", "On receipt", "Within 14 days"],
      Items: [["chairs"], ["tables", "lamps"], ["paper", "pens", "ink"]],
      "Copies to": [["Sales"], ["Archive", "Accounting"], ["Archive", "Accounting", "Sales"]],
    }),
    wire: {
      Client: "invoice.client",
      "VAT number": "invoice.vat",
      "Issued on": ["invoice.issued", (iso: string) => day(iso, "YYYYMMDD")],
      Amount: ["invoice.amount", (amount: string) => Math.round(Number(amount) * 100)],
      "Payment terms": ["invoice.terms", { "Within 14 days": 14, "Within 30 days": 30, "On receipt": 0 }],
      Items: "invoice.items",
      "Copies to": "invoice.copies",
    },
    required: ["Client", "Issued on", "Amount"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#client").fill(p.text("Client"));
      await page.locator("#vat").pressSequentially(p.text("VAT number"), { delay: 20 });
      await page.locator("#issued").click();
      const arrow = (way: string) => page.locator(`.p-datepicker-${way}`);
      await toMonth(
        p.text("Issued on"),
        () => page.locator(".p-datepicker-title").innerText(),
        arrow("prev"),
        arrow("next"),
      );
      const days = page.locator(".p-datepicker-calendar td:not(.p-datepicker-other-month)");
      await days.getByText(String(Number(p.text("Issued on").slice(8))), { exact: true }).click();
      await type(page, page.locator("#amount"), p.text("Amount"));
      await page.keyboard.press("Tab");
      await page.locator(".p-dropdown").click();
      await page.getByRole("option", { name: p.text("Payment terms") }).click();
      for (const item of p.list("Items")) {
        await type(page, page.locator("#items"), item);
        await page.keyboard.press("Enter");
      }
      await page.locator(".p-multiselect").click();
      for (const name of p.list("Copies to")) await page.getByRole("option", { name }).click();
      await page.keyboard.press("Escape");
    },
    send: "Save invoice",
  },
  {
    id: "react/select-team",
    title: "New team",
    libraries: ["react-select", "react-hook-form", "zod"],
    people: people({
      "Team name": ["Otters", "Night shift", "Blue room"],
      "Team lead": ["Jonas Falk", "Kim Soo-ah", "Ines Prado"],
      "Skills needed": [["Design"], ["JavaScript", "Databases"], ["Python", "Design", "Welding"]],
      "Home city": ["Lisbon", "Gothenburg", "Nairobi"],
      "Yearly budget": [25000, 60000, 140000],
      "Works remotely": [true, false, true],
    }),
    wire: {
      "Team name": "team",
      "Team lead": ["lead", { "Ines Prado": "u1", "Jonas Falk": "u2", "Kim Soo-ah": "u3" }],
      "Skills needed": [
        "skills",
        { JavaScript: "js", Python: "py", Design: "ux", Databases: "db", Welding: "Welding" },
      ],
      "Home city": "city",
      "Yearly budget": "budget",
      "Works remotely": "remote",
    },
    required: ["Team name", "Team lead", "Skills needed"],
    lookup: ["Lisbon", "Lima", "Gothenburg", "Nairobi", "Naples"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Team name", "Yearly budget");
      await pick(page, page.getByLabel("Team lead"), p.text("Team lead"));
      for (const skill of p.list("Skills needed")) {
        await page.getByLabel("Skills needed").fill(skill);
        await page.keyboard.press("Enter");
      }
      await page.getByLabel("Home city").fill(p.text("Home city").slice(0, 4));
      await page.getByRole("option", { name: p.text("Home city") }).click();
      await click(person, "Works remotely", page.getByLabel("Works remotely"));
    },
    send: "Create team",
  },
  {
    id: "react/datepicker-travel",
    title: "Travel insurance",
    libraries: ["react-datepicker", "react-number-format", "react-phone-number-input", "react-final-form"],
    people: people({
      "Policy holder": NAMES,
      "Mobile number": ["+12133734253", "+442071838750", "+33612345678"],
      "Starts on": ["2026-09-08", "2027-01-30", "2026-05-17"],
      "Pick-up": ["2026-09-07T18:30", "2027-01-29T06:00", "2026-05-16T21:00"],
      "Sum insured": [12500, 880, 230000],
      "Member card": ["1234 - 9876", "5550 - 0042", "7071 - 3388"],
    }),
    wire: {
      "Policy holder": "holder",
      "Mobile number": "phone",
      "Starts on": "starts",
      "Pick-up": "pickup",
      "Sum insured": "sum",
      "Member card": ["card", (card: string) => card.replace(/\D/g, "")],
    },
    required: ["Policy holder", "Starts on"],
    answer: byFlag({ policy: "P-204" }, { errors: ["incomplete"] }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Policy holder");
      await type(page, page.getByLabel("Mobile number"), p.text("Mobile number"));
      await page.getByLabel("Starts on").fill(day(p.text("Starts on"), "MM/DD/YYYY"));
      await page.keyboard.press("Escape");
      const [date = "", time = ""] = p.text("Pick-up").split("T");
      await page.getByLabel("Pick-up").fill(`${day(date, "MMM D, YYYY")} ${time}`);
      await page.keyboard.press("Escape");
      await type(page, page.getByLabel("Sum insured"), p.text("Sum insured"));
      await type(page, page.getByLabel("Member card"), p.text("Member card").replace(/\D/g, ""));
    },
    send: "Buy insurance",
  },
  {
    id: "react/day-picker-visit",
    title: "Visitor",
    libraries: ["react-day-picker", "downshift"],
    people: people({
      Visitor: NAMES,
      Host: ["Bruno Keller", "Dilan Yildiz", "Amina Diallo"],
      Place: ["Town hall", "North campus", "Harbour house"],
      "Day of visit": ["2026-07-14", "2026-04-29", "2026-12-03"],
      "Needs parking": [true, false, true],
    }),
    wire: {
      Visitor: "visitor",
      Host: "host",
      Place: ["site", { "North campus": "N", "Harbour house": "H", "Town hall": "T" }],
      "Day of visit": ["visit_day", (iso: string) => day(iso, "D/M/YYYY")],
      "Needs parking": ["parking", (on: boolean) => (on ? "on" : undefined)],
    },
    required: ["Visitor", "Host", "Place", "Day of visit"],
    answer: redirect("Host, place and day are needed."),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Visitor");
      await page.getByRole("combobox", { name: "Host" }).fill(p.text("Host").slice(0, 3));
      await page.getByRole("option", { name: p.text("Host") }).click();
      await pick(page, page.getByRole("combobox", { name: "Place" }), p.text("Place"));
      const caption = page.locator(".rdp-caption_label");
      const arrow = (name: string) => page.getByRole("button", { name });
      await toMonth(
        p.text("Day of visit"),
        () => caption.innerText(),
        arrow("Go to the Previous Month"),
        arrow("Go to the Next Month"),
      );
      await page.locator(`[data-day="${p.text("Day of visit")}"] button`).click();
      await click(person, "Needs parking", page.getByLabel("Needs parking"));
    },
    send: "Announce visit",
  },
  {
    id: "react/bootstrap-application",
    title: "Application",
    libraries: ["react-bootstrap", "bootstrap"],
    people: people({
      Applicant: NAMES,
      "Work e-mail": MAILS,
      "Expected salary": [2900, 3400, 4100],
      Position: ["Baker", "Waiter", "Cook"],
      Shifts: [["Evening"], ["Morning", "Night"], ["Morning", "Evening", "Night"]],
      "Curriculum vitae": ["ann-cv.pdf", "bo-fernandez.docx", "okoro.pdf"],
      "Years of experience": [4, 11, 23],
      "Driving licence": [true, false, true],
    }),
    wire: {
      Applicant: "applicant",
      "Work e-mail": "mail",
      "Expected salary": "pay",
      Position: ["post", { Cook: "37", Baker: "41", Waiter: "58" }],
      Shifts: ["shifts", { Morning: "M", Evening: "E", Night: "N" }],
      "Curriculum vitae": "cv",
      "Years of experience": "experience",
      "Driving licence": ["licence", (on: boolean) => (on ? "on" : undefined)],
    },
    required: ["Applicant", "Work e-mail"],
    answer: byStatus({ id: 318 }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Applicant", "Work e-mail", "Expected salary");
      await page.getByLabel("Position").selectOption({ label: p.text("Position") });
      for (const shift of p.list("Shifts")) await page.getByLabel(shift).check();
      await page
        .getByLabel("Curriculum vitae")
        .setInputFiles({ name: p.text("Curriculum vitae"), mimeType: "text/plain", buffer: Buffer.from("cv") });
      await page.getByLabel("Years of experience").focus();
      await press(page, "ArrowRight", p.number("Years of experience"));
      await click(person, "Driving licence", page.getByLabel("Driving licence"));
    },
    send: "Apply",
  },
];
