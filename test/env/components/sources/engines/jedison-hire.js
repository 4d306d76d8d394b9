import Jedison from "jedison";

const app = document.getElementById("app");
app.innerHTML = '<form id="f" style="width:520px;margin:24px"><div id="editor"></div><button id="go">Hire employee</button></form><div id="state" class="jedi-state"></div>';
const editor = new Jedison.Create({
  container: document.querySelector("#editor"),
  theme: new Jedison.Theme(),
  schema: {
    title: "Employee",
    type: "object",
    required: ["name", "team", "tools", "start", "hours", "badge", "trial", "note", "address"],
    properties: {
      name: { title: "Full name", type: "string" },
      team: { title: "Team", type: "string", enum: ["", "ops", "lab", "shop"], "x-enumTitles": ["", "Operations", "Laboratory", "Shop floor"], default: "" },
      tools: { title: "Equipment", type: "array", uniqueItems: true, items: { type: "string", enum: ["lap", "pho", "key", "car"], "x-enumTitles": ["Laptop", "Telephone", "Master key", "Company car"] }, "x-format": "checkboxes" },
      start: { title: "First day", type: "string", "x-format": "date" },
      hours: { title: "Weekly hours", type: "integer", minimum: 0, maximum: 40 },
      badge: { title: "Badge colour", type: "string", "x-format": "radios", enum: ["g", "b", "r"], "x-enumTitles": ["Green", "Blue", "Red"] },
      trial: { title: "Trial period", type: "boolean", "x-format": "checkbox" },
      address: { title: "Workplace", type: "object", properties: { building: { title: "Building", type: "string" }, desk: { title: "Desk number", type: "integer" } } },
      note: { title: "Remarks", type: "string", "x-format": "textarea" },
    },
  },
});
document.querySelector("#f").addEventListener("submit", async (event) => {
  event.preventDefault();
  const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query: "mutation Hire($e: Employee!) { hire(employee: $e) { id } }", variables: { e: editor.getValue() } }) });
  const { data, errors } = await answer.json();
  document.querySelector("#state").textContent = errors ? errors[0].message : `Hired as ${data.hire.id}`;
});
