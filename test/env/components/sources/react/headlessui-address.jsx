import { Combobox, ComboboxInput, ComboboxOption, ComboboxOptions, Description, Field, Fieldset, Input, Label, Legend, Listbox, ListboxButton, ListboxOption, ListboxOptions, Radio, RadioGroup, Switch } from "@headlessui/react";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const COUNTRIES = [{ code: "AT", name: "Austria" }, { code: "BE", name: "Belgium" }, { code: "CZ", name: "Czechia" }, { code: "DK", name: "Denmark" }];
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday"];

start(function Address() {
  const [country, setCountry] = useState(null);
  const [query, setQuery] = useState("");
  const [days, setDays] = useState([]);
  const hits = COUNTRIES.filter((c) => c.name.toLowerCase().includes(query.toLowerCase()));
  return (
    <form action={SEND} method="post" style={{ display: "grid", gap: 12, width: 400, margin: 32 }}>
      <h1>Delivery address</h1>
      <Field><Label>Recipient</Label> <Input name="recipient" required /></Field>
      <Field><Label>Street and number</Label> <Input name="street" /></Field>
      <Field>
        <Label>Country</Label>
        <Combobox name="country" by="code" value={country} onChange={setCountry}>
          <ComboboxInput displayValue={(c) => c?.name ?? ""} onChange={(e) => setQuery(e.target.value)} />
          <ComboboxOptions anchor="bottom" style={{ background: "white" }}>{hits.map((c) => <ComboboxOption key={c.code} value={c}>{c.name}</ComboboxOption>)}</ComboboxOptions>
        </Combobox>
      </Field>
      <Field>
        <Label>Delivery days</Label>
        <Listbox name="days" multiple value={days} onChange={setDays}>
          <ListboxButton>{days.join(", ") || "Any day"}</ListboxButton>
          <ListboxOptions anchor="bottom" style={{ background: "white" }}>{DAYS.map((d) => <ListboxOption key={d} value={d}>{d}</ListboxOption>)}</ListboxOptions>
        </Listbox>
      </Field>
      <Fieldset>
        <Legend>Kind of place</Legend>
        <RadioGroup name="place">{["House", "Flat", "Office"].map((p) => <Field key={p}><Radio value={p.toLowerCase()}><span>○</span></Radio> <Label>{p}</Label></Field>)}</RadioGroup>
      </Fieldset>
      <Field><Switch name="ring" style={{ width: 40 }}>⬤</Switch> <Label>Ring the bell</Label> <Description>Otherwise we leave it at the door.</Description></Field>
      <button type="submit">Save address</button>
    </form>
  );
});
