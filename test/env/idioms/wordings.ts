import { type Idiom, type Idioms, json, page, redirect } from "./idiom.js";

const FIELDS = { Name: "Ann Lee", Age: "41", Seat: "Balcony" };
const form = ({ n = "", a = "", s = "", age = "", above = "" } = {}): string =>
  `<h1>Welcome</h1>${above}<form id=f method=post action=""><p><label>Name <input name=n value="${n}"></label></p><p class="row${age}"><label>Age <input name=a value="${a}"></label></p><p><label>Seat <select name=s><option><option${s === "" ? "" : " selected"}>Balcony<option>Stalls</select></label></p><button>OK</button></form>`;
const FILLED = { n: "Ann Lee", a: "41", s: "Balcony" };

/** The server shows the form again with 200, as it was sent or empty, with something above it. */
const shown = (above: string, filled: Parameters<typeof form>[0] = FILLED): Idiom => ({
  html: form(),
  fields: FIELDS,
  accepted: false,
  answer: (r, s) => r.method === "POST" && page(s, `<title>Form</title>${form({ ...filled, above })}`),
});
/** The server leads back to the form, which is empty, with something above it once. */
const flashed = (above: string): Idiom => ({
  html: form(),
  fields: FIELDS,
  accepted: false,
  answer: (r, s) =>
    r.method === "POST"
      ? redirect(s, "?again")
      : r.url.includes("?again") && page(s, `<title>Form</title>${form({ above })}`),
});
/** A script sends the form, and `then` makes of the answer what it wants. */
const scripted = (then: string, answer: unknown = { errors: 0 }, status = 200): Idiom => ({
  html: `${form()}<p id=m></p><script>f.onsubmit = async (e) => { e.preventDefault(); await fetch("send", { method: "POST", body: new FormData(f) }); ${then} }</script>`,
  fields: FIELDS,
  accepted: false,
  answer: (r, s) => r.method === "POST" && json(s, answer, status),
});
const taken = ({ accepted: _, ...idiom }: Idiom): Idiom => idiom;

/** The form is shown again: a refusal, in any language and in any dress. */
export const SHOWN_AGAIN: Idioms = {
  "an alert without a word of error": shown("<div role=alert>Please choose where to sit</div>"),
  "an alert that speaks of a confirmation": shown("<div role=alert>Choose a seat so that it can be confirmed</div>"),
  German: shown("<div class=hinweis>Bitte wählen Sie einen Sitzplatz.</div>"),
  Japanese: shown("<p>席を選択してください</p>"),
  "Polish, with an empty form": shown("<p>Wybierz miejsce</p>", {}),
  "a flash after 303": flashed("<div class=flash>Your seat is for members</div>"),
  "a French flash after 303": flashed('<div class="flash info">Veuillez choisir une place</div>'),
  "nothing but a redirect back": flashed(""),
  "aria-invalid only": {
    ...shown(""),
    answer: (r, s) => r.method === "POST" && page(s, form(FILLED).replace("name=a", "name=a aria-invalid=true")),
  },
  "a class only": shown("", { ...FILLED, age: " has-error" }),
  "a text beside the field": shown("", { ...FILLED, a: '41"><b>te jong</b><br title="' }),
  422: { ...shown(""), answer: (r, s) => r.method === "POST" && page(s, form(FILLED), 422) },
  "a script that marks a field by aria-invalid": scripted('f.a.setAttribute("aria-invalid", "true")'),
  "a script that marks a field by a class": scripted('f.a.className = "input error"'),
  "a script with an alert in Spanish": scripted(`m.outerHTML = '<div role=alert>Elija un asiento</div>'`),
  "a script with a text in Russian": scripted('m.textContent = "Выберите место"'),
  "alert() in Turkish": scripted('alert("Lütfen yer seçin")'),
};

/** The form is shown again, or is still there, and was accepted. */
export const STILL_THERE: Idioms = {
  "thanks above a fresh form": taken(shown("<p>Thank you, your seat is booked.</p>", {})),
  "saved, with what was saved": taken(shown("<div role=status>Your changes have been saved.</div>")),
  "German thanks, marked as good": taken(
    flashed('<div class="alert alert-success">Vielen Dank, wir melden uns.</div>'),
  ),
  "German thanks, by the task's marker": { ...taken(flashed("<p>Vielen Dank!</p>")), success: { text: "vielen dank" } },
  "what was sent stands in a list now": taken(flashed("<ul><li>Ann Lee, 41, Balcony</ul>")),
  "a script that empties its form": taken(scripted('f.reset(); m.textContent = "Danke!"')),
  "a script that says nothing": taken(scripted("")),
  "a script whose server says ok": taken(scripted('m.textContent = "Danke!"', { ok: true })),
  "a script whose server has created it": taken(scripted('m.textContent = "Danke!"', { nr: 7 }, 201)),
  "German thanks on a page of its own": {
    ...taken(flashed("")),
    answer: (r, s) => r.method === "POST" && page(s, "<title>Danke</title><h1>Vielen Dank</h1><p>Bis bald</p>"),
  },
};
