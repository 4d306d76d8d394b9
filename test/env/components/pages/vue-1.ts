import { click, of, pick, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, graphql, MAILS, NAMES, people } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "vue/vuetify-lease",
    title: "Lease",
    libraries: ["vuetify"],
    people: people({
      Tenant: NAMES,
      Flat: ["Garden, 62 m²", "Corner, 85 m²", "Attic, 40 m²"],
      Services: [["Laundry"], ["Cleaning", "Parking"], ["Internet", "Laundry", "Parking"]],
      Pets: [["cat"], ["dog", "parrot"], ["fish", "snail", "mouse"]],
      Months: [9, 12, 21],
      Deposit: ["Card", "Bank transfer", "Guarantee"],
      "Proof of income": ["payslip.pdf", "contract.png", "letter.pdf"],
      Furnished: [true, false, true],
    }),
    wire: {
      Tenant: "lease.tenant",
      Flat: ["lease.flat", { "Attic, 40 m²": "F40", "Garden, 62 m²": "F62", "Corner, 85 m²": "F85" }],
      Services: "lease.services",
      Pets: "lease.notes",
      Months: "lease.term",
      Deposit: ["lease.pay", { "Bank transfer": "bank", Guarantee: "paper", Card: "card" }],
      "Proof of income": "proof",
      Furnished: "lease.furnished",
    },
    required: ["Tenant", "Flat"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Tenant");
      await pick(page, page.locator(".v-select").first(), p.text("Flat"));
      await pick(page, page.locator(".v-autocomplete"), ...p.list("Services"));
      await page.keyboard.press("Escape");
      for (const pet of p.list("Pets")) {
        await type(page, page.getByRole("combobox", { name: "Pets" }), pet);
        await page.keyboard.press("Enter");
      }
      await page.keyboard.press("Escape");
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Months") - 6);
      await page.getByLabel(p.text("Deposit")).check();
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: p.text("Proof of income"), mimeType: "text/plain", buffer: Buffer.from("x") });
      await click(person, "Furnished", page.getByLabel("Furnished"));
    },
    send: "Request lease",
  },
  {
    id: "vue/element-plus-meeting",
    title: "Meeting",
    libraries: ["element-plus"],
    people: people({
      Subject: ["Budget", "Hiring round", "Launch"],
      Room: ["Library", "Workshop", "Aquarium"],
      Day: ["2026-12-02", "2027-02-18", "2026-11-27"],
      "Start time": ["09:15", "16:40", "11:05"],
      Seats: [5, 14, 23],
      Equipment: [["Camera"], ["Projector", "Whiteboard"], ["Projector", "Whiteboard", "Camera"]],
      Kind: ["With customers", "Public", "Internal"],
      Recording: [true, false, true],
    }),
    wire: {
      Subject: "meeting.subject",
      Room: ["meeting.room", { Aquarium: "R1", Library: "R2", Workshop: "R3" }],
      Day: "meeting.day",
      "Start time": "meeting.time",
      Seats: "meeting.seats",
      Equipment: ["meeting.gear", { Projector: "proj", Whiteboard: "board", Camera: "cam" }],
      Kind: ["meeting.kind", { Internal: "int", "With customers": "cust", Public: "pub" }],
      Recording: "meeting.record",
    },
    required: ["Subject", "Room"],
    answer: byFlag({ success: true }, { success: false }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Subject").fill(p.text("Subject"));
      await pick(page, page.locator(".el-select"), p.text("Room"));
      await page.getByLabel("Day", { exact: true }).fill(p.text("Day"));
      await page.keyboard.press("Tab");
      await page.getByLabel("Start time").fill(p.text("Start time"));
      await page.keyboard.press("Tab");
      await page.getByLabel("Seats").fill(p.text("Seats"));
      for (const item of p.list("Equipment")) await page.getByText(item, { exact: true }).click();
      await page.getByText(p.text("Kind"), { exact: true }).click();
      await click(person, "Recording", page.locator(".el-switch"));
    },
    send: "Create meeting",
  },
  {
    id: "vue/primevue-quote",
    title: "Quote",
    libraries: ["primevue", "@vuelidate/core"],
    people: people({
      Company: ["Lind & Sons", "Casa Verde", "Okoro Ltd"],
      "Line of business": ["School", "Bakery", "Pharmacy"],
      "Valid until": ["2026-12-13", "2027-03-06", "2026-11-29"],
      Pieces: [120, 4500, 36],
      Colours: [["Coral"], ["Amber", "Dark green"], ["Blue", "Coral", "Dark green"]],
      Packaging: ["None", "Box", "Bag"],
      "Rush order": [true, false, true],
    }),
    wire: {
      Company: "variables.quote.company",
      "Line of business": ["variables.quote.branch", { Bakery: 10, Pharmacy: 20, School: 30 }],
      "Valid until": ["variables.quote.valid", (iso: string) => day(iso, "MM/DD/YYYY")],
      Pieces: "variables.quote.pieces",
      Colours: "variables.quote.colours",
      Packaging: "variables.quote.wrap",
      "Rush order": ["variables.quote.rush", (on: boolean) => on],
    },
    required: ["Company", "Line of business", "Pieces"],
    answer: graphql("requestQuote"),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#company").fill(p.text("Company"));
      await pick(page, page.locator(".p-select"), p.text("Line of business"));
      await page.locator("#valid").fill(day(p.text("Valid until"), "DD.MM.YYYY"));
      await page.keyboard.press("Escape");
      await type(page, page.locator("#pieces"), p.text("Pieces"));
      await pick(page, page.locator(".p-multiselect"), ...p.list("Colours"));
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: p.text("Packaging"), exact: true }).click();
      await click(person, "Rush order", page.locator("#rush"));
    },
    send: "Ask for a quote",
  },
  {
    id: "vue/naive-stock",
    title: "Stock",
    libraries: ["naive-ui"],
    people: people({
      Item: ["Lamp", "Oak board", "Mirror"],
      Supplier: ["Birch AB", "Cedar AS", "Alder Oy"],
      Shelf: ["Shelf B1", "Shelf A1", "Shelf A2"],
      Arrival: ["2026-12-06", "2027-01-24", "2026-11-21"],
      Count: [40, 7, 260],
      Marks: [["glass"], ["heavy", "oak"], ["round", "gold", "big"]],
      Condition: ["Used", "Broken", "New"],
      Fragile: [true, false, true],
    }),
    wire: {
      Item: "item",
      Supplier: ["supplier", { "Alder Oy": 1, "Birch AB": 2, "Cedar AS": 3 }],
      Shelf: ["shelf", { "Shelf A1": "A1", "Shelf A2": "A2", "Shelf B1": "B1" }],
      Arrival: "arrival",
      Count: "count",
      Marks: "tags",
      Condition: ["state", { New: "n", Used: "u", Broken: "b" }],
      Fragile: "fragile",
    },
    required: ["Item", "Supplier"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator(".n-form-item", { hasText: "Item" }).locator("input").fill(p.text("Item"));
      await page.locator(".n-select").click();
      await page
        .locator(".n-base-select-option")
        .filter({ hasText: p.text("Supplier") })
        .click();
      await page.locator(".n-tree-select").click();
      await page
        .locator(".n-tree-node-content")
        .filter({ hasText: p.text("Shelf") })
        .click();
      await page.locator(".n-date-picker input").fill(p.text("Arrival"));
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
      await page.locator(".n-input-number input").fill(p.text("Count"));
      await page.keyboard.press("Tab");
      for (const mark of p.list("Marks")) {
        await page.locator(".n-dynamic-tags button.n-button").click();
        await page.keyboard.type(mark);
        await page.keyboard.press("Enter");
      }
      await page.getByText(p.text("Condition"), { exact: true }).click();
      await click(person, "Fragile", page.locator(".n-checkbox"));
    },
    send: "Put in stock",
  },
  {
    id: "vue/quasar-delivery",
    title: "Parcel",
    libraries: ["quasar"],
    people: people({
      Receiver: NAMES,
      Zone: ["Suburbs", "Countryside", "City centre"],
      "Contact phone": ["612 345 678", "709 111 204", "555 870 003"],
      "Weight in kg": [4, 11, 23],
      Goods: [["Books"], ["Food", "Glass"], ["Food", "Books", "Glass"]],
      "Time slot": ["Evening", "Morning", "Noon"],
      "Signature needed": [true, false, true],
    }),
    wire: {
      Receiver: "receiver",
      Zone: ["zone", { "City centre": "Z1", Suburbs: "Z2", Countryside: "Z3" }],
      "Contact phone": ["phone", (phone: string) => phone.replaceAll(" ", "")],
      "Weight in kg": "weight",
      Goods: ["goods", { Food: "food", Books: "books", Glass: "glass" }],
      "Time slot": ["slot", { Morning: "am", Noon: "mid", Evening: "pm" }],
      "Signature needed": ["sign", (on: boolean) => (on ? "1" : "0")],
    },
    required: ["Receiver", "Zone"],
    answer: ({ accepted }) => ({ status: 200, html: accepted ? "Paquete registrado" : "Faltan datos" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Receiver");
      await pick(page, page.locator(".q-select"), p.text("Zone"));
      await type(page, page.getByLabel("Contact phone"), p.text("Contact phone").replaceAll(" ", ""));
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Weight in kg") - 1);
      for (const item of p.list("Goods")) await page.getByRole("checkbox", { name: item }).click();
      await page.getByRole("button", { name: p.text("Time slot") }).click();
      await click(person, "Signature needed", page.getByRole("switch"));
    },
    send: "Send parcel",
  },
  {
    id: "vue/vant-checkin",
    title: "Check-in",
    libraries: ["vant"],
    people: people({
      Guest: NAMES,
      Hotel: ["Old Mill", "Park Inn", "Seaview"],
      Arrival: ["2026-12-10", "2027-02-04", "2026-11-26"],
      Nights: [3, 8, 15],
      Wishes: [["Sea view"], ["Quiet", "High floor"], ["Quiet", "High floor", "Sea view"]],
      Bed: ["Twin", "Single", "Double"],
      "Last stay": [4, 2, 5],
      Shuttle: [true, false, true],
    }),
    wire: {
      Guest: "guest",
      Hotel: ["hotel", { Seaview: "h-1", "Old Mill": "h-2", "Park Inn": "h-3" }],
      Arrival: "arrival",
      Nights: "nights",
      Wishes: ["wishes", { Quiet: "quiet", "High floor": "high", "Sea view": "sea" }],
      Bed: ["bed", { Single: "s", Double: "d", Twin: "t" }],
      "Last stay": "stars",
      Shuttle: "shuttle",
    },
    required: ["Guest", "Hotel"],
    answer: byFlag({ ret: 0, msg: "ok" }, { ret: 1, msg: "missing" }),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Guest").fill(p.text("Guest"));
      await page.getByPlaceholder("Choose").click();
      await page
        .locator(".van-picker-column__item")
        .filter({ hasText: p.text("Hotel") })
        .click();
      await page.getByRole("button", { name: "Confirm" }).click();
      await page.locator(".van-popup").waitFor({ state: "hidden" });
      await page.locator("input[type=date]").fill(p.text("Arrival"));
      await page.getByRole("spinbutton").fill(p.text("Nights"));
      for (const wish of p.list("Wishes")) await page.getByText(wish, { exact: true }).click();
      await page.getByRole("radio", { name: p.text("Bed") }).click();
      await page
        .locator(".van-rate__item")
        .nth(p.number("Last stay") - 1)
        .click();
      await click(person, "Shuttle", page.getByRole("switch"));
    },
    send: "Check in",
  },
  {
    id: "vue/multiselect-workshop",
    title: "Workshop",
    libraries: ["@vueform/multiselect", "@vuepic/vue-datepicker", "vue-select", "vee-validate"],
    people: people({
      Workshop: ["Bird houses", "Stools", "Toys"],
      Coach: ["Jan Wilk", "Ola Dab", "Ewa Lis"],
      Tools: [["Drill"], ["Saw", "Plane"], ["Saw", "Brush", "Plane"]],
      "First day": ["2026-12-14", "2027-02-27", "2026-11-25"],
      Places: [6, 12, 20],
      "Also online": [true, false, true],
    }),
    wire: {
      Workshop: "title",
      Coach: ["coach", { "Ewa Lis": 5, "Jan Wilk": 6, "Ola Dab": 7 }],
      Tools: ["tools", { Saw: "saw", Drill: "dri", Brush: "bru", Plane: "pla" }],
      "First day": "begin",
      Places: "places",
      "Also online": "online",
    },
    required: ["Workshop", "Coach", "First day"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Workshop", "Places");
      await page.locator(".v-select").click();
      await page.getByRole("option", { name: p.text("Coach") }).click();
      await page.locator(".multiselect").click();
      for (const tool of p.list("Tools")) await page.locator(".multiselect-option").filter({ hasText: tool }).click();
      await page.keyboard.press("Escape");
      await page.locator("#dp-input-begin, [data-test-id=dp-input]").first().fill(p.text("First day"));
      await page.keyboard.press("Tab");
      await click(person, "Also online", page.getByLabel("Also online"));
    },
    send: "Add workshop",
  },
  {
    id: "vue/formkit-pet",
    title: "Adoption",
    libraries: ["@formkit/vue"],
    people: people({
      "New owner": NAMES,
      Mail: MAILS,
      Animal: ["Cat", "Rabbit", "Dog"],
      "At home": [["Garden"], ["Children", "Other pets"], ["Garden", "Children", "Other pets"]],
      "Walks a day": ["Two", "Three", "One"],
      "Hours alone": [3, 5, 8],
      "You may visit us": [true, false, true],
    }),
    wire: {
      "New owner": "adoption.owner",
      Mail: "adoption.mail",
      Animal: ["adoption.animal", { Dog: "d", Cat: "c", Rabbit: "r" }],
      "At home": ["adoption.home", { Garden: "g", Children: "k", "Other pets": "o" }],
      "Walks a day": "adoption.walks",
      "Hours alone": "adoption.hours",
      "You may visit us": ["adoption.visit", (on: boolean) => (on ? true : undefined)],
    },
    required: ["New owner", "Mail"],
    answer: byFlag({ result: "ok" }, { result: "incomplete" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "New owner", "Mail");
      await page.getByLabel("Animal").selectOption({ label: p.text("Animal") });
      for (const item of p.list("At home")) await page.getByLabel(item).check();
      await page.getByLabel(p.text("Walks a day"), { exact: true }).check();
      await page.getByLabel("Hours alone").focus();
      await press(page, "ArrowRight", p.number("Hours alone"));
      await click(person, "You may visit us", page.getByLabel("You may visit us"));
    },
    send: "Adopt",
  },
];
