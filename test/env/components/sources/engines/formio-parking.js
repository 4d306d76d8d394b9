import { Formio } from "@formio/js";
import "bootstrap/dist/css/bootstrap.css";
import "@formio/js/dist/formio.form.css";
import flatpickr from "flatpickr";
import "flatpickr/dist/flatpickr.css";

// Form.io takes the calendar that stands on the page, and asks a CDN for one only where there is none
globalThis.flatpickr = flatpickr;

const host = document.getElementById("app");
host.className = "container py-4";
host.style.maxWidth = "640px";
const heading = Object.assign(document.createElement("h1"), { textContent: "Resident parking permit", className: "h3" });
const result = Object.assign(document.createElement("div"), { className: "alert d-none" });
const holder = document.createElement("div");
host.append(heading, result, holder);

const schema = {
  display: "form",
  components: [
    { type: "textfield", key: "resident", label: "Name of the resident", validate: { required: true, minLength: 3 } },
    { type: "phoneNumber", key: "phone", label: "Phone number", inputMask: "(999) 999-9999" },
    { type: "select", key: "zone", label: "Parking zone", placeholder: "Choose a zone", validate: { required: true }, data: { values: [{ label: "Zone A, old town", value: "A" }, { label: "Zone B, river side", value: "B" }, { label: "Zone C, hospital", value: "C" }] } },
    { type: "datetime", key: "validFrom", label: "Valid from", format: "yyyy-MM-dd", enableTime: false, datePicker: { minMode: "day" } },
    { type: "number", key: "cars", label: "Cars in the household" },
    { type: "radio", key: "fuel", label: "Type of engine", inline: true, values: [{ label: "Petrol", value: "petrol" }, { label: "Diesel", value: "diesel" }, { label: "Electric", value: "electric" }] },
    { type: "select", key: "reminders", label: "Send reminders by", multiple: true, data: { values: [{ label: "Letter", value: "letter" }, { label: "E-mail", value: "mail" }, { label: "Text message", value: "sms" }] } },
    { type: "checkbox", key: "disabled", label: "I have a disabled badge" },
    { type: "button", action: "submit", key: "submit", label: "Send application", theme: "primary", disableOnInvalid: false },
  ].map((component) => ({ input: true, ...component })),
};

const form = await Formio.createForm(holder, schema, { noAlerts: true });
form.nosubmit = true;
form.on("submit", async ({ data }) => {
  const { submit, validFrom, ...values } = data;
  const application = { ...values, validFrom: validFrom ? validFrom.slice(0, 10) : null };
  const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ application }) });
  const reply = await answer.json();
  result.className = `alert alert-${reply.accepted ? "success" : "danger"}`;
  result.textContent = reply.accepted ? `Your application has the number ${reply.reference}.` : "Your application is incomplete.";
  if (reply.accepted) form.emit("submitDone");
  else form.emit("submitError");
});
