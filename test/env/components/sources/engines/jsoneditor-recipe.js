import { JSONEditor } from "@json-editor/json-editor";

const app = document.getElementById("app");
app.innerHTML = '<div id="editor" style="width:520px;margin:24px"></div><button id="save">Save recipe</button><p id="state"></p>';
const editor = new JSONEditor(document.querySelector("#editor"), {
  disable_collapse: true,
  disable_edit_json: true,
  disable_properties: true,
  disable_array_delete_all_rows: true,
  disable_array_delete_last_row: true,
  disable_array_reorder: true,
  schema: {
    title: "Recipe",
    type: "object",
    properties: {
      dish: { type: "string", title: "Dish", minLength: 1 },
      course: { type: "string", title: "Course", enum: ["s", "m", "d"], options: { enum_titles: ["Starter", "Main course", "Dessert"] } },
      servings: { type: "integer", title: "Servings", minimum: 1, default: 4 },
      minutes: { type: "number", title: "Minutes", format: "range", minimum: 5, maximum: 120, step: 5, default: 30 },
      diets: { type: "array", title: "Diets", uniqueItems: true, format: "checkbox", items: { type: "string", enum: ["vegan", "kosher", "halal"], options: { enum_titles: ["Vegan", "Kosher", "Halal"] } } },
      story: { type: "string", title: "Story", format: "textarea" },
      spicy: { type: "boolean", title: "Spicy", format: "checkbox" },
    },
  },
});
document.querySelector("#save").addEventListener("click", async () => {
  const errors = editor.validate();
  const state = document.querySelector("#state");
  if (errors.length > 0) return void (state.textContent = errors[0].message);
  const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ recipe: editor.getValue() }) });
  state.textContent = answer.ok ? "Saved." : "Not saved.";
});
