// Forms that do not exist and what people write who want to fill them in: letters, mails, chats, records and CVs, made from
// the tables of words.mjs. An environment of one's own (docs/extending.md): a policy sees a page and a text, and fills the
// page's blanks. Endless examples for `sft` (objective.augment=1); its tasks are for evaluation.
//   refusion-train sft --config configs/letters/smollm2-sft.yaml
import { defineEnvironment, pageObservation, Rng } from "refusion-train";
import { z } from "zod";
import * as w from "./words.mjs";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const two = (n) => String(n).padStart(2, "0");
const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const digits = (rng, n) => Array.from({ length: n }, () => rng.int(10)).join("");
const letters = (rng, n) => Array.from({ length: n }, () => "ABCDEFGHJKLMNPRSTUVWXYZ"[rng.int(23)]).join("");
const between = (rng, least, most) => least + rng.int(most - least + 1);
const chance = (rng, share) => rng.uniform() < share;

/** Stands around a value that is copied as it is, while its text is put together. */
const [OPEN, CLOSE] = ["\u0001", "\u0002"];
const copied = (text) => ({ said: `${OPEN}${text}${CLOSE}` });

function inWords(n) {
  if (n < 20) return ONES[n];
  return n > 99 ? undefined : `${TENS[Math.floor(n / 10) - 2]}${n % 10 === 0 ? "" : `-${ONES[n % 10]}`}`;
}

function ordinal(n) {
  return `${n}${(n > 10 && n < 14 ? "" : ["", "st", "nd", "rd"][n % 10]) || "th"}`;
}

function syllables(rng) {
  const part = () => "bcdfghjklmnprstvwz"[rng.int(18)] + "aeiou"[rng.int(5)] + ["", "n", "r", "l", "s"][rng.int(5)];
  return upper(Array.from({ length: 2 + rng.int(2) }, part).join(""));
}

const given = (rng) => (chance(rng, 0.12) ? syllables(rng) : rng.pick(w.GIVEN));
const family = (rng) => {
  const one = () => (chance(rng, 0.15) ? syllables(rng) : rng.pick(w.FAMILY));
  return chance(rng, 0.06) ? `${one()}-${one()}` : chance(rng, 0.06) ? `${one()} ${one()}` : one();
};
const personName = (rng) => `${given(rng)} ${family(rng)}`;
const town = (rng) => (chance(rng, 0.1) ? syllables(rng) : rng.pick(w.TOWNS));

function dateOf(rng, from, to) {
  const [y, m, d] = [between(rng, from, to), between(rng, 1, 12), between(rng, 1, 28)];
  return `${y}-${two(m)}-${two(d)}`;
}

/** A date as people write it. */
function spokenDate(iso, rng) {
  const [y, m, d] = iso.split("-").map(Number);
  const month = MONTHS[m - 1];
  const weekday = WEEKDAYS[new Date(Date.UTC(y, m - 1, d)).getUTCDay()];
  return rng.pick([
    iso,
    `${d} ${month} ${y}`,
    `${d} ${month} ${y}`,
    `${month} ${d}, ${y}`,
    `${two(d)}.${two(m)}.${y}`,
    `${d}.${m}.${y}`,
    `the ${ordinal(d)} of ${month} ${y}`,
    `${weekday}, ${d} ${month} ${y}`,
    `${weekday} the ${ordinal(d)} of ${month} ${y}`,
    `${month} ${ordinal(d)}, ${y}`,
    `${d} ${month.slice(0, 3)} ${y}`,
    `${y}/${two(m)}/${two(d)}`,
  ]);
}

function spokenTime(time, rng) {
  const [h, m] = time.split(":").map(Number);
  const [now, next] = [inWords(h % 12 || 12), inWords((h + 1) % 12 || 12)];
  const half = (hour) =>
    rng.pick(hour < 12 ? ["am", "in the morning"] : hour < 18 ? ["pm", "in the afternoon"] : ["pm", "in the evening"]);
  const spoken = {
    0:
      h === 12
        ? ["noon"]
        : [`${h % 12 || 12} ${half(h)}`, `${now} o'clock ${half(h)}`, `${h % 12 || 12}${h < 12 ? "am" : "pm"}`],
    15: [`quarter past ${now} ${half(h)}`, `a quarter past ${now} ${half(h)}`],
    30: [`half past ${now} ${half(h)}`],
    45: [`quarter to ${next} ${half((h + 1) % 24)}`],
  };
  return rng.pick([
    time,
    `${h % 12 || 12}.${two(m)} ${h < 12 ? "am" : "pm"}`,
    `${h % 12 || 12}:${two(m)} ${h < 12 ? "am" : "pm"}`,
    ...(spoken[m] ?? []),
  ]);
}

/** A whole number as people write it. */
function spokenNumber(n, rng) {
  if (n === 12 && chance(rng, 0.2)) return "a dozen";
  const words = inWords(n);
  return words !== undefined && chance(rng, n < 13 ? 0.6 : 0.25)
    ? words
    : n > 999 && chance(rng, 0.5)
      ? n.toLocaleString("en")
      : String(n);
}

const numeric = (n, kind, rng) =>
  kind === "text" ? copied(String(n)) : { said: spokenNumber(n, rng), value: String(n) };

/** What is asked for and how it is said: `value`, where the blank holds something else than the text does. */
const VALUES = {
  person: (_rng, _, who) => copied(who.person),
  given: (_rng, _, who) => copied(who.given),
  family: (_rng, _, who) => copied(who.family),
  role: (rng) => copied(chance(rng, 0.2) ? given(rng) : personName(rng)),
  email: (rng, _, { given, family }) =>
    copied(
      rng
        .pick([
          `${given}.${family}`,
          `${given[0]}.${family}`,
          family,
          `${given}${digits(rng, 2)}`,
          `${family}_${given}`,
        ])
        .toLowerCase()
        .replaceAll(/[^a-z0-9._-]/g, "") +
        `@${chance(rng, 0.2) ? `${syllables(rng).toLowerCase()}.example` : rng.pick(w.HOSTS)}`,
    ),
  tel: (rng) =>
    copied(
      rng.pick([
        `+${between(rng, 20, 99)} ${digits(rng, 3)} ${digits(rng, 3)} ${digits(rng, 3)}`,
        `+${between(rng, 20, 99)} ${digits(rng, 2)} ${digits(rng, 4)} ${digits(rng, 4)}`,
        `0${digits(rng, 3)} ${digits(rng, 7)}`,
        `0${digits(rng, 4)} ${digits(rng, 6)}`,
        `(0${digits(rng, 2)}) ${digits(rng, 4)}-${digits(rng, 3)}`,
        `0${digits(rng, 1)}-${digits(rng, 8)}`,
        `${digits(rng, 3)}-${digits(rng, 4)}`,
        `0${digits(rng, 2)}/${digits(rng, 6)}`,
      ]),
    ),
  street: (rng) => {
    const road = `${rng.pick(w.STREETS)} ${rng.pick(w.STREET_ENDINGS)}`;
    const n = between(rng, 1, 240);
    return copied(rng.pick([`${n} ${road}`, `${road} ${n}`, `${n}${"abc"[rng.int(3)]} ${road}`]));
  },
  town: (rng) => copied(town(rng)),
  birthplace: (rng) => copied(town(rng)),
  postcode: (rng) =>
    copied(
      rng.pick([
        digits(rng, 5),
        digits(rng, 4),
        `${letters(rng, 2)}${digits(rng, 1)} ${digits(rng, 1)}${letters(rng, 2)}`,
      ]),
    ),
  country: (rng) => copied(rng.pick(w.COUNTRIES)),
  birth: (rng) => dated(dateOf(rng, 1938, 2012), rng),
  age: (rng, kind) => numeric(between(rng, 6, 94), kind, rng),
  start: (rng, _, who) => dated(who.start, rng),
  end: (rng, _, who) => dated(who.end, rng),
  day: (rng) => dated(dateOf(rng, 2023, 2027), rng),
  time: (rng, kind) => {
    const time = `${two(between(rng, 7, 21))}:${rng.pick(["00", "15", "30", "45", "10", "20", "40", "05"])}`;
    const said = spokenTime(time, rng);
    return kind === "text" ? copied(said) : { said, value: time };
  },
  people: (rng, kind) => numeric(between(rng, 2, 24), kind, rng),
  count: (rng, kind) => numeric(between(rng, 2, chance(rng, 0.7) ? 20 : 400), kind, rng),
  hours: (rng, kind) => numeric(between(rng, 2, 48), kind, rng),
  money: (rng, kind) => {
    if (chance(rng, 0.3)) {
      const price = `${between(rng, 5, 990)}.${digits(rng, 2)}`;
      return copied(price);
    }
    return numeric(rng.pick([1, 5, 10, 50, 100]) * between(rng, 3, 95), kind, rng);
  },
  measure: (rng, kind) => numeric(between(rng, 3, 300), kind, rng),
  code: (rng) =>
    copied(
      rng.pick([
        `${letters(rng, 2)}-${digits(rng, 5)}`,
        digits(rng, between(rng, 5, 10)),
        `${letters(rng, 2)}${digits(rng, 7)}`,
        `${digits(rng, 2)}-${digits(rng, 4)}-${digits(rng, 1)}`,
        `${letters(rng, 1)}${digits(rng, 3)}/${digits(rng, 2)}`,
        `${letters(rng, 3)} ${digits(rng, 4)} ${digits(rng, 4)}`,
        `${digits(rng, 4)}${letters(rng, 2)}${digits(rng, 2)}`,
        `${letters(rng, 4)}-${letters(rng, 2)}${digits(rng, 3)}`,
      ]),
    ),
  account: (rng) =>
    copied(
      `${letters(rng, 2)}${digits(rng, 2)} ${Array.from({ length: between(rng, 3, 4) }, () => digits(rng, 4)).join(" ")}${chance(rng, 0.5) ? ` ${digits(rng, 2)}` : ""}`,
    ),
  plate: (rng) =>
    copied(
      rng.pick([
        `${letters(rng, 2)} ${digits(rng, 3)} ${letters(rng, 1)}`,
        `${letters(rng, 1)}-${letters(rng, 2)} ${digits(rng, 4)}`,
        `${letters(rng, 2)}${digits(rng, 2)} ${letters(rng, 3)}`,
      ]),
    ),
  firm: (rng) =>
    copied(
      rng.pick([
        `${family(rng)} ${rng.pick(w.FIRMS)}`,
        `${rng.pick(w.NOUNS)} ${rng.pick(w.FIRMS)}`,
        `${family(rng)} & ${family(rng)}`,
        `${syllables(rng)} Ltd`,
      ]),
    ),
  job: (rng) => copied(rng.pick(w.JOBS)),
  school: (rng) =>
    copied(
      rng.pick([
        `${town(rng)} University`,
        `University of ${town(rng)}`,
        `${family(rng)} College`,
        `${rng.pick(w.STREETS)} Street School`,
      ]),
    ),
  url: (rng) =>
    copied(
      `https://${rng.pick(["", "www.", "my-"])}${syllables(rng).toLowerCase()}.example${rng.pick(["", "", "/about", `/${syllables(rng).toLowerCase()}`])}`,
    ),
  product: (rng) => {
    const said = rng.pick(w.PRODUCTS);
    const article = /^(?:a|an|the|two) /.exec(said)?.[0] ?? "";
    return { said: `${article}${OPEN}${said.slice(article.length)}${CLOSE}` };
  },
  colour: (rng) => copied(rng.pick(w.COLOURS)),
  title: (rng) =>
    copied(
      rng.pick([
        `${rng.pick(w.NOUNS)} ${rng.pick(w.NOUNS)}`,
        `The ${rng.pick(w.NOUNS)}`,
        `${rng.pick(w.NOUNS)} of ${town(rng)}`,
        rng.pick(w.NOUNS),
        `${rng.pick(w.NOUNS)} and ${rng.pick(w.NOUNS)}`,
      ]),
    ),
  issue: (rng) => copied(rng.pick(w.ISSUES)),
  health: (rng) =>
    copied(rng.pick([rng.pick(w.SUBSTANCES), `${rng.pick(w.SUBSTANCES)} and ${rng.pick(w.SUBSTANCES)}`])),
};

const dated = (iso, rng) => ({ said: spokenDate(iso, rng), value: iso });

/** One field: its control, the value that is right (absent: whatever stands between the marks), what is said, a record's line. */
function aspectField(aspect, who, rng, side) {
  const kind = rng.pick(aspect.kinds);
  const role = aspect.value === "role" ? rng.pick(sideOf(w.ROLES, side)) : undefined;
  const label = role?.label ?? rng.pick(sideOf(aspect.labels, side));
  const { said, value } = VALUES[aspect.value](rng, kind, who);
  const say = role?.say ?? aspect.say;
  const key = rng.pick(role?.keys ?? aspect.keys);
  let options;
  let right = value;
  if (kind === "select") {
    const all = aspect.value === "country" ? w.COUNTRIES : w.COLOURS;
    const plain = said.slice(1, -1);
    options = [...new Set([plain, ...rng.shuffle(all).slice(0, between(rng, 2, 7))])].sort();
    if (aspect.value === "colour") options = options.map(upper);
    right = options.find((option) => option.toLowerCase() === plain.toLowerCase());
  }
  return {
    aspect: aspect.value,
    control: { label, kind, ...(options ? { options } : {}) },
    value: right,
    clause: say.length === 0 ? undefined : rng.pick(say).replace("{v}", said),
    line: `${key}: ${said}`,
    said,
  };
}

const keyOf = (label) =>
  label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "");

function choiceField(rng, side) {
  const { labels, options } = rng.pick(sideOf(w.CHOICES, side));
  const gone = chance(rng, 0.3) && options.length > 2 ? rng.int(options.length) : -1;
  const kept = options.filter((_, i) => i !== gone);
  const right = rng.pick(kept);
  const label = rng.pick(labels);
  const named = rng.pick([
    `${right.text.toLowerCase()} please`,
    `as for the ${rng.pick(labels).toLowerCase().replace(/\?$/, "")}: ${right.text.toLowerCase()}`,
  ]);
  return {
    aspect: labels[0],
    control: { label, kind: rng.pick(["select", "select", "radio"]), options: kept.map(({ text }) => text) },
    value: right.text,
    clause: chance(rng, 0.75) ? rng.pick(right.say) : named,
    line: `${keyOf(rng.pick(labels))}: ${chance(rng, 0.6) ? right.text.toLowerCase() : rng.pick(right.say)}`,
  };
}

function listField(rng, side) {
  const { labels, options } = rng.pick(sideOf(w.LISTS, side));
  const right = options.filter(() => chance(rng, 0.5));
  if (right.length === 0) right.push(rng.pick(options));
  const said = rng.shuffle(right).map((option) => (chance(rng, 0.4) ? option.text : rng.pick(option.say)));
  const all = said.length === 1 ? said[0] : `${said.slice(0, -1).join(", ")} and ${said.at(-1)}`;
  const label = rng.pick(labels);
  return {
    control: { label, kind: "checkbox-group", options: options.map(({ text }) => text) },
    value: right.map(({ text }) => text).join(", "),
    clause: rng.pick([
      `${label.toLowerCase().replace(/\?$/, "")}: ${all}`,
      `I would say ${all}`,
      `please put down ${all}`,
      `for me it is ${all}`,
      `there is ${all}`,
    ]),
    line: `${keyOf(rng.pick(labels))}: ${said.join(", ")}`,
  };
}

function flagField(rng, side) {
  const { labels, yes, no } = rng.pick(sideOf(w.FLAGS, side));
  const on = no.length === 0 || chance(rng, 0.6);
  const [label] = rng.shuffle(labels);
  return {
    control: { label, kind: "checkbox" },
    value: on ? "yes" : "no",
    clause: rng.pick(on ? yes : no),
    line: `${keyOf(rng.pick(labels))}: ${rng.pick(on ? ["yes", "true", "1", "y"] : ["no", "false", "0", "n"])}`,
  };
}

/** The rows of one side: every sixth is for forms that are never trained on. */
const sideOf = (rows, side) => (rows.length < 6 ? rows : rows.filter((_, i) => (i % 6 === 3) === (side === "heldout")));

/** Fields of a form with different labels, and no aspect twice. */
function fieldsOf(who, rng, side) {
  const wanted = between(rng, 3, 9);
  const taken = new Set();
  const fields = [];
  while (fields.length < wanted) {
    const sort = rng.uniform();
    let field;
    if (sort < 0.66) {
      const aspect = rng.pick(w.ASPECTS);
      const again = aspect.value !== "role" && aspect.value !== "code" && taken.has(aspect.value);
      if (again) continue;
      taken.add(aspect.value);
      field = aspectField(aspect, who, rng, side);
    } else field = sort < 0.82 ? choiceField(rng, side) : sort < 0.87 ? listField(rng, side) : flagField(rng, side);
    const id = field.control.label.toLowerCase();
    if (
      taken.has(id) ||
      (sort >= 0.66 && taken.has(field.aspect)) ||
      (field.control.kind === "checkbox-group" && fields.some(({ control }) => control.kind === "checkbox-group"))
    )
      continue;
    taken.add(id);
    if (field.aspect !== undefined) taken.add(field.aspect);
    fields.push(field);
  }
  return fields;
}

const aside = (rng) =>
  rng
    .pick(w.ASIDES)
    .replace("{p}", personName(rng))
    .replace("{n}", String(between(rng, 2, 9)))
    .replace("{d}", spokenDate(dateOf(rng, 2022, 2025), rng))
    .replace("{t}", spokenTime("17:20", rng))
    .replace("{w}", town(rng));

/** What may stand beside a name without a word about it, as on a card. */
const CARD = new Set(["email", "tel", "street", "town", "url", "job", "firm", "plate"]);

const STYLES = {
  letter(clauses, who, rng) {
    let text = rng.pick(w.GREETINGS);
    text += chance(rng, 0.6) ? "\n\n" : " ";
    const sentences = [];
    for (let i = 0; i < clauses.length; i++) {
      const joins = i + 1 < clauses.length && chance(rng, 0.3);
      sentences.push(upper(joins ? `${clauses[i]}${rng.pick([" and ", ", and ", "; "])}${clauses[++i]}` : clauses[i]));
    }
    for (const sentence of sentences) text += `${sentence}.${chance(rng, 0.15) ? "\n\n" : " "}`;
    return `${text.trim()}\n\n${rng.pick(w.CLOSINGS)}${rng.pick([",", "", ","])}\n${who.card}`;
  },
  mail(clauses, who, rng) {
    const head = `From: ${who.person}\nSubject: ${rng.pick(w.FORMS).toLowerCase()}\n\n`;
    return head + STYLES.letter(clauses, who, rng);
  },
  chat(clauses, who, rng) {
    const said = clauses.map((clause) => (chance(rng, 0.5) ? clause.replace(/^I /, "i ") : clause));
    return `${rng.pick(["hey", "hi", "hello", "so", "ok"])}, ${said.join(rng.pick([", ", ". ", ", ", " - "]))}. ${rng.pick(["thx", "cheers", "thanks", "bye"])}, ${who.person}`;
  },
  note(clauses, who, rng) {
    return `${rng.pick(["Call from", "Message of", "Note of a talk with", "Voicemail by"])} ${who.card}:\n${clauses.map((clause) => `- ${clause}`).join("\n")}`;
  },
  record(_, _who, rng, fields) {
    const lines = fields.map(({ line }) => line);
    for (const [key, value] of rng.shuffle(w.EXTRA_KEYS).slice(0, rng.int(3))) lines.push(`${key}: ${value}`);
    return rng.shuffle(lines).join("\n");
  },
  cv(_, who, rng, fields) {
    const lines = fields.map(({ line, clause }) =>
      chance(rng, 0.5) || clause === undefined ? upper(line.replaceAll("_", " ")) : upper(clause),
    );
    return `${rng.pick(["CURRICULUM VITAE\n\n", "", "Profile\n", "About me\n"])}${who.card}\n\n${rng.shuffle(lines).join("\n")}`;
  },
};

/** What is said in random order; the two ends of a period in one breath. */
function joined(spoken, { start, end }, rng) {
  const ends = spoken.filter(({ aspect }) => aspect === "start" || aspect === "end");
  if (ends.length < 2 || chance(rng, 0.3)) return rng.shuffle(spoken.map(({ clause }) => clause));
  const [[y1, m1, d1], [y2, m2, d2]] = [start, end].map((iso) => iso.split("-").map(Number));
  const from = y1 !== y2 ? `${d1} ${MONTHS[m1 - 1]} ${y1}` : m1 === m2 ? String(d1) : `${d1} ${MONTHS[m1 - 1]}`;
  const period = rng
    .pick(["from {a} to {b}", "from {a} until {b}", "{a} to {b}", "between {a} and {b}", "{a} - {b}"])
    .replace("{a}", from)
    .replace("{b}", `${d2} ${MONTHS[m2 - 1]} ${y2}`);
  const others = spoken.filter((field) => !ends.includes(field)).map(({ clause }) => clause);
  return rng.shuffle([
    ...others,
    rng
      .pick(["it would be {p}", "we would come {p}", "{p}", "I am thinking of {p}", "please book {p}"])
      .replace("{p}", period),
  ]);
}

/** A page, a text, and what is right: the text is put together with its values marked, and read back. */
export function example(rng, side) {
  const [first, last] = [given(rng), family(rng)];
  const start = dateOf(rng, 2024, 2027);
  const end = new Date(Date.parse(start) + between(rng, 1, 40) * 86_400_000).toISOString().slice(0, 10);
  const who = { given: first, family: last, person: `${first} ${last}`, start, end };
  const fields = fieldsOf(who, rng, side);
  const style = rng.pick(["letter", "letter", "letter", "mail", "chat", "note", "record", "record", "cv"]);
  // who signs has said the name
  const isSigned = ({ aspect }) =>
    style !== "record" && who[aspect] !== undefined && aspect !== "start" && aspect !== "end";
  const marked = (text, i) => text?.replaceAll(OPEN, `${OPEN}${i}${OPEN}`);
  const said = fields.flatMap((field, i) => {
    const isSaid = isSigned(field) || chance(rng, field.said === undefined ? 0.82 : 0.93);
    const [clause, line, bare] = [field.clause, field.line, field.said].map((text) => marked(text, i));
    return isSaid ? [{ ...field, i, clause, line, bare }] : [];
  });
  const listed = ["letter", "mail", "cv", "note"].includes(style)
    ? said.filter(({ aspect }) => CARD.has(aspect) && chance(rng, 0.35))
    : [];
  const gap = rng.pick(["\n", "\n", ", ", " | "]);
  who.card = [who.person, ...listed.map(({ bare }) => bare)].join(gap);
  const told = said.filter((field) => !listed.includes(field));
  const spoken = told.filter((field) => field.clause !== undefined && !(isSigned(field) && chance(rng, 0.7)));
  const clauses = joined(spoken, who, rng).map((clause) =>
    chance(rng, 0.2) ? `${rng.pick(w.OPENINGS)} ${clause}` : clause,
  );
  for (let more = rng.int(3); more > 0; more--) clauses.splice(rng.int(clauses.length + 1), 0, aside(rng));
  const text = STYLES[style](clauses, who, rng, told);
  const values = Object.fromEntries(fields.map(({ control }) => [control.label, ""]));
  for (const field of said) {
    const written = new RegExp(`${OPEN}${field.i}${OPEN}([^${CLOSE}]*)${CLOSE}`).exec(text)?.[1];
    values[field.control.label] = isSigned(field) ? who[field.aspect] : (field.value ?? written ?? "");
  }
  const controls = fields.map(({ control }) => {
    const { kind, options } = control;
    const preset =
      kind === "select" && chance(rng, 0.4) ? options[0] : kind === "number" && chance(rng, 0.15) ? "1" : "";
    const untouched = kind === "checkbox" ? chance(rng, 0.12) : kind === "checkbox-group" ? [] : preset;
    return { ...control, default: untouched, ...(chance(rng, 0.25) ? { required: true } : {}) };
  });
  const form = rng.pick(w.FORMS);
  const place = rng.pick(w.PLACES);
  const title = rng.pick([form, `${form} - ${place}`, `${place}: ${form.toLowerCase()}`, place]);
  const plain = text.replaceAll(new RegExp(`${OPEN}\\d+${OPEN}|${CLOSE}`, "g"), "");
  return { observation: pageObservation(title, controls, plain), values };
}

const same = (a, b) => a.trim().toLowerCase() === b.trim().toLowerCase();

export const environment = defineEnvironment({
  schema: z.strictObject({
    seed: z.int().min(0).default(1).describe("seed of the tasks"),
    tasks: z.int().min(1).default(100).describe("tasks a split"),
  }),
  async open({ environment: { seed, tasks: count } }) {
    const tasks = ["train", "val", "test", "heldout"].flatMap((split) =>
      Array.from({ length: count }, (_, i) => ({ id: `people/${split}/${i}`, split, form: `people/${split}` })),
    );
    const made = (task) => example(Rng.named(seed, task.id), task.split === "heldout" ? "heldout" : "train");
    const shown = (id, { observation, values }) => ({ id, observation, action: { values } });
    return {
      name: "people",
      notes: [],
      tasks,
      splitHash: () => `people-${seed}-${count}`,
      start: async () => undefined,
      started: true,
      firstObservation: (task) => made(task).observation,
      async play(task, act) {
        const { observation, values } = made(task);
        const { values: said = {} } = await act(observation);
        const right = Object.keys(values).filter((label) => same(said[label] ?? "", values[label]));
        const reward = right.length / Object.keys(values).length;
        return { reward, success: reward === 1, metrics: { fields: reward }, detail: { said, values } };
      },
      demonstrations: (some) => some.map((task) => shown(task.id, made(task))),
      syntheticDemonstration: (rng) => shown("people/synthetic", example(rng, "train")),
      fixedPolicies: { oracle: async (task) => async () => ({ values: made(task).values }) },
      close: async () => undefined,
    };
  },
});
