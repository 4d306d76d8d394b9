import { Form } from "@bpmn-io/form-js-viewer";
import "@bpmn-io/form-js-viewer/dist/assets/form-js.css";

const app = document.getElementById("app");
app.innerHTML = '<div id="form" style="width:560px;margin:24px"></div><p id="state"></p>';
const form = new Form({ container: document.querySelector("#form") });
const choices = (...pairs) => pairs.map(([value, label]) => ({ value, label }));
await form.importSchema({
  type: "default",
  components: [
    { type: "textfield", key: "creditor", label: "Creditor", validate: { required: true } },
    { type: "number", key: "amount", label: "Amount", decimalDigits: 2 },
    { type: "datetime", subtype: "date", key: "due", dateLabel: "Due date" },
    { type: "select", key: "currency", label: "Currency", values: choices(["EUR", "Euro"], ["CHF", "Swiss franc"], ["SEK", "Swedish krona"]) },
    { type: "taglist", key: "teams", label: "Teams", values: choices(["fin", "Finance"], ["law", "Legal"], ["ops", "Operations"], ["hr", "People"]) },
    { type: "radio", key: "prio", label: "Priority", values: choices(["1", "Low"], ["2", "Normal"], ["3", "High"]) },
    { type: "checklist", key: "checks", label: "Checked", values: choices(["sum", "Sum"], ["vat", "Value added tax"], ["ord", "Order"]) },
    { type: "textarea", key: "note", label: "Note" },
    { type: "checkbox", key: "paid", label: "Paid already" },
    { type: "button", action: "submit", label: "Enter invoice" },
  ],
});
form.on("submit", async ({ data, errors }) => {
  if (Object.keys(errors).length > 0) return;
  const answer = await (await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ variables: data }) })).json();
  document.querySelector("#state").textContent = answer.ok ? "Invoice entered" : "Invoice refused";
});
