import { useFormik } from "formik";
import { OTPInput } from "input-otp";
import { useState } from "react";
import CurrencyInput from "react-currency-input-field";
import { Combobox, DatePicker, DropdownList, Multiselect } from "react-widgets";
import "react-widgets/styles.css";
import { json, SEND, start } from "./start.jsx";

const KINDS = [{ id: "fire", text: "Fire" }, { id: "water", text: "Burst pipe" }, { id: "theft", text: "Theft" }];
const iso = (d) => d && new Date(d.getTime() - d.getTimezoneOffset() * 60000).toISOString().slice(0, 10);

start(function Claim() {
  const [step, setStep] = useState(0);
  const [note, setNote] = useState("");
  const f = useFormik({
    initialValues: { holder: "", kind: "", day: null, loss: "", rooms: [], repair: "", code: "", police: false },
    validate: (v) => (v.holder ? {} : { holder: "Name the policy holder" }),
    onSubmit: async (v) => {
      const query = "mutation File($input: ClaimInput!) { fileClaim(input: $input) { id } }";
      const answer = await (await fetch(SEND, json("POST", { query, variables: { input: { ...v, day: iso(v.day) } } }))).json();
      setNote(answer.errors ? "The claim is incomplete" : `Claim ${answer.data.fileClaim.id} filed`);
    },
  });
  const set = (name) => (value) => f.setFieldValue(name, value);
  return (
    <form onSubmit={f.handleSubmit} style={{ width: 420, margin: 32 }}>
      <h1>Household claim</h1>
      {note && <p role="status">{note}</p>}
      {step === 0 ? (
        <>
          <label htmlFor="holder">Policy holder</label><input id="holder" {...f.getFieldProps("holder")} />{f.touched.holder && f.errors.holder && <em>{f.errors.holder}</em>}
          <label id="kind_label">Damage</label><DropdownList aria-labelledby="kind_label" data={KINDS} dataKey="id" textField="text" value={f.values.kind} onChange={(one) => set("kind")(one.id)} />
          <label htmlFor="day_input">Date of damage</label><DatePicker id="day" value={f.values.day} onChange={set("day")} />
          <label htmlFor="loss">Estimated loss</label><CurrencyInput id="loss" prefix="$" decimalsLimit={2} value={f.values.loss} onValueChange={(value) => set("loss")(value ?? "")} />
          <p><button type="button" onClick={() => (f.values.holder ? setStep(1) : f.setFieldTouched("holder"))}>Continue</button></p>
        </>
      ) : (
        <>
          <label htmlFor="rooms_input">Rooms</label><Multiselect id="rooms" data={["Bath", "Bedroom", "Cellar", "Kitchen"]} value={f.values.rooms} onChange={set("rooms")} />
          <label htmlFor="repair_input">Repair firm</label><Combobox id="repair" data={["Hammer & Sons", "Quick Fix", "Rohr Meister"]} value={f.values.repair} onChange={set("repair")} filter="contains" />
          <label htmlFor="code">Confirmation code</label><OTPInput id="code" maxLength={6} value={f.values.code} onChange={set("code")} render={({ slots }) => <div style={{ display: "flex" }}>{slots.map((slot, i) => <div key={i} style={{ width: 34, height: 34, border: "1px solid #888" }}>{slot.char}</div>)}</div>} />
          <p><label><input type="checkbox" {...f.getFieldProps({ name: "police", type: "checkbox" })} /> Police informed</label></p>
          <p><button type="button" onClick={() => setStep(0)}>Back</button> <button type="submit">File claim</button></p>
        </>
      )}
    </form>
  );
});
