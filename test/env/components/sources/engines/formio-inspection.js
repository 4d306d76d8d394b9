import { Formio } from "@formio/js";
import "bootstrap/dist/css/bootstrap.css";
import "@formio/js/dist/formio.full.css";

document.getElementById("app").innerHTML = '<div class="container py-4" style="max-width: 720px"><h1 class="h3">Lift inspection</h1><div id="alert"></div><div id="form"></div></div>';
const options = (pairs) => ({ values: Object.entries(pairs).map(([value, label]) => ({ label, value })) });
const form = await Formio.createForm(document.getElementById("form"), {
  components: [
    { type: "textfield", key: "building", label: "Building", placeholder: "Street and number", validate: { required: true }, input: true },
    { type: "select", key: "maker", label: "Manufacturer", widget: "choicesjs", data: options({ ot: "Otis", sc: "Schindler", ko: "Kone", tk: "TK Elevator" }), validate: { required: true }, input: true },
    { type: "datetime", key: "visit", label: "Inspection day", format: "yyyy-MM-dd", enableTime: false, widget: { type: "calendar", format: "yyyy-MM-dd", enableTime: false, mode: "single", allowInput: true, time_24hr: true, noCalendar: false, dateFormat: "yyyy-MM-dd" }, input: true },
    { type: "number", key: "load", label: "Rated load in kg", delimiter: true, input: true },
    { type: "phoneNumber", key: "phone", label: "Phone of the caretaker", inputMask: "(999) 999-9999", input: true },
    { type: "select", key: "defects", label: "Defects", widget: "choicesjs", multiple: true, data: options({ door: "Door", rope: "Rope", brake: "Brake", light: "Light" }), input: true },
    { type: "radio", key: "verdict", label: "Verdict", inline: true, values: [{ label: "Passed", value: "ok" }, { label: "Passed with remarks", value: "remarks" }, { label: "Failed", value: "fail" }], input: true },
    { type: "textarea", key: "remarks", label: "Remarks", rows: 2, input: true },
    { type: "checkbox", key: "closed", label: "Put out of service", input: true },
    { type: "button", action: "submit", key: "submit", label: "File report", theme: "primary", input: true },
  ],
});
form.nosubmit = true;
form.on("submit", async (submission) => {
  const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(submission) });
  document.getElementById("alert").innerHTML = answer.ok ? '<div class="alert alert-success">Report filed</div>' : '<div class="alert alert-danger">Report rejected</div>';
  form.emit(answer.ok ? "submitDone" : "submitError", submission);
});
