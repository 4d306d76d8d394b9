import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { EpisodeOutcome } from "../../../src/env/environment.js";
import { judgedAgain } from "../../env/judged-again.js";
import { openForm } from "./form-site.js";

const SEATS = ["Aisle", "Window", "Any"]
  .map((name, i) => `<label><input type="radio" name="seat" value="${i}">${name}<br><small>row ${i}</small></label>`)
  .join("");

/**
 * A page with a custom list whose codes have no meaning, radio buttons with descriptions and a label that is a custom
 * element with a drawn colon, a last button that clears the form, and a server that answers in nonsense words.
 */
const PAGE = `<!doctype html><title>Pass</title><form method="post" action="/send">
<p><label>Full name <input name="n" required></label></p>
<p><span id="c">Colour</span> <button type="button" aria-haspopup="listbox" aria-labelledby="c v" id="b"><span id="v">-</span></button>
<input type="hidden" name="colour"></p>
<p><label>Visit on <input type="date" name="day"></label></p>
<p><label><input type="checkbox" name="news"> Newsletter</label></p>
<p><x-label>Seat</x-label>${SEATS}</p>
<button type="button" id="ok">OK</button> <button type="button" id="no">Anew</button></form>
<script>
customElements.define("x-label", class extends HTMLElement {
  constructor() {
    super();
    this.attachShadow({ mode: "open" }).innerHTML =
      '<label><slot></slot><i style="display:inline-block;width:9px;height:9px"></i></label>';
  }
});
const codes = { Red: "17", Green: "4", Blue: "99" }, hidden = document.querySelector("[name=colour]");
b.onclick = () => {
  const list = Object.assign(document.createElement("ul"), { role: "listbox" });
  for (const name of Object.keys(codes)) {
    const item = Object.assign(document.createElement("li"), { role: "option", textContent: name });
    item.onclick = () => { hidden.value = codes[name]; v.textContent = name; list.remove(); };
    list.append(item);
  }
  document.body.append(list);
};
ok.onclick = () => document.forms[0].requestSubmit();
no.onclick = () => { document.forms[0].reset(); hidden.value = ""; v.textContent = "-"; };
</script>`;

const TASKS = [
  { "Full name": "Ann Lee", Colour: "Red", "Visit on": "2024-03-05", Newsletter: true, Seat: "Window" },
  { "Full name": "Bo Fernandez", Colour: "Blue", "Visit on": "2025-11-28", Newsletter: false, Seat: "Aisle" },
  { "Full name": "Chidi Okoro", Colour: "Green", "Visit on": "2023-07-14", Newsletter: true, Seat: "Any" },
];

const answer = (sent: URLSearchParams): string => {
  const right = sent.get("n") !== "" && sent.get("colour") !== "";
  return `<!doctype html><title>${right ? "a1" : "b2"}</title><h1>${right ? "zwarf" : "blimp"}</h1>`;
};
const site = await openForm("pass", TASKS, PAGE, answer, { success: { text: "zwarf" } });
after(() => site.close());

const plays = async (i: number, text: string): Promise<EpisodeOutcome> => {
  const outcome = await site.env.play(site.task(i), async () => ({ text }), new Map());
  return judgedAgain(site.env, site.task(i), outcome);
};

test("a form is learned from its server, and played by its contract", async () => {
  for (const i of [0, 1, 2]) assert.equal((await site.policy("oracle", i)).reward, 1);
  const contract = site.contract();
  assert.deepEqual(contract.not_proved, {});
  assert.deepEqual(contract.fields.Colour?.wire, {
    key: "colour",
    notation: { as: "codes", codes: { Red: "17", Blue: "99", Green: "4" } },
  });
  assert.equal(contract.fields.Seat?.nth, 0);
  assert.deepEqual(contract.fields.Newsletter?.wire?.notation, { as: "flag", on: "on", off: null });
});

test("what the server received is what counts, and its answer says whether it was accepted", async () => {
  const plan = "fill Full name | Ann Lee\nselect Colour | Blue\nfill Visit on | 2024-03-05\ncheck Newsletter\n";
  const other = await plays(0, `${plan}select Seat | Window\nsubmit`);
  assert.equal(other.success, false);
  assert.equal(other.detail.accepted, true);
  assert.deepEqual(other.detail.field_scores, { "Full name": 1, Colour: 0, "Visit on": 1, Newsletter: 1, Seat: 1 });
  const refused = await plays(0, "fill Full name | Ann Lee\nfill Visit on | 2024-03-05\nsubmit");
  assert.equal(refused.detail.accepted, false);
  assert.equal(site.received.at(-1)?.get("colour"), "");
});

test("a form that its own page refuses is refused, and no fault", async () => {
  site.received.length = 0;
  const outcome = await plays(1, "select Colour | Blue\nsubmit");
  assert.equal(outcome.fault, undefined);
  assert.equal(outcome.detail.accepted, false);
  assert.deepEqual(site.received, []);
});

test("labels and values of a plan are data, whatever they look like", async () => {
  const name = 'x" >> css=button >> nth=0';
  const outcome = await plays(0, `fill Full name | ${name}\nselect Colour | text=Red >> li\nclick css=button\nsubmit`);
  assert.equal(outcome.fault, undefined);
  assert.equal(site.received.at(-1)?.get("n") ?? name, name);
  assert.equal(outcome.detail.accepted, false);
});

test("where each task has a page of its own, what the address changes is no field's: the request's path is a pattern", async () => {
  const page = `<!doctype html><title>Plot</title><form id="f"><label>Member <input name="who"></label> <label>Crop <input name="crop"></label>
<label>Hours <input name="hours"></label> <button>Ask</button></form><p id="say"></p><script>
f.onsubmit = async (event) => {
  event.preventDefault();
  const body = new URLSearchParams(new FormData(f));
  body.set("plot", location.pathname.slice(6));
  say.textContent = await (await fetch("/api" + location.pathname, { method: "POST", body })).text();
};</script>`;
  const people = ["Ann", "Bo", "Chidi"].map((Member, i) => ({ Member, Crop: "bpk"[i], Hours: `${i + 2}` }));
  const plots = await openForm("plot", people, page, () => "Yours", {
    success: { text: "Yours" },
    urlOf: (i) => `/plot/${i}`,
  });
  after(() => plots.close());
  for (const i of [0, 1, 2]) assert.equal((await plots.policy("oracle", i)).reward, 1);
  const { request, fields } = plots.contract();
  assert.deepEqual(request, { method: "POST", path: "/api/plot/*" });
  assert.deepEqual(
    Object.values(fields).map(({ wire }) => wire?.key),
    ["who", "crop", "hours"],
  );
});
