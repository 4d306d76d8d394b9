import Form from "@rjsf/core";
import validator from "@rjsf/validator-ajv8";
import { useState } from "react";
import { json, SEND, start } from "../react/start.jsx";

const schema = {
  title: "Supplier",
  type: "object",
  required: ["name", "legal"],
  properties: {
    name: { type: "string", title: "Firm name" },
    legal: { type: "string", title: "Legal form", oneOf: [{ const: "AB", title: "Limited company" }, { const: "HB", title: "Partnership" }, { const: "EF", title: "Sole trader" }] },
    founded: { type: "string", format: "date", title: "Founded on" },
    staff: { type: "integer", title: "Staff", minimum: 1 },
    goods: { type: "array", title: "Goods", uniqueItems: true, items: { type: "string", enum: ["Doors", "Glass", "Tiles", "Wood"] } },
    contact: { type: "object", title: "Contact", properties: { mail: { type: "string", format: "email", title: "Contact mail" } } },
    green: { type: "boolean", title: "Uses green power" },
  },
};
const uiSchema = { goods: { "ui:widget": "checkboxes" }, legal: { "ui:widget": "radio" }, "ui:submitButtonOptions": { submitText: "Register supplier" } };

start(function Supplier() {
  const [data, setData] = useState({});
  const [state, setState] = useState("");
  async function send({ formData }) {
    const answer = await (await fetch(SEND, json("POST", { supplier: formData }))).json();
    setState(answer.error ?? "Leverantören är registrerad");
  }
  return <div style={{ width: 460, margin: 32 }}><b>{state}</b><Form schema={schema} uiSchema={uiSchema} formData={data} onChange={(e) => setData(e.formData)} validator={validator} showErrorList="top" noHtml5Validate onSubmit={send} /></div>;
});
