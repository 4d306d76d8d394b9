import { Rng } from "../../core/rng.js";
import type { Tier } from "../../env/site.js";
import { type FieldSpec, field } from "./fields.js";
import { type Form, fieldsOf, formOfFields } from "./form.js";
import { drawRecord, type FormRecord } from "./records.js";

/** Domains: name, word of the title, persons, things, options to choose from, checkboxes. */
const DOMAINS = `
boats|Mooring|Skipper,Deckhand|Hull,Berth,Sail|Pontoon,Buoy,Jetty|Shore Power,Night Watch
bakery|Bakery|Baker,Apprentice|Loaf,Oven,Dough|Rye,Wheat,Spelt|Sliced Bread,Gluten Check
museum|Exhibit|Curator,Sculptor|Gallery,Statue,Canvas|Bronze,Marble,Clay|Wall Label,Glass Cover
clinic|Clinic|Patient,Nurse|Ward,Therapy,Remedy|Eyes,Teeth,Skin|Wheelchair Access,Quiet Bed
school|Course|Pupil,Teacher|Lesson,Class,Homework|Maths,History,Chemistry|Lunch Included,Laptop Loan
farm|Harvest|Farmer,Picker|Field,Crop,Barn|Barley,Oats,Lentils|Organic Seed,Tractor Hire
cinema|Screening|Director,Projectionist|Film,Reel,Trailer|Comedy,Drama,Western|Subtitles Shown,Popcorn Included
bicycle|Bicycle|Cyclist,Mechanic|Frame,Wheel,Saddle|Touring,Racing,Cargo|Spare Tube,Lock Included
theatre|Theatre|Actor,Prompter|Costume,Scene,Rehearsal|Tragedy,Musical,Puppetry|Stage Smoke,Understudy Needed
laundry|Laundry|Tenant,Washer|Basket,Linen,Curtain|Cotton,Wool,Silk|Iron Shirts,Stain Removal
camp|Camp|Scout,Warden|Tent,Trail,Campfire|Forest,Lakeside,Dune|Firewood Included,Sleeping Bag
workshop|Workshop|Carpenter,Joiner|Bench,Cabinet,Plank|Pine,Walnut,Ash|Safety Glasses,Varnish Finish
post|Parcel|Sender,Courier|Parcel,Stamp,Envelope|Standard,Express,Registered|Signature Needed,Fragile Content
choir|Choir|Singer,Conductor|Concert,Anthem,Solo|Soprano,Tenor,Bass|Sheet Music,Robe Loan
energy|Meter|Landlord,Electrician|Meter,Boiler,Cable|Gas,Solar,Oil|Smart Reading,Paper Bill
rescue|Rescue|Diver,Ranger|Beacon,Rope,Stretcher|Alpine,Coastal,Cave|Radio Carried,First Aid`
  .trim()
  .split("\n")
  .map((row) => row.split("|").map((cell) => cell.split(",")));

const PURPOSES = "Booking Application Report Survey Renewal Inquiry Claim Notice Sign-up Handbook".split(" ");
const GRADES = ["Basic,Comfort,Premium", "Bronze Plan,Silver Plan,Gold Plan", "Short,Long", "Left,Middle,Right"];

/** A label, or its last word, and what makes the specification of its field. */
type Maker = readonly [label: string, make: (rng: Rng, things: readonly string[]) => Omit<FieldSpec, "name">];
const PERSON_ASPECTS: readonly Maker[] = [
  ["Full Name", () => ({ kind: "text", of: "person" })],
  ["Surname", () => ({ kind: "text", of: "family" })],
  ["Hometown", () => ({ kind: "text", of: "city" })],
  ["Residence", () => ({ kind: "text", of: "street" })],
  ["Mail", () => ({ kind: "email" })],
  ["Mobile", () => ({ kind: "tel" })],
  ["Birthday", () => ({ kind: "date", of: [1950, 2009] })],
  ["Employer", () => ({ kind: "text", of: "company" })],
];
const THING_ASPECTS: readonly Maker[] = [
  ["Code", () => ({ kind: "text", of: "code" })],
  ["Nickname", () => ({ kind: "text", of: "title" })],
  ["Quantity", (rng) => ({ kind: "number", of: [1, 5 + 5 * rng.int(10)] })],
  ["Deadline", () => ({ kind: "date" })],
  ["Opening", () => ({ kind: "time" })],
  ["Variety", (_, things) => ({ kind: "select", of: [...things] })],
  ["Option", (_, things) => ({ kind: "radio", of: [...things] })],
  ["Grade", (rng) => ({ kind: "select", of: rng.pick(GRADES).split(",") })],
];

const ID = /^made\/(\d+)-(\d+)$/;
const known = new Map<string, Form>();

/** Returns the generated form of an id (`made/<seed>-<index>`); undefined for any other id. */
export function generatedForm(id: string): Form | undefined {
  const [, seed, index] = ID.exec(id) ?? [];
  if (seed === undefined || index === undefined) return undefined;
  const found = known.get(id) ?? make(id, Rng.named(Number(seed), `generated/${index}`));
  known.set(id, found);
  return found;
}

/** Makes `count` forms from a seed: the same forms every time. */
export const generatedForms = (seed: number, count: number): Form[] =>
  Array.from({ length: count }, (_, index) => generatedForm(`made/${seed}-${index}`) as Form);

function make(id: string, rng: Rng): Form {
  const [domain = [], title = [], people = [], things = [], kinds = [], boxes = []] = rng.pick(DOMAINS);
  const each = (names: readonly string[], aspects: readonly Maker[]): Maker[] =>
    names.flatMap((name) => aspects.map(([aspect, build]): Maker => [`${name} ${aspect}`, build]));
  const stock = [...each(people, PERSON_ASPECTS), ...each(things, THING_ASPECTS)];
  const ticks = boxes.map((label): Maker => [label, () => ({ kind: "checkbox" })]);
  const names = rng.shuffle(Array.from({ length: 90 }, (_, i) => `f${i + 10}`));
  const shuffled = rng.shuffle(stock);
  const chosen = rng.shuffle([...shuffled.slice(0, 3 + rng.int(3)), ...ticks.slice(0, rng.int(2))]);
  const more = [...shuffled.slice(5, 8 + rng.int(6)), ...ticks.slice(1)];
  let required = true;
  const all = [...chosen, ...more].map(([label, build], i) => {
    const spec = { ...build(rng, rng.shuffle(kinds)), name: names[i] as string };
    const first = required && spec.kind === "text";
    required &&= !first;
    return field(label, { ...spec, required: first });
  });
  const heading = `${title[0]} ${rng.pick(PURPOSES)}`;
  const starter = chosen.map(([label]) => label);
  return formOfFields(id, { title: heading, intro: `For everybody of the ${domain[0]}.`, starter }, all);
}

/** Returns the only record of a generated form. */
export const recordOf = (made: Form, tier: Tier, seed: number): FormRecord =>
  drawRecord(fieldsOf(made, tier), Rng.named(seed, `generated/${tier}/${made.id}`), true);
