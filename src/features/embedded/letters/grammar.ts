/**
 * The grammar of letters as tables: training and held-out letters share no phrasing. `{l}` is a field's name, `{v}` its
 * value, `{w}` another value, `{p}` a given name. Rows are separated by lines, entries by ` / `.
 */

export type Side = "train" | "heldout";

/** One style of writing. */
export interface Voice {
  readonly opening: readonly string[];
  readonly closing: readonly string[];
  /** Between two clauses. */
  readonly join: string;
  readonly say: readonly string[];
  readonly yes: readonly string[];
  readonly no: readonly string[];
}

export interface Grammar {
  /** From short and plain to long. */
  readonly voices: readonly Voice[];
  readonly date: readonly string[];
  readonly time: readonly string[];
  readonly tel: readonly string[];
  readonly email: readonly string[];
  readonly number: readonly string[];
  readonly and: string;
  readonly correction: readonly string[];
  readonly otherPerson: readonly string[];
  readonly aside: readonly string[];
}

const list = (row: string): readonly string[] => row.split(" / ").map((entry) => entry.trim());

const voice = (opening: string, closing: string, join: string, say: string, yes: string, no: string): Voice => ({
  opening: list(opening),
  closing: list(closing),
  join,
  say: list(say),
  yes: list(yes),
  no: list(no),
});

export const GRAMMARS: Readonly<Record<Side, Grammar>> = {
  train: {
    voices: [
      voice(
        "Hi, / Hello,",
        ".",
        ", ",
        "{l} is {v} / {v} as {l} / put {v} for {l}",
        "with {l} / {l} too",
        "no {l} / without {l}",
      ),
      voice("Note:", ".", "; ", "{l} {v} / {l} = {v} / {v} ({l})", "{l} please", "not {l}"),
      voice(
        "Dear team, / Good morning,",
        ". Many thanks! / . Best wishes",
        ". ",
        "The {l} should be {v} / For the {l} please take {v} / As {l} I would choose {v} / My {l} would be {v}",
        "I would also like {l} / Please do include {l} / {l} would help me a lot",
        "There is no need for {l} / Please leave out {l} / I can do without {l}",
      ),
      voice(
        "Record of a call.",
        ". End of the call.",
        ". ",
        "Caller gives {v} as {l} / Caller wants {v} for {l} / {l} was said to be {v}",
        "Caller insists on {l} / Caller counts on {l}",
        "Caller declined {l} / Caller does not care for {l}",
      ),
    ],
    date: list("{ord} of {month} {y} / {month} {d}, {y} / {d}.{m}.{y}"),
    time: list("{h}.{mm} {ap} / {past}"),
    tel: list("{a}-{b} / {a1} {a2} {b1} {b2}"),
    email: list("{user} at {host}"),
    number: list("{words}"),
    and: "and",
    correction: list("{w}, no, make that {v} / {w} - sorry, I mean {v}"),
    otherPerson: list(
      "My cousin {p} has {w} as {l}, but this is not about my cousin / For {p} the {l} was {w}, mine differs",
    ),
    aside: list("It rained here all week / My train leaves soon / We met your colleague last month"),
  },
  heldout: {
    voices: [
      voice("Hey there:", "!", " and ", "use {v} for the {l} / {l} would be {v}", "add {l}", "skip {l}"),
      voice(
        "Good evening,",
        ", thank you.",
        " - ",
        "I need {v} as the {l} / make the {l} {v}",
        "I want {l}",
        "I refuse {l}",
      ),
      voice(
        "To whom it may concern, / Greetings from the hills,",
        ". Yours faithfully / . Kind regards",
        ". ",
        "You may enter {v} where it asks for the {l} / We settled on {v} for the {l} / Let us say {v} when it comes to the {l}",
        "We could not manage lacking {l} / We are keen on {l} / Count us in for {l}",
        "We would rather avoid {l} / Spare us {l} / We get along fine minus {l}",
      ),
      voice(
        "Memo from the front desk -",
        ". That was all.",
        "; ",
        "visitor states {v} under {l} / {l}, according to the visitor: {v}",
        "visitor asked twice about {l}",
        "visitor waved off {l}",
      ),
    ],
    date: list("{d} {mon} {y} / the {ord} day of {month}, {y} / {y}/{mm}/{dd}"),
    time: list("{h}:{mm}{ap} / {h24}h{mm}"),
    tel: list("({a}) {b} / {a}.{b}"),
    email: list("{user} (at) {host}"),
    number: list("{dozen} / {words} in all"),
    and: "plus",
    correction: list("{w}... wait, {v} it is / at first {w}, by now {v}"),
    otherPerson: list(
      "Our neighbour {p} took {w} for the {l}; ignore that here / {p}, who applies separately, picked {w} under {l}",
    ),
    aside: list("The kettle is on as I write / Forgive my handwriting / Spring came early to our valley"),
  },
};

/** Words of labels: the word, its synonym in training letters, its synonym in held-out letters. */
const LABEL_WORDS = `
name full-name name-in-full|title headline caption|number no figure|count total tally|date calendar-date calendar-day|day weekday day-of-week
time hour moment|type kind sort|size measure extent|email mail inbox|phone telephone ring-line|city town place-of-living
first given front|last family closing|owner holder proprietor|customer buyer client|member subscriber fellow|guest visitor caller
pickup collection handover|delivery shipment drop-off|visit appointment call-in|start beginning outset|level grade rank
street road-name lane-name|address location residence|price cost charge|method means manner|season quarter time-of-year
format form-factor medium|reason cause motive|style genre flavour|shirt top jersey|book volume tome|team squad crew`;

/** Texts of options in the same way. */
const OPTION_WORDS = `
Adult grown-up over-eighteen|Child kid under-twelve|Student pupil at-college|Senior pensioner over-sixty-five
Small little tiny|Medium middling average-sized|Large big roomy|Beginner novice newcomer|Skilled practised versed|Expert master veteran
Cash coins-and-notes bank-notes|Credit plastic-money by-card|Invoice bill on-account|Vegan plant-based nothing-from-animals
Vegetarian meatless without-meat|Meat beef a-roast|Fish seafood a-trout|Spring april-or-so blossom-time|Summer july-or-so hottest-months
Autumn october-or-so falling-leaves|Winter january-or-so snow-time|Morning before-noon early-hours|Afternoon after-lunch past-midday
Evening after-work at-nightfall|Print on-paper in-ink|Audio to-listen-to by-ear|Video to-watch moving-pictures
Low can-wait no-hurry|Normal as-usual ordinary|High pressing most-important|Dog hound puppy|Cat kitten tomcat|Rabbit bunny hare|Bird parrot budgie
Horse pony mare|Train railway by-rail|Bus coach omnibus|Car automobile motor|Ferry boat by-sea|Daily every-day each-morning
Weekly every-week each-seven-days|Monthly every-month twelve-a-year|Single for-one one-bed|Double for-two two-beds`;

function synonyms(rows: string, side: Side): ReadonlyMap<string, string> {
  const column = side === "train" ? 1 : 2;
  return new Map(
    rows
      .trim()
      .split(/[|\n]/)
      .map((row) => row.trim().split(" "))
      .map((row) => [row[0] as string, (row[column] as string).replaceAll("-", " ")]),
  );
}

/** Synonyms for the words of labels and for options, by side. */
export const OTHER_WORDS = {
  train: { labels: synonyms(LABEL_WORDS, "train"), options: synonyms(OPTION_WORDS, "train") },
  heldout: { labels: synonyms(LABEL_WORDS, "heldout"), options: synonyms(OPTION_WORDS, "heldout") },
} as const;
