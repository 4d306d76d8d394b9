import { click, of, pick, press, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, graphql, NAMES, people } from "../page.js";

export const pages: ComponentPage[] = [
  {
    id: "react/patternfly-access",
    title: "Access request",
    libraries: ["@patternfly/react-core"],
    people: people({
      Requester: NAMES,
      System: ["Customer base", "Data warehouse", "Accounting"],
      Groups: [["Auditors"], ["Finance", "Support desk"], ["Finance", "Operations", "Auditors"]],
      "Valid from": ["2027-02-03", "2026-12-19", "2027-01-28"],
      "Active at": ["08:30", "14:00", "19:30"],
      Seats: [4, 11, 7],
      "Access level": ["Write", "Read", "Administer"],
      Reason: ["New colleague", "Audit of the year", "Moved to sales"],
      Urgent: [true, false, true],
    }),
    wire: {
      Requester: "requester",
      System: ["system", { Accounting: "erp", "Customer base": "crm", "Data warehouse": "dwh" }],
      Groups: ["groups", { Finance: "fin", Operations: "ops", Auditors: "aud", "Support desk": "it" }],
      "Valid from": "from",
      "Active at": "at",
      Seats: "seats",
      "Access level": ["level", { Read: "r", Write: "w", Administer: "a" }],
      Reason: "reason",
      Urgent: "urgent",
    },
    required: ["Requester", "System"],
    answer: byStatus({ ticket: "ACC-7" }),
    async fill(page, person) {
      const p = of(person);
      for (const name of ["Requester", "Reason", "Seats"])
        await page.locator(`#${name.toLowerCase()}`).fill(p.text(name));
      await pick(page, page.locator("#system"), p.text("System"));
      await page.locator("#groups").click();
      for (const name of p.list("Groups")) await page.getByRole("menuitem", { name }).getByRole("checkbox").check();
      await page.keyboard.press("Escape");
      await page.locator("#from").fill(p.text("Valid from"));
      await page.locator("#at").fill(p.text("Active at"));
      await page.keyboard.press("Escape");
      await page.getByRole("radio", { name: p.text("Access level") }).check();
      await click(person, "Urgent", page.locator("label").filter({ hasText: "Urgent" }));
    },
    send: "File request",
  },
  {
    id: "react/widgets-claim",
    title: "Household claim",
    libraries: ["react-widgets", "react-currency-input-field", "input-otp", "formik"],
    people: people({
      "Policy holder": NAMES,
      Damage: ["Burst pipe", "Theft", "Fire"],
      "Date of damage": ["2026-11-02", "2026-08-27", "2026-10-15"],
      "Estimated loss": ["1250.55", "480.75", "99000.25"],
      Rooms: [["Cellar"], ["Bath", "Kitchen"], ["Bath", "Bedroom", "Kitchen"]],
      "Repair firm": ["Quick Fix", "Rohr Meister", "Hammer & Sons"],
      "Confirmation code": ["480213", "917350", "065284"],
      "Police informed": [true, false, true],
    }),
    wire: {
      "Policy holder": "variables.input.holder",
      Damage: ["variables.input.kind", { Fire: "fire", "Burst pipe": "water", Theft: "theft" }],
      "Date of damage": "variables.input.day",
      "Estimated loss": "variables.input.loss",
      Rooms: "variables.input.rooms",
      "Repair firm": "variables.input.repair",
      "Confirmation code": "variables.input.code",
      "Police informed": "variables.input.police",
    },
    required: ["Policy holder", "Damage"],
    answer: graphql("fileClaim"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Policy holder");
      await page.locator(".rw-dropdown-list").click();
      await page.getByRole("option", { name: p.text("Damage") }).click();
      await page.locator("#day_input").fill(day(p.text("Date of damage"), "M/D/YYYY"));
      await page.keyboard.press("Tab");
      await page.locator("#loss").fill(p.text("Estimated loss"));
      await page.getByRole("button", { name: "Continue" }).click();
      for (const room of p.list("Rooms")) {
        await page.locator(".rw-multiselect input").click();
        await page.getByRole("option", { name: room, exact: true }).click();
      }
      await page.locator("#repair_input").fill(p.text("Repair firm"));
      await page.keyboard.press("Tab");
      await page.locator("#code").fill(p.text("Confirmation code"));
      await click(person, "Police informed", page.getByLabel("Police informed"));
    },
    async send(page) {
      if (await page.getByRole("button", { name: "Continue" }).isVisible())
        await page.getByRole("button", { name: "Continue" }).click();
      else await page.getByRole("button", { name: "File claim" }).click();
    },
  },
  {
    id: "vue/oruga-excursion",
    title: "School excursion",
    libraries: ["@oruga-ui/oruga-next", "vue-multiselect"],
    people: people({
      Leader: NAMES,
      Town: ["Heidelberg", "Weimar", "Lübeck"],
      Date: ["2026-12-10", "2027-01-19", "2027-02-05"],
      "Meeting time": ["07:45", "08:10", "09:30"],
      Transport: ["Train", "Boat", "Coach"],
      Sights: [["castle"], ["market", "museum"], ["abbey", "harbour", "theatre"]],
      Price: [18, 35, 27],
      Lunch: ["Restaurant", "Picnic", "No lunch"],
      "With a guide": [true, false, true],
    }),
    lookup: ["Heidelberg", "Hildesheim", "Lübeck", "Lüneburg", "Weimar", "Wismar"],
    wire: {
      Leader: "leader",
      Town: "town",
      Date: ["day", (iso: string) => day(iso, "DD.MM.YYYY")],
      "Meeting time": "meet",
      Transport: ["transport", { Coach: "bu", Train: "tr", Boat: "bo" }],
      Sights: "sights[]",
      Price: "price",
      Lunch: ["lunch", { Picnic: "pic", Restaurant: "res", "No lunch": "non" }],
      "With a guide": ["guide", (on: boolean) => (on ? "yes" : "no")],
    },
    required: ["Leader", "Town"],
    answer: byStatus(),
    async fill(page, person) {
      const p = of(person);
      await page.locator("#leader").fill(p.text("Leader"));
      await type(page, page.locator("#town"), p.text("Town").slice(0, 4));
      await page
        .locator(".o-autocomplete__item")
        .filter({ hasText: p.text("Town") })
        .click();
      await page.locator("input#day").fill(day(p.text("Date"), "DD/MM/YYYY"));
      await page.keyboard.press("Enter");
      await page.locator("input#meet").fill(p.text("Meeting time"));
      await page.keyboard.press("Enter");
      await page.locator(".multiselect").click();
      await page
        .locator(".multiselect__option")
        .filter({ hasText: p.text("Transport") })
        .click();
      for (const sight of p.list("Sights")) {
        await type(page, page.locator("#sights"), sight);
        await page.waitForTimeout(600);
        await page.keyboard.press("Enter");
      }
      await page.getByRole("slider").focus();
      await press(page, "ArrowRight", p.number("Price") - 10);
      await page.getByText(p.text("Lunch"), { exact: true }).click();
      await click(person, "With a guide", page.getByText("With a guide"));
    },
    send: "Announce",
  },
  {
    id: "vue/bvnext-article",
    title: "Bookshop article",
    libraries: ["bootstrap-vue-next", "@tiptap/vue-3", "vue3-otp-input"],
    people: people({
      "Article name": ["The long way", "Soups of the north", "By rail to Oslo"],
      Shelf: ["Novels", "Cooking", "Travel"],
      Copies: [6, 14, 3],
      Tags: [["new"], ["soup", "winter"], ["norway", "railway", "maps"]],
      Binding: ["Paperback", "Hardcover", "E-book"],
      Blurb: ["A quiet tale of two sisters", "Forty soups for long nights", "All trains and all times"],
      "Editor's PIN": ["4821", "7305", "1946"],
      "Cover picture": ["way.png", "soups.jpg", "rail.png"],
      "On sale": [true, false, true],
    }),
    wire: {
      "Article name": "article.name",
      Shelf: ["article.shelf", { Novels: "s4", Travel: "s7", Cooking: "s9" }],
      Copies: "article.copies",
      Tags: "article.tags",
      Binding: ["article.binding", { Hardcover: "h", Paperback: "p", "E-book": "e" }],
      Blurb: ["article.blurb", (text: string) => `<p>${text}</p>`],
      "Editor's PIN": "article.pin",
      "Cover picture": "article.cover",
      "On sale": "article.sale",
    },
    required: ["Article name", "Shelf"],
    answer: byFlag({ saved: true, id: 5 }, { saved: false }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Article name");
      await page.locator("#shelf").selectOption({ label: p.text("Shelf") });
      await page.locator("#copies").focus();
      await press(page, "ArrowUp", p.number("Copies") - 1);
      for (const tag of p.list("Tags")) {
        await type(page, page.locator("#tags"), `${tag},`);
      }
      await page.getByText(p.text("Binding"), { exact: true }).click();
      await type(page, page.locator(".tiptap"), p.text("Blurb"));
      await type(page, page.locator(".otp-input").first(), p.text("Editor's PIN"));
      const file = { name: p.text("Cover picture"), mimeType: "image/png", buffer: Buffer.from("x") };
      await page.locator("input[type=file]").setInputFiles(file);
      await click(person, "On sale", page.getByLabel("On sale"));
    },
    send: "Save article",
  },
  {
    id: "vue/arcovue-exhibit",
    title: "Exhibit",
    libraries: ["@arco-design/web-vue"],
    people: people({
      Title: ["Light and shade", "Boats of the lake", "Forty chairs"],
      Room: ["Library", "Cube", "Roof"],
      Shown: ["2026-12-05 - 2026-12-20", "2027-01-09 - 2027-01-30", "2026-11-07 - 2026-11-22"],
      Artist: ["Anna Berg", "Otto Lind", "Carla Neri"],
      "Wall colour": ["#165DFF", "#00B42A", "#F53F3F"],
      Lenders: [["Louvre"], ["Prado", "Tate"], ["Albertina", "Uffizi", "Kiasma"]],
      Staff: [["Guide"], ["Guard", "Cashier"], ["Guide", "Cashier", "Technician"]],
      Entry: ["Reduced", "Free", "Full price"],
      "Curator's code": ["7319", "2840", "5562"],
      "With music": [true, false, true],
    }),
    lookup: ["Anna Berg", "Anton Brug", "Carla Neri", "Carlo Nono", "Otto Lind", "Otto Lund"],
    wire: {
      Title: "exhibit.title",
      Room: ["exhibit.room", { Library: "o2", Cube: "n1", Roof: "n2" }],
      Shown: ["exhibit.opens", (range: string) => range.slice(0, 10)],
      Artist: "exhibit.artist",
      "Wall colour": "exhibit.wall",
      Lenders: "exhibit.lenders",
      Staff: ["exhibit.staff", { Guard: "gua", Guide: "gui", Cashier: "cas", Technician: "tec" }],
      Entry: ["exhibit.entry", { Free: 0, Reduced: 5, "Full price": 9 }],
      "Curator's code": "exhibit.pin",
      "With music": "exhibit.loud",
    },
    required: ["Title", "Room"],
    answer: byStatus({ exhibit: 12 }),
    async fill(page, person) {
      const p = of(person);
      const item = (label: string) => page.locator(".arco-form-item").filter({ hasText: label });
      await item("Title").locator("input").fill(p.text("Title"));
      await item("Room").locator(".arco-select-view-single").click();
      await page
        .locator(".arco-tree-node-title")
        .filter({ hasText: p.text("Room") })
        .click();
      for (const [i, iso] of p.text("Shown").split(" - ").entries()) {
        await page.locator(".arco-picker-range input").nth(i).click();
        await page.keyboard.press("ControlOrMeta+A");
        await page.keyboard.type(iso);
        await page.locator(`.arco-picker-cell-in-view.arco-picker-cell-range-${i === 0 ? "start" : "end"}`).click();
      }
      await type(page, item("Artist").locator("input"), p.text("Artist").slice(0, 4));
      await page
        .locator(".arco-select-option")
        .filter({ hasText: p.text("Artist") })
        .click();
      await page.locator(".arco-color-picker").click();
      await page.locator(".arco-color-picker-input-hex input").fill(p.text("Wall colour").slice(1));
      await page.keyboard.press("Tab");
      await page.mouse.click(700, 40);
      for (const lender of p.list("Lenders")) {
        await type(page, item("Lenders").locator("input"), lender);
        await page.keyboard.press("Enter");
      }
      for (const name of p.list("Staff")) await page.locator(".arco-transfer-view-source").getByText(name).click();
      await page.locator(".arco-transfer button").first().click();
      await page.getByText(p.text("Entry"), { exact: true }).click();
      await type(page, page.locator(".arco-verification-code input").first(), p.text("Curator's code"));
      await click(person, "With music", page.getByRole("switch"));
    },
    send: "Announce exhibit",
  },
  {
    id: "svelte/svelecte-trip",
    title: "Trip wishes",
    libraries: ["svelecte", "date-picker-svelte", "svelte-range-slider-pips"],
    people: people({
      Traveller: NAMES,
      Region: ["Lake country", "Alps", "Baltic coast"],
      Likes: [["Museums"], ["Castles", "Hiking"], ["Hiking", "Museums", "Swimming"]],
      Departure: ["2026-12-28", "2027-02-14", "2027-03-06"],
      "Least budget": [30, 15, 42],
      "Most budget": [95, 64, 110],
      Nights: [3, 10, 7],
      Board: ["Breakfast", "Full board", "None"],
      Remarks: ["A quiet room", "We come with a dog", "Late arrival"],
      "Send me offers": [true, false, true],
    }),
    wire: {
      Traveller: "variables.trip.name",
      Region: ["variables.trip.region", { Alps: "al", "Baltic coast": "ba", "Lake country": "la" }],
      Likes: [
        "variables.trip.likes",
        { Castles: "castles", Hiking: "hiking", Museums: "museums", Swimming: "swimming" },
      ],
      Departure: "variables.trip.leave",
      "Least budget": "variables.trip.budget.least",
      "Most budget": "variables.trip.budget.most",
      Nights: "variables.trip.nights",
      Board: ["variables.trip.board", { None: "n", Breakfast: "b", "Full board": "f" }],
      Remarks: "variables.trip.remarks",
      "Send me offers": "variables.trip.newsletter",
    },
    required: ["Traveller", "Region"],
    answer: graphql("askTrip"),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Traveller", "Nights", "Remarks");
      await page.locator("#region").focus();
      await page.keyboard.type(p.text("Region"));
      await page.keyboard.press("Enter");
      for (const name of p.list("Likes")) {
        await page.locator("#likes").focus();
        await page.keyboard.type(name);
        await page.keyboard.press("Enter");
      }
      await page.keyboard.press("Escape");
      await page
        .locator("#leave, .date-time-field input")
        .last()
        .fill(day(p.text("Departure"), "DD.MM.YYYY"));
      await page.keyboard.press("Escape");
      for (const [name, from] of [
        ["Least budget", 20],
        ["Most budget", 80],
      ] as const) {
        await page.getByRole("slider", { name }).focus();
        const ahead = p.number(name) - from;
        await press(page, ahead > 0 ? "ArrowRight" : "ArrowLeft", Math.abs(ahead));
      }
      await page.getByLabel(p.text("Board"), { exact: true }).check();
      await click(person, "Send me offers", page.getByLabel("Send me offers"));
    },
    send: "Ask for a trip",
  },
];
