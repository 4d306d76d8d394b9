import { click, of, pick, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people, redirect } from "../page.js";

/** Writes 14:30 as a clock of twelve hours takes it by keys: `0230PM`. */
function noonClock(time: string): string {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(hour % 12 || 12)}${two(minute)}${hour < 12 ? "AM" : "PM"}`;
}

export const pages: ComponentPage[] = [
  {
    id: "react/mui-portrait",
    title: "Book a photo session",
    libraries: ["@mui/material", "@mui/x-date-pickers", "react-hook-form", "yup"],
    people: people({
      "Your name": NAMES,
      Email: MAILS,
      Session: ["Business portrait", "Newborn", "Family portrait"],
      Date: ["2027-01-15", "2027-02-09", "2027-03-23"],
      Time: ["14:30", "09:15", "17:45"],
      Extras: [["Photo album"], ["Retouching", "Prints"], ["Retouching", "Wooden frame", "Make-up"]],
      Location: ["Outdoors", "At your home", "Studio"],
      "You may show my pictures": [true, false, true],
    }),
    wire: {
      "Your name": "name",
      Email: "email",
      Session: [
        "session",
        {
          "Family portrait": "family",
          Newborn: "newborn",
          "Business portrait": "business",
          "Passport photo": "passport",
        },
      ],
      Date: "date",
      Time: "time",
      Extras: "extras",
      Location: ["place", { Studio: "studio", Outdoors: "outdoors", "At your home": "home" }],
      "You may show my pictures": "publish",
    },
    required: ["Your name", "Email", "Session", "Date"],
    answer: byStatus({ booking: 2718 }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Your name", "Email");
      await pick(page, page.getByRole("combobox", { name: "Session" }), p.text("Session"));
      await type(page, page.getByRole("spinbutton", { name: "Month" }), day(p.text("Date"), "MMDDYYYY"));
      await type(page, page.getByRole("spinbutton", { name: "Hours" }), noonClock(p.text("Time")));
      for (const extra of p.list("Extras")) await pick(page, page.getByLabel("Extras", { exact: true }), extra);
      await page.getByLabel(p.text("Location"), { exact: true }).check();
      await click(person, "You may show my pictures", page.getByLabel("You may show my pictures"));
    },
    send: "Book session",
  },
  {
    id: "react/antd-warranty",
    title: "Warranty claim",
    libraries: ["antd"],
    people: people({
      Customer: NAMES,
      Product: ["Toaster Duo", "Hand mixer Whirl", "Kettle Swift"],
      "Date of purchase": ["2026-08-21", "2025-12-03", "2026-02-14"],
      "Price paid": [49.9, 129, 34.5],
      "What is wrong?": [["Leaks"], ["Too loud", "Broken part"], ["Does not start", "Leaks", "Broken part"]],
      "You would like": ["Refund", "Repair", "Replacement"],
      Description: ["Water comes out below", "It rattles a lot", "The switch came off"],
      "I still have the box": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      Product: [
        "product",
        {
          "Coffee machine Aroma 2": 1001,
          "Kettle Swift": 1002,
          "Toaster Duo": 1003,
          "Blender Max": 1004,
          "Hand mixer Whirl": 1005,
        },
      ],
      "Date of purchase": "bought",
      "Price paid": "price",
      "What is wrong?": "faults",
      "You would like": ["wish", { Repair: "repair", Replacement: "replace", Refund: "refund" }],
      Description: "description",
      "I still have the box": "packed",
    },
    required: ["Customer", "Product", "Date of purchase"],
    answer: byFlag({ success: true }, { success: false, message: "Please fill in all required fields" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Customer");
      await page.getByLabel("Product", { exact: true }).click();
      await page
        .locator(".ant-select-item-option")
        .filter({ hasText: p.text("Product") })
        .click();
      await type(page, page.getByLabel("Date of purchase"), p.text("Date of purchase"));
      await page.locator(`td[title="${p.text("Date of purchase")}"]`).click();
      await page.getByLabel("Price paid").fill(p.text("Price paid"));
      for (const fault of p.list("What is wrong?")) await page.getByLabel(fault, { exact: true }).check();
      await page.getByLabel(p.text("You would like"), { exact: true }).check();
      await write(page, person, "Description");
      await click(person, "I still have the box", page.getByRole("switch"));
    },
    send: "Send claim",
  },
  {
    id: "react/mantine-job",
    title: "Apply for a job",
    libraries: ["@mantine/core", "@mantine/dates", "@mantine/form"],
    people: people({
      "Full name": NAMES,
      "Email address": MAILS,
      Position: ["Delivery driver", "Baker", "Office clerk"],
      "Available from": ["2027-01-11", "2026-12-18", "2027-03-04"],
      "Hours per week": [32, 20, 16],
      Languages: [["French"], ["English", "Turkish"], ["English", "German", "Italian"]],
      Contract: ["Temporary", "Apprenticeship", "Permanent"],
      CV: ["ann-lee.pdf", "cv-fernandez.pdf", "okoro.pdf"],
      "I have a driving licence": [true, false, true],
    }),
    wire: {
      "Full name": "name",
      "Email address": "email",
      Position: [
        "position",
        { Baker: "baker", "Sales assistant": "sales", "Delivery driver": "driver", "Office clerk": "office" },
      ],
      "Available from": "available_from",
      "Hours per week": "hours",
      Languages: "languages",
      Contract: ["contract", { Permanent: "permanent", Temporary: "temporary", Apprenticeship: "apprentice" }],
      CV: "cv",
      "I have a driving licence": ["driving_license", String],
    },
    required: ["Full name", "Email address", "Position", "Available from"],
    answer: byStatus({ status: "received" }),
    async fill(page, person) {
      const p = of(person);
      for (const label of ["Full name", "Email address", "Hours per week"])
        await page.getByLabel(label).fill(p.text(label));
      await pick(page, page.getByRole("combobox", { name: "Position" }), p.text("Position"));
      await type(page, page.getByLabel("Available from"), day(p.text("Available from"), "DD/MM/YYYY"));
      await page.keyboard.press("Tab");
      await pick(page, page.getByRole("combobox", { name: "Languages" }), ...p.list("Languages"));
      await page.keyboard.press("Escape");
      await page.getByLabel(p.text("Contract"), { exact: true }).check();
      const chooser = page.waitForEvent("filechooser");
      await page.getByLabel("CV").click();
      await (await chooser).setFiles({ name: p.text("CV"), mimeType: "application/pdf", buffer: Buffer.from("cv") });
      await click(person, "I have a driving licence", page.getByRole("switch"));
    },
    send: "Send application",
  },
  {
    id: "react/chakra-kennel",
    title: "Book a stay for your dog",
    libraries: ["@chakra-ui/react", "react-hook-form"],
    people: people({
      "Name of the dog": ["Rex", "Bella", "Captain"],
      Size: ["Large (25 to 45 kg)", "Small (up to 10 kg)", "Giant (over 45 kg)"],
      Arrival: ["2026-12-21", "2027-02-06", "2027-04-15"],
      Nights: [5, 12, 3],
      Room: ["Single room", "Suite with garden", "Shared room"],
      Extras: [["Training"], ["Grooming", "Photo a day"], ["Grooming", "Long walk", "Photo a day"]],
      Vaccinated: [true, false, true],
      Notes: ["Eats twice a day", "Afraid of cats", "Sleeps on a sofa"],
    }),
    wire: {
      "Name of the dog": "booking.dog.name",
      Size: [
        "booking.dog.size",
        {
          "Small (up to 10 kg)": "S",
          "Medium (10 to 25 kg)": "M",
          "Large (25 to 45 kg)": "L",
          "Giant (over 45 kg)": "XL",
        },
      ],
      Arrival: "booking.stay.from",
      Nights: "booking.stay.nights",
      Room: ["booking.stay.room", { "Shared room": "shared", "Single room": "single", "Suite with garden": "suite" }],
      Extras: "booking.extras",
      Vaccinated: "booking.dog.vaccinated",
      Notes: "booking.notes",
    },
    required: ["Name of the dog", "Size", "Arrival"],
    answer: byStatus({ booking: { id: 88 } }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Name of the dog", "Arrival", "Nights", "Notes");
      await pick(page, page.getByRole("combobox"), p.text("Size"));
      await page.getByText(p.text("Room"), { exact: true }).click();
      for (const extra of p.list("Extras")) await page.getByText(extra, { exact: true }).click();
      await click(person, "Vaccinated", page.getByText("Vaccinated"));
    },
    send: "Book",
  },
  {
    id: "react/select-moving",
    title: "Moving quote",
    libraries: ["react-select", "react-datepicker", "react-phone-number-input", "react-hook-form"],
    people: people({
      Name: NAMES,
      Phone: ["(213) 373-4253", "(303) 555-0142", "(617) 253-1000"],
      "Moving from": ["Denver", "New York", "Miami"],
      "Moving to": ["Seattle", "Boston", "Chicago"],
      "Moving date": ["2027-01-22", "2026-12-28", "2027-05-04"],
      Rooms: ["2 rooms", "4 rooms or more", "1 room"],
      Services: [["Furniture assembly"], ["Packing", "Moving boxes"], ["Packing", "Final cleaning", "Moving boxes"]],
      "There is a piano": [true, false, true],
    }),
    wire: {
      Name: "name",
      Phone: ["phone", (phone: string) => `+1${phone.replace(/\D/g, "")}`],
      "Moving from": ["from", (city: string) => city.toLowerCase().replace(" ", "-")],
      "Moving to": ["to", (city: string) => city.toLowerCase().replace(" ", "-")],
      "Moving date": "date",
      Rooms: ["rooms", { "1 room": "1", "2 rooms": "2", "3 rooms": "3", "4 rooms or more": "4+" }],
      Services: [
        "services",
        {
          Packing: "packing",
          "Furniture assembly": "assembly",
          "Final cleaning": "cleaning",
          "Moving boxes": "boxes",
        },
      ],
      "There is a piano": "piano",
    },
    required: ["Name", "Moving from", "Moving to", "Moving date"],
    answer: byStatus({ quote: "Q-1907" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#name").fill(p.text("Name"));
      await type(page, page.locator("#phone"), p.text("Phone"));
      await pick(page, page.locator("#from"), p.text("Moving from"));
      await pick(page, page.locator("#to"), p.text("Moving to"));
      await page.locator("#date").fill(day(p.text("Moving date"), "MM/DD/YYYY"));
      await page.keyboard.press("Tab");
      await page.locator("#rooms").selectOption(p.text("Rooms"));
      await pick(page, page.locator("#services"), ...p.list("Services"));
      await page.keyboard.press("Escape");
      await click(person, "There is a piano", page.locator("#piano"));
    },
    send: "Get a quote",
  },
  {
    id: "angular/material-course",
    title: "Course registration",
    libraries: ["@angular/material", "@angular/forms"],
    people: people({
      "Full name": NAMES,
      Email: MAILS,
      "Date of birth": ["1988-04-17", "1995-11-02", "1972-06-29"],
      Course: ["Home bookkeeping", "Woodworking", "Spanish conversation"],
      "Days that suit you": [["Tuesday"], ["Monday", "Thursday"], ["Monday", "Wednesday", "Friday"]],
      "Your level": ["Intermediate", "Advanced", "Beginner"],
      "I need the course book": [true, false, true],
      Comments: ["I come by bus", "I have my own tools", "Please seat me in front"],
    }),
    wire: {
      "Full name": "participant.fullName",
      Email: "participant.email",
      "Date of birth": "participant.birthday",
      Course: [
        "courseId",
        { "Watercolour painting": 1, "Spanish conversation": 2, "Home bookkeeping": 3, Woodworking: 4 },
      ],
      "Days that suit you": "participant.days",
      "Your level": ["participant.level", (level: string) => level.toUpperCase()],
      "I need the course book": "participant.material",
      Comments: "participant.comments",
    },
    required: ["Full name", "Email", "Course"],
    answer: byStatus({ registrationId: 615 }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Full name", "Email", "Comments");
      await page.getByLabel("Date of birth").fill(day(p.text("Date of birth"), "M/D/YYYY"));
      await pick(page, page.getByRole("combobox", { name: "Course" }), p.text("Course"));
      await pick(page, page.getByRole("combobox", { name: "Days that suit you" }), ...p.list("Days that suit you"));
      await page.keyboard.press("Escape");
      await page.getByLabel(p.text("Your level"), { exact: true }).check();
      await click(person, "I need the course book", page.getByRole("switch"));
    },
    send: "Register",
  },
  {
    id: "angular/primeng-rental",
    title: "Rent a tool",
    libraries: ["primeng", "@angular/forms"],
    people: people({
      Customer: NAMES,
      Tool: ["Tile cutter", "Hammer drill", "Floor sander"],
      "Pick-up date": ["2027-01-08", "2026-12-17", "2027-03-30"],
      "Number of days": [3, 10, 7],
      Accessories: [["Gloves"], ["Safety goggles", "Dust bag"], ["Safety goggles", "Gloves", "Extension cord"]],
      Payment: ["Invoice", "Credit card", "Cash"],
      Remarks: ["I come before eight", "Please show me how it works", "My brother fetches it"],
      "Deliver to my address": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      Tool: [
        "tool",
        {
          "Hammer drill": "HD-20",
          Chainsaw: "CS-35",
          "Floor sander": "FS-10",
          "Tile cutter": "TC-60",
          "Concrete mixer": "CM-14",
        },
      ],
      "Pick-up date": "pickup",
      "Number of days": "days",
      Accessories: "accessories",
      Payment: ["payment", { Cash: "cash", "Credit card": "card", Invoice: "invoice" }],
      Remarks: "remarks",
      "Deliver to my address": "delivery",
    },
    required: ["Customer", "Tool", "Pick-up date"],
    answer: byFlag({ reservation: "T-2093" }, { error: "Please fill in the required fields" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#customer").fill(p.text("Customer"));
      await pick(page, page.locator("p-select"), p.text("Tool"));
      await type(page, page.locator("#pickup"), day(p.text("Pick-up date"), "MM/DD/YYYY"));
      await page.keyboard.press("Tab");
      await page.locator("#days").fill(p.text("Number of days"));
      await page.locator("#remarks").fill(p.text("Remarks"));
      await pick(page, page.locator("p-multiselect"), ...p.list("Accessories"));
      await page.keyboard.press("Escape");
      await page.getByText(p.text("Payment"), { exact: true }).click();
      await click(person, "Deliver to my address", page.locator("#delivery"));
    },
    send: "Reserve",
  },
  {
    id: "elements/shoelace-lesson",
    title: "Music lessons",
    libraries: ["@shoelace-style/shoelace"],
    people: people({
      Student: NAMES,
      Email: MAILS,
      Instrument: ["Violin", "Drums", "Piano"],
      "First lesson": ["2027-01-13", "2026-12-02", "2027-02-25"],
      "Lessons per month": [2, 8, 6],
      Level: ["Some practice", "Advanced", "Beginner"],
      Days: [["Thursday"], ["Monday", "Friday"], ["Monday", "Tuesday", "Wednesday"]],
      "I want to rent the instrument": [true, false, true],
    }),
    wire: {
      Student: "student",
      Email: "email",
      Instrument: ["instrument", (name: string) => name.toLowerCase()],
      "First lesson": "first",
      "Lessons per month": "lessons",
      Level: ["level", { Beginner: "new", "Some practice": "some", Advanced: "good" }],
      Days: ["days", (names: readonly string[]) => names.map((name) => name.slice(0, 3).toLowerCase())],
      "I want to rent the instrument": ["rent", (on: boolean) => (on ? "yes" : undefined)],
    },
    required: ["Student", "Email", "Instrument"],
    answer: redirect("Please fill in all required fields."),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Student", "Email", "First lesson", "Lessons per month");
      await pick(page, page.locator("sl-select[name=instrument]"), p.text("Instrument"));
      await page
        .locator("sl-radio-button")
        .filter({ hasText: p.text("Level") })
        .click();
      await pick(page, page.locator("sl-select[name=days]"), ...p.list("Days"));
      await page.keyboard.press("Escape");
      await click(person, "I want to rent the instrument", page.locator("sl-checkbox"));
    },
    send: "Sign up",
  },
];
