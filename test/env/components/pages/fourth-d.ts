import { click, dayOf, of, pick, press, suggest, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people, redirect } from "../page.js";

const picture = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from("f") });

export const pages: ComponentPage[] = [
  {
    id: "vue/naive-catering",
    title: "Catering order",
    libraries: ["naive-ui"],
    people: people({
      "Your name": NAMES,
      Telephone: ["+44 20 7946 0123", "0151 496 0771", "+49 30 901820"],
      Occasion: ["Wedding", "Company party", "Birthday"],
      "Serving time": ["2027-06-12 18:30", "2027-02-19 12:00", "2027-04-03 19:15"],
      "Number of guests": [85, 140, 24],
      Dishes: [["Roast"], ["Soup", "Dessert"], ["Soup", "Salad buffet", "Dessert"]],
      Menu: ["Vegetarian", "Mixed", "Vegan"],
      "Deliver and serve": [true, false, true],
    }),
    wire: {
      "Your name": "order.name",
      Telephone: "order.phone",
      Occasion: ["order.occasion", { Birthday: "birthday", Wedding: "wedding", "Company party": "company" }],
      "Serving time": "order.servedAt",
      "Number of guests": "order.guests",
      Dishes: ["order.dishes", { Soup: "soup", "Salad buffet": "salad", Roast: "roast", Dessert: "dessert" }],
      Menu: ["order.menu", { Mixed: "mixed", Vegetarian: "vegetarian", Vegan: "vegan" }],
      "Deliver and serve": "order.delivery",
    },
    required: ["Your name", "Occasion"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.getByPlaceholder("First and last name").fill(p.text("Your name"));
      await page.getByPlaceholder("Telephone number").fill(p.text("Telephone"));
      await page.locator(".n-select").click();
      await page
        .locator(".n-base-select-option")
        .filter({ hasText: p.text("Occasion") })
        .click();
      await page.locator(".n-date-picker input").click();
      await page.locator(".n-date-picker input").fill(p.text("Serving time"));
      await page.locator(".n-date-panel").getByText("Confirm").click();
      await page.locator(".n-card-header").click();
      await page.locator(".n-date-panel").waitFor({ state: "detached" });
      await page.locator(".n-input-number input").fill(p.text("Number of guests"));
      await page.keyboard.press("Tab");
      for (const name of [...p.list("Dishes"), p.text("Menu")]) await page.getByText(name, { exact: true }).click();
      await click(person, "Deliver and serve", page.getByRole("switch"));
    },
    send: "Place order",
  },
  {
    id: "vue/antdv-courier",
    title: "Courier",
    libraries: ["ant-design-vue"],
    people: people({
      Sender: NAMES,
      Destination: ["Bristol", "Brighton", "Cardiff"],
      "Parcel size": ["Medium (up to 15 kg)", "Small (up to 5 kg)", "Large (up to 30 kg)"],
      Weight: [12.5, 3, 27.4],
      "Pick-up date": ["2026-12-09", "2027-01-14", "2027-02-23"],
      "Pick-up time": ["Afternoon", "Morning", "Midday"],
      Services: [["Insurance"], ["Fragile goods", "Return label"], ["Insurance", "Fragile goods"]],
      "Signature on delivery": [true, false, true],
    }),
    wire: {
      Sender: "sender",
      Destination: "town",
      "Parcel size": ["size", (size: string) => size.slice(0, 1)],
      Weight: "weight",
      "Pick-up date": "pickup",
      "Pick-up time": ["slot", { Morning: "am", Midday: "noon", Afternoon: "pm" }],
      Services: ["services", { Insurance: "insured", "Fragile goods": "fragile", "Return label": "return" }],
      "Signature on delivery": "signature",
    },
    required: ["Sender", "Destination"],
    answer: byFlag({ success: true, booking: "C-2291" }, { success: false }),
    lookup: ["Bath", "Brighton", "Bristol", "Cardiff", "Swansea"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Sender");
      const option = (name: string) =>
        page.locator(".ant-select-item-option").filter({ hasText: name }).locator("visible=true");
      await type(page, page.getByLabel("Destination"), p.text("Destination").slice(0, 4));
      await option(p.text("Destination")).click();
      await page.getByLabel("Parcel size").click();
      await option(p.text("Parcel size")).click();
      await write(page, person, "Weight");
      await type(page, page.getByLabel("Pick-up date"), day(p.text("Pick-up date"), "DD/MM/YYYY"));
      await page.keyboard.press("Enter");
      for (const name of [p.text("Pick-up time"), ...p.list("Services")])
        await page.getByText(name, { exact: true }).click();
      await click(person, "Signature on delivery", page.getByRole("switch"));
    },
    send: "Book pick-up",
  },
  {
    id: "vue/bvnext-sailing",
    title: "Sailing school",
    libraries: ["bootstrap-vue-next", "@vuelidate/core"],
    people: people({
      "Full name": NAMES,
      "Email address": MAILS,
      Course: ["Coastal skipper", "Dinghy for beginners", "Dinghy advanced"],
      "Start date": ["2027-05-03", "2027-06-21", "2027-08-09"],
      "Your sailing skills": [4, 1, 3],
      "Languages you speak": [["English"], ["English", "Spanish"], ["French", "English", "German"]],
      Payment: ["Bank transfer", "Cash at the school", "Credit card"],
      "Lend me a life jacket": [true, false, true],
    }),
    wire: {
      "Full name": "name",
      "Email address": "email",
      Course: [
        "course",
        { "Dinghy for beginners": "dinghy-1", "Dinghy advanced": "dinghy-2", "Coastal skipper": "yacht-1" },
      ],
      "Start date": "start",
      "Your sailing skills": "skill",
      "Languages you speak": ["languages[]", { English: "en", French: "fr", German: "de", Spanish: "es" }],
      Payment: ["payment", { "Credit card": "card", "Bank transfer": "transfer", "Cash at the school": "cash" }],
      "Lend me a life jacket": ["jacket", (is: boolean) => (is ? "1" : "")],
    },
    required: ["Full name", "Email address", "Course"],
    answer: byFlag({ status: "ok" }, { status: "error" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Full name", "Email address", "Start date");
      await page.getByLabel("Course", { exact: true }).selectOption({ label: p.text("Course") });
      await page
        .locator(".b-form-rating .b-form-rating-star, .b-form-rating svg")
        .nth(p.number("Your sailing skills") - 1)
        .click();
      for (const name of [...p.list("Languages you speak"), p.text("Payment")]) await page.getByLabel(name).check();
      await click(person, "Lend me a life jacket", page.getByLabel("Lend me a life jacket"));
    },
    send: "Register",
  },
  {
    id: "svelte/flowbite-tutoring",
    title: "Tutor",
    libraries: ["flowbite-svelte"],
    people: people({
      "Name of the pupil": NAMES,
      Subject: ["Physics", "English", "History"],
      Weekdays: [["Tuesday"], ["Monday", "Thursday"], ["Monday", "Wednesday", "Friday"]],
      "First lesson": ["2026-12-08", "2027-01-21", "2027-02-05"],
      "Time of day": ["16:30", "14:45", "17:15"],
      "Number of lessons": [8, 12, 3],
      Place: ["At school", "Online", "At home"],
      "A sibling is taught too": [true, false, true],
    }),
    wire: {
      "Name of the pupil": "pupil",
      Subject: ["subject", { Mathematics: "mat", Physics: "phy", English: "eng", History: "his" }],
      Weekdays: ["weekdays", (names: string[]) => names.map((name) => name.slice(0, 3).toLowerCase())],
      "First lesson": "first_day",
      "Time of day": "time",
      "Number of lessons": "lessons",
      Place: ["place", { "At home": "home", "At school": "school", Online: "online" }],
      "A sibling is taught too": ["sibling", (is: boolean) => (is ? "yes" : "no")],
    },
    required: ["Name of the pupil", "Subject"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Name of the pupil", "Time of day");
      await page.locator("#subject").selectOption({ label: p.text("Subject") });
      await page.getByRole("listbox").first().click();
      for (const name of p.list("Weekdays"))
        await page.locator("[role=presentation] > [role=presentation]").filter({ hasText: name }).click();
      await page.keyboard.press("Escape");
      await page.locator("#first").fill(day(p.text("First lesson"), "DD/MM/YYYY"));
      await page.keyboard.press("Enter");
      await page.locator("#lessons").focus();
      const ahead = p.number("Number of lessons") - 5;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      await page.getByLabel(p.text("Place")).check();
      await click(person, "A sibling is taught too", page.getByText("A sibling is taught too"));
    },
    send: "Request tutor",
  },
  {
    id: "solid/kobalte-florist",
    title: "Flowers",
    libraries: ["@kobalte/core", "solid-js"],
    people: people({
      Customer: NAMES,
      Bouquet: ["Tulips", "Lilies", "Wild flowers"],
      Extras: [["Chocolates"], ["Vase", "Wine"], ["Vase", "Teddy bear", "Chocolates"]],
      Stems: [24, 36, 50],
      Size: ["Large", "Standard", "Deluxe"],
      "Delivery date": ["2026-12-23", "2027-01-30", "2027-02-14"],
      "Nearest shop": ["Station", "Broadway", "Harbour"],
      "Gift wrapping": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      Bouquet: ["bouquetId", { Roses: 11, Tulips: 12, "Wild flowers": 13, Lilies: 14 }],
      Extras: ["extras", { Vase: "vase", Chocolates: "choc", "Teddy bear": "bear", Wine: "wine" }],
      Stems: "stems",
      Size: ["size", (size: string) => size.toLowerCase()],
      "Delivery date": "deliveryDate",
      "Nearest shop": ["branch", (shop: string) => shop.toUpperCase()],
      "Gift wrapping": "giftWrap",
    },
    required: ["Customer", "Bouquet"],
    answer: byStatus({ orderNumber: "F-1027" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Customer", "Delivery date");
      await pick(page, page.getByRole("button", { name: "Bouquet" }), p.text("Bouquet"));
      for (const name of p.list("Extras")) {
        await type(page, page.getByRole("combobox", { name: "Extras" }), name.slice(0, 4));
        await page.getByRole("option", { name }).click();
      }
      await page.keyboard.press("Escape");
      await page.getByRole("spinbutton", { name: "Stems" }).fill(p.text("Stems"));
      await page.keyboard.press("Tab");
      for (const name of [p.text("Size"), p.text("Nearest shop")]) await page.getByText(name, { exact: true }).click();
      await click(person, "Gift wrapping", page.getByText("Gift wrapping"));
    },
    send: "Order now",
  },
  {
    id: "plain/jqueryui-cleaning",
    title: "Cleaning",
    libraries: ["jquery-ui", "jquery-validation", "jquery"],
    people: people({
      "Customer name": NAMES,
      Street: ["Market Street", "Mill Lane", "Marine Drive"],
      "Cleaning day": ["2026-12-14", "2027-01-09", "2027-02-18"],
      "Type of building": ["Flat", "Shop", "House"],
      Rooms: [4, 11, 7],
      Tasks: [["Floors"], ["Windows", "Carpets"], ["Windows", "Floors", "Kitchen"]],
      "How often": ["Weekly", "Once", "Monthly"],
      "Budget up to": [180, 90, 260],
    }),
    wire: {
      "Customer name": "customer",
      Street: "street",
      "Cleaning day": ["date", (iso: string) => day(iso, "DD.MM.YYYY")],
      "Type of building": ["type", (name: string) => name.toLowerCase()],
      Rooms: "rooms",
      Tasks: ["tasks[]", (names: string[]) => names.map((name) => name.toLowerCase())],
      "How often": ["often", { Once: "1", Weekly: "w", Monthly: "m" }],
      "Budget up to": ["budget", (euro: number) => `€ ${euro}`],
    },
    required: ["Customer name", "Street"],
    answer: byFlag(
      { ok: true, message: "We will come back to you today." },
      { ok: false, message: "Please fill in all required fields." },
    ),
    lookup: ["Mariner Road", "Marine Drive", "Market Street", "Mill Lane", "Millbank"],
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Customer name");
      await suggest(page, "#street", p.text("Street"), ".ui-autocomplete li");
      await page.locator("#date").click();
      const [y = "", m = ""] = p.text("Cleaning day").split("-");
      await page.locator(".ui-datepicker-year").selectOption(y);
      await page.locator(".ui-datepicker-month").selectOption(String(Number(m) - 1));
      await page
        .locator(".ui-datepicker-calendar a")
        .getByText(dayOf(p.text("Cleaning day")), { exact: true })
        .click();
      await page.locator("#type-button").click();
      await page
        .locator(".ui-selectmenu-open li")
        .filter({ hasText: p.text("Type of building") })
        .click();
      await page.locator("#rooms").fill(p.text("Rooms"));
      for (const name of [...p.list("Tasks"), p.text("How often")]) await page.getByText(name, { exact: true }).click();
      await page.locator(".ui-slider-handle").focus();
      const ahead = (p.number("Budget up to") - 100) / 10;
      await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
    },
    send: "Send request",
  },
  {
    id: "plain/parsley-workshop",
    title: "Workshop",
    libraries: ["parsleyjs", "@eonasdan/tempus-dominus", "select2", "bootstrap", "jquery"],
    people: people({
      "Name of the owner": NAMES,
      "Licence plate": ["LS 4471", "B-KR 902", "GD 77120"],
      Mileage: [84200, 12650, 153900],
      "Make of the car": ["Skoda", "Audi", "Volvo"],
      Appointment: ["2026-12-10 09:30", "2027-01-18 14:15", "2027-02-03 07:45"],
      "Work to be done": [["Brakes"], ["Inspection", "Winter tyres"], ["Inspection", "Oil change", "Brakes"]],
      "Replacement car": ["Small car", "Not needed", "Family car"],
      "Photo of the damage": ["door.png", "bumper.png", "mirror.png"],
    }),
    wire: {
      "Name of the owner": "owner",
      "Licence plate": "plate",
      Mileage: "mileage",
      "Make of the car": ["make", (name: string) => name.slice(0, 2).toUpperCase()],
      Appointment: ["appointment", (moment: string) => moment.replace(/(....)-(..)-(..)/, "$3/$2/$1")],
      "Work to be done": ["work[]", { Inspection: "insp", "Oil change": "oil", Brakes: "brk", "Winter tyres": "tyr" }],
      "Replacement car": ["replacement", { "Not needed": "none", "Small car": "small", "Family car": "family" }],
      "Photo of the damage": "photo",
    },
    required: ["Name of the owner", "Make of the car"],
    answer: redirect("Please enter your name and the make of the car."),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Name of the owner", "Licence plate", "Mileage");
      await page.locator("#select2-make-container").click();
      await page.getByRole("option", { name: p.text("Make of the car") }).click();
      const [date = "", time = ""] = p.text("Appointment").split(" ");
      await page.locator("#when").fill(`${day(date, "DD/MM/YYYY")} ${time}`);
      await page.keyboard.press("Tab");
      await page.locator("h1").click();
      await page.locator(".select2-selection--multiple").click();
      for (const name of p.list("Work to be done")) await page.getByRole("option", { name, exact: true }).click();
      await page.locator("h1").click();
      await page.getByLabel(p.text("Replacement car")).check();
      await page.locator("#photo").setInputFiles(picture(p.text("Photo of the damage")));
    },
    send: "Request appointment",
  },
  {
    id: "engines/formio-parking",
    title: "Parking permit",
    libraries: ["@formio/js"],
    people: people({
      "Name of the resident": NAMES,
      "Phone number": ["(212) 555-0147", "(415) 555-0199", "(312) 555-0123"],
      "Parking zone": ["Zone B, river side", "Zone C, hospital", "Zone A, old town"],
      "Valid from": ["2026-12-15", "2027-01-11", "2027-02-01"],
      "Cars in the household": [2, 1, 3],
      "Type of engine": ["Electric", "Petrol", "Diesel"],
      "Send reminders by": [["E-mail"], ["Letter", "Text message"], ["E-mail", "Text message"]],
      "I have a disabled badge": [true, false, true],
    }),
    wire: {
      "Name of the resident": "application.resident",
      "Phone number": "application.phone",
      "Parking zone": ["application.zone", (zone: string) => zone.slice(5, 6)],
      "Valid from": "application.validFrom",
      "Cars in the household": "application.cars",
      "Type of engine": ["application.fuel", (name: string) => name.toLowerCase()],
      "Send reminders by": ["application.reminders", { Letter: "letter", "E-mail": "mail", "Text message": "sms" }],
      "I have a disabled badge": "application.disabled",
    },
    required: ["Name of the resident", "Parking zone"],
    answer: byFlag({ accepted: true, reference: "P-5518" }, { accepted: false }),
    async fill(page, person) {
      const p = of(person);
      const part = (key: string) => page.locator(`.formio-component-${key}`);
      await part("resident").locator("input").fill(p.text("Name of the resident"));
      await type(page, part("phone").locator("input"), p.text("Phone number").replace(/\D/g, ""));
      await part("zone").locator(".choices").click();
      await part("zone")
        .getByRole("option", { name: p.text("Parking zone") })
        .click();
      await part("validFrom").locator("input[type=text]").fill(p.text("Valid from"));
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await part("cars").locator("input").fill(p.text("Cars in the household"));
      await page.getByLabel(p.text("Type of engine")).check();
      for (const name of p.list("Send reminders by")) {
        await part("reminders").locator(".choices input").click();
        await part("reminders").getByRole("option", { name }).click();
      }
      await page.keyboard.press("Escape");
      await click(person, "I have a disabled badge", page.getByLabel("I have a disabled badge"));
    },
    send: "Send application",
  },
];
