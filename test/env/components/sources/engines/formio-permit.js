import { Formio } from "@formio/js";
import "bootstrap/dist/css/bootstrap.css";
import "@formio/js/dist/formio.form.css";

const values = (pairs) => Object.entries(pairs).map(([value, label]) => ({ value, label }));
const host = document.getElementById("app");
host.style.cssText = "width: 520px; margin: 32px";
const note = document.createElement("p");
const form = await Formio.createForm(host, {
  components: [
    { type: "textfield", key: "owner", label: "Owner", input: true, validate: { required: true } },
    { type: "email", key: "mail", label: "Owner's mail", input: true },
    { type: "select", key: "work", label: "Kind of work", input: true, widget: "html5", data: { values: values({ roof: "New roof", wall: "Garden wall", tree: "Felling a tree" }) } },
    { type: "radio", key: "zone", label: "Zone", input: true, values: values({ a: "Old town", b: "Suburb", c: "Village" }) },
    { type: "number", key: "height", label: "Height in metres", input: true },
    { type: "selectboxes", key: "papers", label: "Papers at hand", input: true, values: values({ plan: "Plan", photo: "Photographs", deed: "Deed" }) },
    { type: "checkbox", key: "monument", label: "Listed building", input: true },
    { type: "button", action: "submit", label: "Apply for a permit", key: "submit", input: true },
  ],
}, { noAlerts: true });
host.before(note);
form.nosubmit = true;
form.on("submit", async ({ data }) => {
  const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ data, state: "submitted" }) });
  note.textContent = answer.ok ? "Żądanie przyjęte" : "Brak danych";
  if (answer.ok) form.emit("submitDone");
});
