import { Button, Checkbox, Combobox, ComboboxItem, ComboboxPopover, ComboboxProvider, Form, FormCheckbox, FormError, FormGroup, FormGroupLabel, FormInput, FormLabel, FormRadio, FormRadioGroup, FormSubmit, Select, SelectItem, SelectLabel, SelectPopover, SelectProvider, useFormStore } from "@ariakit/react";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

start(function Member() {
  const form = useFormStore({ defaultValues: { name: "", since: "", plan: "", terms: false } });
  const [status, setStatus] = useState("");
  const [branch, setBranch] = useState("");
  const [sports, setSports] = useState([]);
  form.useSubmit(async ({ values }) => {
    const answer = await (await fetch(SEND, json("POST", { ...values, branch, sports }))).json();
    setStatus(answer.status);
  });
  return (
    <Form store={form} style={{ display: "grid", gap: 12, width: 400, margin: 32 }}>
      {status === "created" && <div role="status">Tervetuloa jäseneksi!</div>}
      {status === "invalid" && <div role="alert">Tarkista tiedot.</div>}
      <div><FormLabel name={form.names.name}>Member name</FormLabel> <FormInput name={form.names.name} required /><FormError name={form.names.name} /></div>
      <div><FormLabel name={form.names.since}>Member since</FormLabel> <FormInput type="month" name={form.names.since} /></div>
      <ComboboxProvider value={branch} setValue={setBranch}><label htmlFor="branch">Home branch</label> <Combobox id="branch" placeholder="e.g. Oulu" /><ComboboxPopover gutter={4} style={{ background: "white" }}>{["Espoo", "Kuopio", "Oulu", "Turku"].filter((b) => b.toLowerCase().startsWith(branch.toLowerCase())).map((b) => <ComboboxItem key={b} value={b} />)}</ComboboxPopover></ComboboxProvider>
      <SelectProvider value={sports} setValue={setSports}><SelectLabel>Sports</SelectLabel><Select>{sports.length ? `${sports.length} chosen` : "None"}</Select><SelectPopover gutter={4} style={{ background: "white" }}>{["Bowling", "Curling", "Rowing", "Tennis"].map((s) => <SelectItem key={s} value={s} />)}</SelectPopover></SelectProvider>
      <FormRadioGroup><FormGroupLabel>Plan</FormGroupLabel>{["Basic", "Family", "Senior"].map((p) => <label key={p}><FormRadio name={form.names.plan} value={p.toUpperCase()} /> {p}</label>)}</FormRadioGroup>
      <label><FormCheckbox name={form.names.terms} /> I accept the rules</label>
      <FormSubmit>Become a member</FormSubmit>
    </Form>
  );
});
