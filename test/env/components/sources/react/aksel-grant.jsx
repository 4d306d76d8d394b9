import {
  Alert, Button, Checkbox, CheckboxGroup, ConfirmationPanel, DatePicker, FileUpload, Radio, RadioGroup, Select, Switch,
  Textarea, TextField, ToggleGroup, UNSAFE_Combobox as Combobox, useDatepicker,
} from "@navikt/ds-react";
import "@navikt/ds-css";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const two = (n) => String(n).padStart(2, "0");
const iso = (d) => (d ? `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}` : "");
const PURPOSES = [["Insulation", "ins"], ["Heat pump", "heat"], ["Solar roof", "sol"], ["New windows", "win"]];
const DISTRICTS = ["Bergen", "Bodin", "Hamar", "Molde", "Narvik", "Tromso"];

start(function Grant() {
  const [v, setV] = useState({ name: "", sum: "", home: "", district: [], purposes: [], payout: "bank", heirs: "", reason: "", pension: false, truth: false, file: [] });
  const [errors, setErrors] = useState({});
  const [done, setDone] = useState(null);
  const put = (key) => (value) => setV((old) => ({ ...old, [key]: value }));
  const { datepickerProps, inputProps, selectedDay } = useDatepicker({ locale: "en", fromDate: new Date(2020, 0, 1), toDate: new Date(2035, 0, 1) });
  const toggle = (key) => (option, on) => setV((old) => ({ ...old, [key]: on ? [...old[key].filter((o) => o !== option), option] : old[key].filter((o) => o !== option) }));
  async function send(event) {
    event.preventDefault();
    const wrong = { ...(v.name ? {} : { name: "Write your name" }) };
    setErrors(wrong);
    if (Object.keys(wrong).length > 0) return;
    const body = new FormData();
    body.set("applicant", v.name);
    body.set("sum", v.sum.replace(/\s/g, ""));
    body.set("home", v.home);
    body.set("district", v.district[0] ?? "");
    for (const one of v.purposes) body.append("purposes[]", one);
    body.set("begins", iso(selectedDay));
    body.set("payout", v.payout);
    body.set("reason", v.reason);
    body.set("pension", v.pension ? "true" : "false");
    body.set("confirmed", v.truth ? "yes" : "no");
    if (v.file[0]) body.set("offer", v.file[0].file);
    const answer = await fetch(SEND, { method: "POST", body });
    setDone(answer.ok);
  }
  return (
    <form onSubmit={send} noValidate style={{ width: 560, margin: 32, display: "grid", gap: 20 }}>
      {done !== null && <Alert variant={done ? "success" : "error"}>{done ? "Your application is with us" : "We cannot take the application"}</Alert>}
      <TextField label="Applicant" value={v.name} error={errors.name} onChange={(e) => put("name")(e.target.value)} />
      <TextField label="Amount applied for" description="In whole euros" inputMode="numeric" value={v.sum} onChange={(e) => put("sum")(e.target.value)} />
      <Select label="Kind of home" value={v.home} onChange={(e) => put("home")(e.target.value)}>
        <option value="">Choose</option><option value="house">Detached house</option><option value="flat">Flat</option><option value="farm">Farm</option>
      </Select>
      <Combobox label="District" options={DISTRICTS} selectedOptions={v.district} onToggleSelected={(option, on) => put("district")(on ? [option] : [])} />
      <Combobox label="What the grant is for" isMultiSelect options={PURPOSES.map(([label, value]) => ({ label, value }))} selectedOptions={PURPOSES.filter(([, value]) => v.purposes.includes(value)).map(([label, value]) => ({ label, value }))} onToggleSelected={toggle("purposes")} />
      <DatePicker {...datepickerProps}><DatePicker.Input {...inputProps} label="Work begins on" /></DatePicker>
      <ToggleGroup label="Pay out" value={v.payout} onChange={put("payout")}>
        <ToggleGroup.Item value="bank">Bank transfer</ToggleGroup.Item><ToggleGroup.Item value="bill">Against bills</ToggleGroup.Item><ToggleGroup.Item value="rate">In instalments</ToggleGroup.Item>
      </ToggleGroup>
      <Textarea label="Reasons" maxLength={400} value={v.reason} onChange={(e) => put("reason")(e.target.value)} />
      <FileUpload.Dropzone label="Offer of a tradesman" fileLimit={{ max: 1, current: v.file.length }} onSelect={put("file")} />
      {v.file.map(({ file }) => <FileUpload.Item key={file.name} file={file} button={{ action: "delete", onClick: () => put("file")([]) }} />)}
      <Switch checked={v.pension} onChange={(e) => put("pension")(e.target.checked)}>I draw a pension</Switch>
      <ConfirmationPanel checked={v.truth} label="All of this is true" onChange={() => put("truth")(!v.truth)}>False statements may be punished.</ConfirmationPanel>
      <div><Button>Apply</Button></div>
    </form>
  );
});
