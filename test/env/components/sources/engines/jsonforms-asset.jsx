import { JsonForms } from "@jsonforms/react";
import { vanillaCells, vanillaRenderers } from "@jsonforms/vanilla-renderers";
import { useState } from "react";
import { json, SEND, start } from "../react/start.jsx";

const schema = {
  type: "object",
  required: ["asset", "kind"],
  properties: {
    asset: { type: "string", minLength: 1, title: "Asset" },
    kind: { type: "string", enum: ["Machine", "Vehicle", "Building"], title: "Kind of asset" },
    bought: { type: "string", format: "date", title: "Bought on" },
    price: { type: "number", title: "Price" },
    years: { type: "integer", title: "Years of use" },
    insured: { type: "boolean", title: "Insured" },
  },
};
const uischema = { type: "VerticalLayout", elements: Object.keys(schema.properties).map((key) => ({ type: "Control", scope: `#/properties/${key}` })) };

start(function Asset() {
  const [state, set] = useState({ data: {}, errors: [] });
  const [note, setNote] = useState("");
  async function save() {
    if (state.errors.length > 0) return setNote(`${state.errors.length} problems`);
    const answer = await fetch(SEND, json("PUT", state.data));
    setNote(answer.ok ? "Bilgiler kaydedildi" : "Kaydedilemedi");
  }
  return (
    <div style={{ width: 460, margin: 32 }}>
      <JsonForms schema={schema} uischema={uischema} data={state.data} renderers={vanillaRenderers} cells={vanillaCells} onChange={set} />
      <button type="button" onClick={save}>Save asset</button>
      <p aria-live="polite">{note}</p>
    </div>
  );
});
