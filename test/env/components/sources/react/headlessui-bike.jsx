import "react-datepicker/dist/react-datepicker.css";
import { Combobox, ComboboxButton, ComboboxInput, ComboboxOption, ComboboxOptions, Description, Dialog, DialogPanel, DialogTitle, Field, Fieldset, Input, Label, Legend, Listbox, ListboxButton, ListboxOption, ListboxOptions, Radio, RadioGroup, Switch, Textarea } from "@headlessui/react";
import { format } from "date-fns";
import { useForm as useTanStackForm } from "@tanstack/react-form";
import { useState } from "react";
import DatePicker from "react-datepicker";
import { json, SEND, start } from "./start.jsx";

const BRANDS = [{ id: 1, name: "Bergamont" }, { id: 2, name: "Cube" }, { id: 3, name: "Gazelle" }, { id: 4, name: "Koga" }, { id: 5, name: "Trek" }];
const JOBS = [{ id: "brake", name: "Brakes" }, { id: "chain", name: "Chain" }, { id: "light", name: "Lights" }, { id: "tyre", name: "Tyres" }];
const PLANS = [{ id: "eco", name: "Economy", text: "Ready in ten days" }, { id: "std", name: "Standard", text: "Ready in five days" }, { id: "exp", name: "Express", text: "Ready tomorrow" }];
const list = { background: "white", border: "1px solid #ccc", padding: 6 };

function Brand({ value, onChange }) {
  const [query, setQuery] = useState("");
  const filtered = query === "" ? BRANDS : BRANDS.filter((brand) => brand.name.toLowerCase().includes(query.toLowerCase()));
  return (
    <Combobox value={value} onChange={onChange} onClose={() => setQuery("")}>
      <ComboboxInput displayValue={(brand) => brand?.name} onChange={(event) => setQuery(event.target.value)} />
      <ComboboxButton>▾</ComboboxButton>
      <ComboboxOptions anchor="bottom start" style={list}>{filtered.map((brand) => <ComboboxOption key={brand.id} value={brand}>{brand.name}</ComboboxOption>)}</ComboboxOptions>
    </Combobox>
  );
}

start(function Bike() {
  const [done, setDone] = useState(false);
  const [failure, setFailure] = useState("");
  const form = useTanStackForm({
    defaultValues: { customer: "", brand: null, jobs: [], plan: "std", dropoff: null, courtesy: false, remarks: "" },
    onSubmit: async ({ value }) => {
      const { brand, jobs, dropoff, ...rest } = value;
      const body = { ...rest, brand: brand?.id ?? null, jobs: jobs.map((job) => job.id), dropoff: dropoff && format(dropoff, "yyyy-MM-dd HH:mm") };
      const answer = await (await fetch(SEND, json("POST", body))).json();
      setFailure(answer.status === "ok" ? "" : "Please fill in all required fields");
      setDone(answer.status === "ok");
    },
  });
  const required = ({ value }) => (value ? undefined : "This field is required");
  const error = (field) => !field.state.meta.isValid && <em role="alert" style={{ color: "crimson" }}>{field.state.meta.errors.join(", ")}</em>;
  return (
    <form style={{ display: "grid", gap: 14, width: 440, margin: 32 }} onSubmit={(event) => { event.preventDefault(); event.stopPropagation(); form.handleSubmit(); }}>
      <h1>Bike repair</h1>
      {failure && <p role="alert">{failure}</p>}
      <form.Field name="customer" validators={{ onSubmit: required }}>{(field) => <Field><Label>Customer</Label><br /><Input value={field.state.value} onBlur={field.handleBlur} onChange={(event) => field.handleChange(event.target.value)} />{error(field)}</Field>}</form.Field>
      <form.Field name="brand" validators={{ onSubmit: required }}>{(field) => <Field><Label>Brand</Label><br /><Brand value={field.state.value} onChange={field.handleChange} />{error(field)}</Field>}</form.Field>
      <form.Field name="jobs">
        {(field) => (
          <Field>
            <Label>What needs work</Label><br />
            <Listbox value={field.state.value} onChange={field.handleChange} multiple by="id">
              <ListboxButton>{field.state.value.length > 0 ? field.state.value.map((job) => job.name).join(", ") : "Nothing selected"}</ListboxButton>
              <ListboxOptions anchor="bottom start" style={list}>{JOBS.map((job) => <ListboxOption key={job.id} value={job}>{job.name}</ListboxOption>)}</ListboxOptions>
            </Listbox>
          </Field>
        )}
      </form.Field>
      <form.Field name="plan">
        {(field) => (
          <Fieldset>
            <Legend>Plan</Legend>
            <RadioGroup value={field.state.value} onChange={field.handleChange} aria-label="Plan" style={{ display: "flex", gap: 8 }}>
              {PLANS.map((plan) => <Radio key={plan.id} value={plan.id} style={{ border: "1px solid #999", padding: 8 }}>{({ checked }) => <><b>{plan.name}</b>{checked && " ✓"}<br /><small>{plan.text}</small></>}</Radio>)}
            </RadioGroup>
          </Fieldset>
        )}
      </form.Field>
      <form.Field name="dropoff" validators={{ onSubmit: required }}>{(field) => <div><label htmlFor="dropoff">Drop-off</label><br /><DatePicker id="dropoff" selected={field.state.value} onChange={field.handleChange} showTimeSelect timeIntervals={30} dateFormat="MM/dd/yyyy h:mm aa" placeholderText="Select day and time" />{error(field)}</div>}</form.Field>
      <form.Field name="courtesy">{(field) => <Field style={{ display: "flex", gap: 8 }}><Switch checked={field.state.value} onChange={field.handleChange} style={{ width: 44, height: 24, borderRadius: 12, background: field.state.value ? "#2563eb" : "#ccc" }}><span aria-hidden="true" style={{ display: "block", width: 18, height: 18, borderRadius: 9, background: "white" }} /></Switch><Label>Lend me a bike</Label></Field>}</form.Field>
      <form.Field name="remarks">{(field) => <Field><Label>Remarks</Label><Description>Anything we should know?</Description><Textarea rows={3} value={field.state.value} onChange={(event) => field.handleChange(event.target.value)} /></Field>}</form.Field>
      <button type="submit">Book the repair</button>
      <Dialog open={done} onClose={() => setDone(false)} style={{ position: "fixed", inset: 0, background: "#0006", padding: 80 }}>
        <DialogPanel style={{ background: "white", padding: 24, width: 320 }}><DialogTitle>Booked</DialogTitle><p>Your repair is booked.</p><button type="button" onClick={() => { setDone(false); form.reset(); }}>Close</button></DialogPanel>
      </Dialog>
    </form>
  );
});
