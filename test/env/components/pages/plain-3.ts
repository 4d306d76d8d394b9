import { click, of, type } from "../hand.js";
import { again, byFlag, byStatus, type ComponentPage, flash, NAMES, people, redirect } from "../page.js";

const DAYS = ["2026-12-08", "2027-01-21", "2027-03-05"];
const on = (value: string) => (is: boolean) => (is ? value : undefined);

export const pages: ComponentPage[] = [
  {
    id: "plain/bsselect-printing",
    title: "Prints",
    libraries: ["bootstrap-select", "use-bootstrap-tag"],
    people: people({
      Customer: NAMES,
      Paper: ["Card 300 g", "Office 80 g", "Laser 120 g"],
      Finishing: [["Punched"], ["Folded", "Laminated"], ["Folded", "Stapled", "Punched"]],
      Keywords: [["flyer"], ["book", "cover"], ["menu", "summer", "bar"]],
      Copies: [20, 500, 75],
      Colour: ["Spot colour", "Black and white", "Four colours"],
      "Proof copy": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      Paper: ["paper", { "Office 80 g": "80", "Laser 120 g": "120", "Card 300 g": "300" }],
      Finishing: ["finish[]", { Folded: "fold", Stapled: "stap", Punched: "punc", Laminated: "lami" }],
      Keywords: ["words", (all: string[]) => all.join(",")],
      Copies: "copies",
      Colour: ["colour", { "Black and white": "bw", "Four colours": "4c", "Spot colour": "sp" }],
      "Proof copy": ["proof", on("1")],
    },
    required: ["Customer", "Paper"],
    answer: flash("Your prints are ordered", "The order is not complete"),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#customer").fill(p.text("Customer"));
      await page.locator("[data-id=paper]").click();
      await page
        .locator(".dropdown-item")
        .filter({ hasText: p.text("Paper") })
        .locator("visible=true")
        .click();
      await page.locator("[data-id=finish]").click();
      for (const name of p.list("Finishing"))
        await page.locator(".dropdown-item").filter({ hasText: name }).locator("visible=true").click();
      await page.keyboard.press("Escape");
      for (const word of p.list("Keywords")) {
        await type(page, page.locator(".use-bootstrap-tag input"), word);
        await page.keyboard.press("Enter");
      }
      await page.locator("#copies").fill(p.text("Copies"));
      await page.getByText(p.text("Colour"), { exact: true }).click();
      await click(person, "Proof copy", page.locator("#proof"));
    },
    send: "Order prints",
  },
  {
    id: "plain/fomantic-venue",
    title: "Hall",
    libraries: ["fomantic-ui-css"],
    people: people({
      "Event name": ["Spring ball", "Slam", "Reunion"],
      Hall: ["Winter garden", "Great hall", "Cellar stage"],
      Equipment: [["Piano"], ["Microphones", "Lights"], ["Microphones", "Piano", "Bar"]],
      Date: DAYS,
      "Doors open": ["18:00", "20:30", "16:15"],
      Guests: [3, 6, 9],
      "Wish for quiet": [4, 2, 5],
      Seating: ["Standing", "Rows", "Tables"],
      "Open to the public": [true, false, true],
    }),
    wire: {
      "Event name": "event",
      Hall: ["hall", { "Great hall": "h1", "Cellar stage": "h2", "Winter garden": "h3" }],
      Equipment: ["equipment", { Microphones: "mic", Lights: "lig", Piano: "pia", Bar: "bar" }],
      Date: "day",
      "Doors open": "doors",
      Guests: "guests",
      "Wish for quiet": "quiet",
      Seating: ["seating", { Rows: "r", Tables: "t", Standing: "s" }],
      "Open to the public": ["public", on("on")],
    },
    required: ["Event name", "Hall"],
    answer: byFlag({ request: 91 }, { request: 0 }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("[name=event]").fill(p.text("Event name"));
      await page.locator(".ui.selection.dropdown").first().click();
      await page
        .locator(".menu.visible .item")
        .filter({ hasText: p.text("Hall") })
        .click();
      await page.locator(".ui.multiple.dropdown input.search").click();
      for (const name of p.list("Equipment"))
        await page.locator(".menu.visible .item").filter({ hasText: name }).click();
      await page.locator("[name=event]").click();
      for (const [name, value] of [
        ["day", p.text("Date")],
        ["doors", p.text("Doors open")],
      ] as const) {
        await type(page, page.locator(`[name=${name}]`), value);
        await page.locator("[name=event]").click();
      }
      const track = (await page.locator("#guests .inner").boundingBox()) as {
        x: number;
        y: number;
        width: number;
        height: number;
      };
      await page.mouse.click(track.x + (track.width * p.number("Guests")) / 10, track.y + track.height / 2);
      await page
        .locator("#quiet .icon")
        .nth(p.number("Wish for quiet") - 1)
        .click();
      await page.getByText(p.text("Seating"), { exact: true }).click();
      await click(person, "Open to the public", page.getByText("Open to the public"));
    },
    send: (page) => page.locator(".submit.button").click(),
  },
  {
    id: "plain/tempus-transport",
    title: "Transport",
    libraries: ["@eonasdan/tempus-dominus", "virtual-select-plugin"],
    people: people({
      Sender: NAMES,
      "Pick-up": ["2026-12-08 10:30", "2027-01-21 18:00", "2027-03-05 09:15"],
      Vehicle: ["Trailer", "Van", "Lorry"],
      Goods: [["Food"], ["Furniture", "Plants"], ["Furniture", "Machines", "Food"]],
      Weight: ["1200", "75", "340"],
      Insurance: ["Full cover", "No cover", "Basic cover"],
      "Tail lift": [true, false, true],
    }),
    wire: {
      Sender: "sender",
      "Pick-up": "pickup",
      Vehicle: ["vehicle", { Van: "1", Lorry: "2", Trailer: "3" }],
      Goods: ["goods", { Furniture: "fu", Machines: "ma", Food: "fo", Plants: "pl" }],
      Weight: "weight",
      Insurance: ["insurance", { "No cover": "n", "Basic cover": "b", "Full cover": "f" }],
      "Tail lift": "lift",
    },
    required: ["Sender", "Vehicle"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#sender").fill(p.text("Sender"));
      await page.locator("#pickup").fill(p.text("Pick-up"));
      await page.keyboard.press("Tab");
      await page.keyboard.press("Escape");
      await page.locator("#vehicle .vscomp-toggle-button").click();
      await page
        .locator(".vscomp-option")
        .filter({ hasText: p.text("Vehicle") })
        .locator("visible=true")
        .click();
      await page.locator("#goods .vscomp-toggle-button").click();
      for (const name of p.list("Goods"))
        await page.locator(".vscomp-option").filter({ hasText: name }).locator("visible=true").click();
      await page.locator("#sender").click();
      await page.locator("#weight").fill(p.text("Weight"));
      await page.getByLabel(p.text("Insurance")).check();
      await click(person, "Tail lift", page.getByLabel("Tail lift"));
    },
    send: "Book transport",
  },
  {
    id: "plain/quill-story",
    title: "Story",
    libraries: ["trix", "quill"],
    people: people({
      Title: ["The lighthouse", "Nine lives", "Orbit"],
      Abstract: ["A keeper learns to swim", "A cat goes to sea", "Two friends and a comet"],
      "Opening lines": ["It was cold that night", "Nobody saw her leave", "The engine fell silent"],
      Genre: ["Science fiction", "Crime", "Love"],
      Words: ["12000", "4500", "880"],
      "My first story": [true, false, true],
    }),
    wire: {
      Title: "title",
      Abstract: ["abstract", (text: string) => `<div>${text}</div>`],
      "Opening lines": ["opening", (text: string) => `<p>${text}</p>`],
      Genre: ["genre", { Crime: "cr", Love: "lo", "Science fiction": "sf" }],
      Words: "words",
      "My first story": ["first", on("yes")],
    },
    required: ["Title", "Abstract"],
    answer: redirect("The story is not complete."),
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Title").fill(p.text("Title"));
      await type(page, page.locator("trix-editor"), p.text("Abstract"));
      await type(page, page.locator(".ql-editor"), p.text("Opening lines"));
      await page.getByLabel("Genre").selectOption({ label: p.text("Genre") });
      await page.getByLabel("Words").fill(p.text("Words"));
      await click(person, "My first story", page.getByLabel("My first story"));
    },
    send: "Hand in",
  },
  {
    id: "plain/treeselectjs-stock",
    title: "Stock",
    libraries: ["treeselectjs", "dual-listbox", "@simonwep/pickr"],
    people: people({
      Article: ["Flour", "Paint", "Rope"],
      "Store room": ["Dry store", "Cold store", "Attic"],
      Colour: ["#C02040", "#20C040", "#4020C0"],
      Suppliers: [["Fink GmbH"], ["Amsel KG", "Star eG"], ["Amsel KG", "Drossel AG", "Fink GmbH"]],
      Quantity: [12, 40, 7],
      Fragile: [true, false, true],
    }),
    wire: {
      Article: "article",
      "Store room": ["room", { "Cold store": "g1", "Dry store": "g2", Attic: "f1" }],
      Colour: "colour",
      Suppliers: ["suppliers", { "Amsel KG": "s1", "Drossel AG": "s2", "Fink GmbH": "s3", "Star eG": "s4" }],
      Quantity: "quantity",
      Fragile: "fragile",
    },
    required: ["Article", "Store room"],
    answer: byFlag({ state: "stored" }, { state: "refused" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("[name=article]").fill(p.text("Article"));
      await page.locator(".treeselect-input").click();
      await page
        .locator(".treeselect-list__item")
        .filter({ hasText: p.text("Store room") })
        .click();
      await page.locator(".pickr button").click();
      await page.locator(".pcr-result").fill(p.text("Colour"));
      await page.locator(".pcr-save").click();
      for (const name of p.list("Suppliers"))
        await page.locator(".dual-listbox__available .dual-listbox__item").filter({ hasText: name }).dblclick();
      await page.locator("[name=quantity]").fill(p.text("Quantity"));
      await click(person, "Fragile", page.locator("[name=fragile]"));
    },
    send: "Store",
  },
  {
    id: "plain/summernote-ad",
    title: "Small ad",
    libraries: ["summernote", "timepicker", "spectrum-colorpicker2", "jquery-mask-plugin"],
    people: people({
      Heading: ["Old bicycle", "Two kittens", "Gardener wanted"],
      Phone: ["555 123 4567", "555 987 6543", "555 246 8135"],
      "Call at": ["18:30", "09:15", "12:45"],
      "Frame colour": ["#c02040", "#20c040", "#4020c0"],
      Section: ["Jobs", "Vehicles", "Pets"],
      Text: ["Needs new tyres", "Very tame", "Twice a week"],
      "In bold": [true, false, true],
    }),
    wire: {
      Heading: "heading",
      Phone: "phone",
      "Call at": "call",
      "Frame colour": "frame",
      Section: ["section", { Vehicles: "veh", Pets: "pet", Jobs: "job" }],
      Text: ["text", (text: string) => `<p>${text}</p>`],
      "In bold": ["bold", on("1")],
    },
    required: ["Heading", "Section"],
    answer: again("Your ad is online.", "Your ad is not complete."),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#heading").fill(p.text("Heading"));
      await type(page, page.locator("#phone"), p.text("Phone"));
      await page.locator("#call").fill(p.text("Call at"));
      await page.keyboard.press("Tab");
      await page.locator("#frame").fill(p.text("Frame colour"));
      await page.locator("#heading").click();
      await page.locator("#section").selectOption({ label: p.text("Section") });
      await type(page, page.locator(".note-editable"), p.text("Text"));
      await click(person, "In bold", page.getByLabel("In bold"));
    },
    send: "Place ad",
  },
  {
    id: "plain/litepicker-cabin",
    title: "Cabin",
    libraries: ["litepicker", "multiple-select", "awesomplete"],
    people: people({
      "Booked by": NAMES,
      Stay: ["2026-12-07 - 2026-12-11", "2027-01-12 - 2027-01-15", "2026-12-20 - 2027-01-04"],
      Cabin: ["Deer cabin", "Fox cabin", "Owl cabin"],
      Meals: [["Dinner"], ["Breakfast", "Picnic"], ["Breakfast", "Lunch", "Dinner"]],
      Country: ["Sweden", "Austria", "Estonia"],
      Sledges: [2, 1, 4],
      "With a dog": [true, false, true],
    }),
    wire: {
      "Booked by": "guest",
      Stay: ["from", (text: string) => text.slice(0, 10)],
      Cabin: ["cabin", { "Fox cabin": "7", "Owl cabin": "8", "Deer cabin": "9" }],
      Meals: ["meals", { Breakfast: "br", Lunch: "lu", Dinner: "di", Picnic: "pi" }],
      Country: "country",
      Sledges: "sledges",
      "With a dog": ["dog", on("y")],
    },
    required: ["Booked by", "Cabin"],
    answer: again("The cabin is yours.", "The cabin was not booked."),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#guest").fill(p.text("Booked by"));
      await page.locator("#stay").click();
      for (const one of p.text("Stay").split(" - ")) {
        const [year = 0, month = 0, date = 0] = one.split("-").map(Number);
        const name = new Date(Date.UTC(year, month - 1, 15)).toLocaleString("en-US", {
          month: "long",
          timeZone: "UTC",
        });
        const box = page
          .locator(".month-item")
          .filter({ hasText: name })
          .filter({ hasText: String(year) });
        for (let i = 0; i < 12 && (await box.count()) === 0; i++)
          await page.locator(".button-next-month").last().click();
        await box
          .locator(".day-item")
          .filter({ hasText: new RegExp(`^${date}$`) })
          .first()
          .click();
      }
      await page.locator("#cabin").selectOption({ label: p.text("Cabin") });
      await page.locator(".ms-choice").click();
      for (const name of p.list("Meals"))
        await page.locator(".ms-drop li").filter({ hasText: name }).locator("label").click();
      await page.locator("#guest").click();
      await type(page, page.locator("#country"), p.text("Country"));
      await page.keyboard.press("Escape");
      await page.locator("#sledges").fill(p.text("Sledges"));
      await click(person, "With a dog", page.getByLabel("With a dog"));
    },
    send: "Book cabin",
  },
  {
    id: "plain/uppy-permit",
    title: "Fishing permit",
    libraries: ["@uppy/dashboard", "pristinejs"],
    people: people({
      Angler: NAMES,
      "E-mail": ["ann.lee@example.com", "bo@fernandez.example", "c.okoro@example.org"],
      Lake: ["Reed mere", "Trout lake", "Mill pond"],
      Licence: ["licence-lee.pdf", "fernandez.png", "okoro-2026.pdf"],
      "First day": DAYS,
      Rods: [2, 1, 4],
      "Night fishing": [true, false, true],
    }),
    wire: {
      Angler: "angler",
      "E-mail": "mail",
      Lake: ["lake", { "Trout lake": "L1", "Mill pond": "L2", "Reed mere": "L3" }],
      Licence: ["licence", (name: string) => `stored/${name}`],
      "First day": "from",
      Rods: "rods",
      "Night fishing": "night",
    },
    required: ["Angler", "Lake"],
    answer: byFlag({ permit: "P-3" }, { permit: "" }),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#angler").fill(p.text("Angler"));
      await page.locator("#mail").fill(p.text("E-mail"));
      await page.locator("#lake").selectOption({ label: p.text("Lake") });
      const stored = page.waitForResponse(/upload/);
      await page
        .locator("#drop input[type=file]")
        .first()
        .setInputFiles({ name: p.text("Licence"), mimeType: "application/pdf", buffer: Buffer.from("x") });
      await stored;
      await page.locator("#from").fill(p.text("First day"));
      await page.locator("#rods").fill(p.text("Rods"));
      await click(person, "Night fishing", page.getByLabel("Night fishing"));
    },
    send: "Apply for permit",
  },
  {
    id: "plain/turbo-membership",
    title: "Membership",
    libraries: ["@hotwired/turbo", "@hotwired/stimulus", "stimulus-autocomplete"],
    people: people({
      "Full name": NAMES,
      Town: ["Kemi", "Oulu", "Vaasa"],
      Membership: ["Pupil", "Single", "Family"],
      "Start date": DAYS,
      "Yearly gift": ["25", "100", "60"],
      Interests: [["Insects"], ["Birds", "Plants"], ["Birds", "Plants", "Insects"]],
      "Paper by post": [true, false, true],
    }),
    wire: {
      "Full name": "member[name]",
      Town: ["member[town]", { Kemi: "KEM", Oulu: "OUL", Vaasa: "VAA" }],
      Membership: ["member[type]", { Single: "single", Family: "family", Pupil: "pupil" }],
      "Start date": "member[start]",
      "Yearly gift": "member[gift]",
      Interests: ["member[interests][]", { Birds: "bi", Plants: "pl", Insects: "in" }],
      "Paper by post": ["member[paper]", (is: boolean) => (is ? ["0", "1"] : "0")],
    },
    required: ["Full name", "Town"],
    lookup: ["Kemi", "Kotka", "Oulu", "Vaasa"],
    answer: ({ accepted, missing }) =>
      accepted
        ? { status: 200, html: '<turbo-frame id="membership"><h2>Welcome among us</h2></turbo-frame>' }
        : { status: 422, html: `<turbo-frame id="membership"><p>Missing: ${missing.join(", ")}</p></turbo-frame>` },
    async fill(page, person) {
      const p = of(person);
      await page.getByLabel("Full name").fill(p.text("Full name"));
      await type(page, page.locator("#m_town"), p.text("Town").slice(0, 3));
      await page.getByRole("option", { name: p.text("Town") }).click();
      await page.locator("#m_type").selectOption({ label: p.text("Membership") });
      await page.getByLabel("Start date").fill(p.text("Start date"));
      await page.getByLabel("Yearly gift").fill(p.text("Yearly gift"));
      for (const name of p.list("Interests")) await page.getByLabel(name).check();
      await click(person, "Paper by post", page.getByLabel("Paper by post"));
    },
    send: "Become a member",
  },
  {
    id: "plain/smartwizard-insurance",
    title: "Car insurance",
    libraries: ["smartwizard"],
    people: people({
      "Policy holder": NAMES,
      "Born on": ["1990-04-03", "2001-11-22", "1978-08-15"],
      "Number plate": ["B-XY 123", "M-AB 77", "HH-CD 9"],
      Make: ["Volvo", "Fiat", "Skoda"],
      "Kilometres a year": [8000, 15000, 22000],
      Cover: ["Comprehensive", "Liability", "Partial"],
      "Road assistance": [true, false, true],
    }),
    wire: {
      "Policy holder": "name",
      "Born on": "born",
      "Number plate": "plate",
      Make: ["make", { Fiat: "1", Skoda: "2", Volvo: "3" }],
      "Kilometres a year": "km",
      Cover: ["cover", { Liability: "l", Partial: "p", Comprehensive: "c" }],
      "Road assistance": ["help", on("1")],
    },
    required: ["Policy holder", "Make"],
    answer: redirect("Your entries are incomplete"),
    async fill(page, person) {
      const p = of(person);
      const next = () => page.getByRole("button", { name: "Next" }).click();
      await page.getByLabel("Policy holder").fill(p.text("Policy holder"));
      await page.getByLabel("Born on").fill(p.text("Born on"));
      await next();
      await page.getByLabel("Number plate").fill(p.text("Number plate"));
      await page.getByLabel("Make").selectOption({ label: p.text("Make") });
      await page.getByLabel("Kilometres a year").fill(p.text("Kilometres a year"));
      await next();
      await page.getByLabel(p.text("Cover")).check();
      await click(person, "Road assistance", page.getByLabel("Road assistance"));
    },
    send: async (page) => {
      const go = page.getByRole("button", { name: "Ask for an offer" });
      if (await go.isVisible()) await go.click();
    },
  },
];
