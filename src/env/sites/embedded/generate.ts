import { Rng } from "../../../core/rng.js";
import type { Tier } from "../../site.js";
import * as fields from "./fields.js";
import { type Form, fieldsOf, form } from "./form.js";
import { options } from "./options.js";
import { drawRecord, type FormRecord } from "./records.js";
import * as values from "./values.js";

/** A domain: its title's word, who and what its forms are about, the things to choose from, the boxes. */
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
  .map(
    (row) =>
      row.split("|").map((cell) => cell.split(",")) as [string[], string[], string[], string[], string[], string[]],
  );

const PURPOSES = "Booking Application Report Survey Renewal Inquiry Claim Notice Sign-up Handbook".split(" ");
const GRADES = ["Basic,Comfort,Premium", "Bronze Plan,Silver Plan,Gold Plan", "Short,Long", "Left,Middle,Right"];

/** Kinds of fields: who or what they are of, and the rest of the label. */
type Maker = (label: string, name: string, rng: Rng, things: readonly string[]) => fields.Field;
const limits = (rng: Rng): [number, number] => [1, 5 + 5 * rng.int(10)];
const PERSON_ASPECTS: readonly (readonly [aspect: string, make: Maker])[] = [
  ["Full Name", (l, n) => fields.text(l, n, values.person)],
  ["Surname", (l, n) => fields.text(l, n, values.family)],
  ["Hometown", (l, n) => fields.text(l, n, values.city)],
  ["Residence", (l, n) => fields.text(l, n, values.street)],
  ["Mail", (l, n) => fields.email(l, n)],
  ["Mobile", (l, n) => fields.tel(l, n)],
  ["Birthday", (l, n) => fields.birthday(l, n)],
  ["Employer", (l, n) => fields.text(l, n, values.company)],
];
const THING_ASPECTS: typeof PERSON_ASPECTS = [
  ["Code", (l, n) => fields.text(l, n, values.code)],
  ["Nickname", (l, n) => fields.text(l, n, values.title)],
  ["Quantity", (l, n, rng) => fields.number(l, n, ...limits(rng))],
  ["Deadline", (l, n) => fields.date(l, n)],
  ["Opening", (l, n) => fields.time(l, n)],
  ["Variety", (l, n, _, things) => fields.select(l, n, options(...things))],
  ["Option", (l, n, _, things) => fields.radio(l, n, options(...things))],
  ["Grade", (l, n, rng) => fields.select(l, n, options(...rng.pick(GRADES).split(",")))],
];

const ID = /^made\/(\d+)-(\d+)$/;
const known = new Map<string, Form>();

/** The generated form of this id (`made/<seed>-<index>`); undefined where it is no such id. */
export function generatedForm(id: string): Form | undefined {
  const [, seed, index] = ID.exec(id) ?? [];
  if (seed === undefined || index === undefined) return undefined;
  const found = known.get(id) ?? make(id, Rng.named(Number(seed), `generated/${index}`));
  known.set(id, found);
  return found;
}

/** Makes so many forms from a seed: the same bytes every time. */
export function generatedForms(seed: number, count: number): Form[] {
  return Array.from({ length: count }, (_, index) => generatedForm(`made/${seed}-${index}`) as Form);
}

function make(id: string, rng: Rng): Form {
  const [domain, title, people, things, kinds, boxes] = rng.pick(DOMAINS);
  const stock: [label: string, make: Maker][] = [
    ...people.flatMap((who) => PERSON_ASPECTS.map(([aspect, build]): [string, Maker] => [`${who} ${aspect}`, build])),
    ...things.flatMap((thing) =>
      THING_ASPECTS.map(([aspect, build]): [string, Maker] => [`${thing} ${aspect}`, build]),
    ),
  ];
  const ticks = boxes.map((label): [string, Maker] => [label, (l, n) => fields.check(l, n)]);
  const names = rng.shuffle(Array.from({ length: 90 }, (_, i) => `f${i + 10}`));
  const shuffled = rng.shuffle(stock);
  const chosen = rng.shuffle([...shuffled.slice(0, 3 + rng.int(3)), ...ticks.slice(0, rng.int(2))]);
  const more = [...shuffled.slice(5, 8 + rng.int(6)), ...ticks.slice(1)];
  let required = true;
  const all = [...chosen, ...more].map(([label, build], i) => {
    const field = build(label, names[i] as string, rng, rng.shuffle(kinds));
    const first = required && field.kind === "text";
    required &&= !first;
    return first ? { ...field, required: true, star: true } : field;
  });
  const heading = `${title[0]} ${rng.pick(PURPOSES)}`;
  return form(
    id,
    heading,
    `For everybody of the ${domain[0]}.`,
    chosen.map(([label]) => label),
    all,
  );
}

/** The one record of a generated form. */
export function recordOf(made: Form, tier: Tier, seed: number): FormRecord {
  return drawRecord(fieldsOf(made, tier), Rng.named(seed, `generated/${tier}/${made.id}`), true);
}
