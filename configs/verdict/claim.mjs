// An insurer's form and letters about damage whose values are implied, never written. The page takes a form only where
// all of it fits its records, and names what does not.
//   node configs/verdict/claim.mjs FOLDER [PORT]
// writes FOLDER/tasks.jsonl (120 letters to train on, without values), FOLDER/labelled.jsonl (the same with values),
// FOLDER/first30.jsonl (30 of them with values), FOLDER/other90.jsonl (the others without) and, with a port, serves the
// page. `val` has the phrasings of `train`, `test` has phrasings of no other split.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

let state = 20261;
const random = () => {
  state = (state * 1103515245 + 12345) % 2147483648;
  return state / 2147483648;
};
const pick = (list) => list[Math.floor(random() * list.length)];

const FIRST = ["Lena", "Omar", "Ingrid", "Paulo", "Maya", "Tomas", "Greta", "Ivo", "Nora", "Samir", "Wanda", "Yann"];
const LAST = ["Keller", "Haddad", "Lindqvist", "Ferreira", "Osei", "Horvat", "Dupont", "Bianchi", "Nowak", "Sato"];

// each value's phrasings; the last two are for `test` alone
const PHRASES = {
  "Kind of Damage": {
    Water: [
      "a pipe burst overnight",
      "the washing machine flooded the floor",
      "rain came through the roof",
      "everything is soaked",
      "the cellar stands a hand high",
      "the dishwasher leaked for hours",
    ],
    Fire: [
      "a candle set the curtain alight",
      "the toaster went up in flames",
      "there are scorch marks everywhere",
      "smoke has blackened all of it",
      "sparks from a grinder burnt it",
      "it was charred by a short circuit",
    ],
    Theft: [
      "somebody broke in and took it",
      "it was gone when I came back",
      "a burglar carried it off",
      "my things were stolen",
      "thieves forced the lock",
      "it disappeared while I was away",
    ],
    Glass: [
      "the pane has a crack",
      "a stone shattered the window",
      "the mirror fell to pieces",
      "a ball went through the skylight",
      "there are splinters of it all over",
      "hail broke the panes",
    ],
  },
  Place: {
    Home: [
      "it happened in my flat",
      "the living room is concerned",
      "it was in our kitchen",
      "at my own four walls",
      "our bedroom was hit",
      "the hall upstairs is the scene",
    ],
    Car: [
      "it was my vehicle on the parking lot",
      "the boot of my estate is concerned",
      "it happened on the motorway while driving",
      "the back seat is where it was",
      "my van stood at the kerb",
      "the driver's side is concerned",
    ],
    Garden: [
      "the shed behind the house is concerned",
      "it happened on the lawn",
      "the greenhouse was hit",
      "it was among the flower beds",
      "the hut by the pond is the scene",
      "it was under the apple trees",
    ],
  },
  Settlement: {
    Repair: [
      "please have it mended",
      "send me a craftsman",
      "I would like it fixed",
      "somebody should put it in order",
      "I want it made whole again",
      "let a workshop see to it",
    ],
    Payment: [
      "transfer the money, please",
      "I would rather be paid",
      "just send me the sum",
      "I take the amount instead",
      "cash is what I prefer",
      "a cheque will do",
    ],
  },
  Injured: {
    true: [
      "my arm had to be bandaged",
      "I needed a doctor",
      "my son was taken to hospital",
      "I cut myself badly",
      "my wife broke a finger",
      "I still limp",
    ],
    false: [
      "luckily nobody came to harm",
      "all of us are well",
      "no one was near",
      "we got off with a fright",
      "everyone is unhurt",
      "not a scratch on anybody",
    ],
  },
  "Police Informed": {
    true: [
      "the officers have written it down",
      "I reported it at the station",
      "I have the file number of the constable",
      "a patrol was here",
      "the sheriff has my statement",
      "a policewoman took the particulars",
    ],
    false: [
      "I did not call any officers",
      "no report was made",
      "I saw no need for a patrol",
      "the station knows nothing of it",
      "I left the constables out of it",
      "no policeman was here",
    ],
  },
};
const HEARD = Object.keys(PHRASES);

const rows = Array.from({ length: 200 }, (_, i) => {
  const split = i < 120 ? "train" : i < 150 ? "val" : "test";
  const fields = { "Policy Holder": `${pick(FIRST)} ${pick(LAST)}` };
  const sentences = HEARD.map((label) => {
    const value = pick(Object.keys(PHRASES[label]));
    fields[label] = value === "true" || (value === "false" ? false : value);
    const phrasings = PHRASES[label][value];
    return split === "test" ? phrasings[4 + Math.floor(random() * 2)] : phrasings[Math.floor(random() * 4)];
  });
  for (let k = sentences.length - 1; k > 0; k--) {
    const j = Math.floor(random() * (k + 1));
    [sentences[k], sentences[j]] = [sentences[j], sentences[k]];
  }
  const told = sentences.map((sentence) => sentence[0].toUpperCase() + sentence.slice(1)).join(". ");
  return {
    id: `claim/${i}`,
    form: "claim",
    title: "Report damage",
    url: `/claim/${i}`,
    fields,
    document: `Dear insurer, this is ${fields["Policy Holder"]}. ${told}. Kind regards`,
    success: { text: "Your claim is filed" },
    split,
  };
});

const [folder = ".", port] = process.argv.slice(2);
const lines = (of) => of.map((row) => `${JSON.stringify(row)}\n`).join("");
mkdirSync(folder, { recursive: true });
const bare = rows.map(({ fields, ...row }) => (row.split === "train" ? row : { ...row, fields }));
const files = {
  labelled: rows,
  tasks: bare,
  first30: [...rows.slice(0, 30), ...rows.slice(120)],
  other90: bare.slice(30),
};
for (const [name, of] of Object.entries(files)) writeFileSync(join(folder, `${name}.jsonl`), lines(of));

const records = new Map(rows.map(({ url, fields }) => [url, fields]));
const NAMES = {
  "Policy Holder": "h",
  "Kind of Damage": "k",
  Place: "p",
  Settlement: "s",
  Injured: "i",
  "Police Informed": "o",
};
const options = (label) =>
  Object.keys(PHRASES[label])
    .map((option) => `<option>${option}`)
    .join("");

const page = (url, note = "") => `<!doctype html><title>Claim</title><h1>Report damage</h1>${note}
<form method="post" action="${url}">
<p><label>Policy Holder <input name="h" required></label></p>
<p><label>Kind of Damage <select name="k"><option value="">choose${options("Kind of Damage")}</select></label></p>
<p><label>Place <select name="p"><option value="">choose${options("Place")}</select></label></p>
<p><label>Settlement <select name="s"><option value="">choose${options("Settlement")}</select></label></p>
<p><label><input type="checkbox" name="i"> Injured</label></p>
<p><label><input type="checkbox" name="o"> Police Informed</label></p>
<button>File</button></form>`;

const misfits = (sent, record) =>
  Object.entries(NAMES).flatMap(([label, name]) => {
    const value = typeof record[label] === "boolean" ? sent.has(name) : sent.get(name);
    return value === record[label] ? [] : [label];
  });

if (port !== undefined)
  createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      const record = records.get(request.url);
      if (record === undefined) return response.writeHead(404).end("no such page");
      if (request.method !== "POST") return response.end(page(request.url));
      const wrong = misfits(new URLSearchParams(body), record);
      if (wrong.length === 0) return response.end("<!doctype html><title>Filed</title><p>Your claim is filed</p>");
      const list = wrong.map((label) => `<li>${label} does not fit our records</li>`).join("");
      response.writeHead(422).end(page(request.url, `<p>Not filed.</p><ul class="refused">${list}</ul>`));
    });
  }).listen(Number(port), "127.0.0.1", () => console.log(`serves http://127.0.0.1:${port}`));
