import { Alert, Button, DatePicker, Form, FormGroup, MenuToggle, NumberInput, Radio, Select, SelectList, SelectOption, Slider, Switch, TextArea, TextInput, TimePicker } from "@patternfly/react-core";
import "@patternfly/react-core/dist/styles/base.css";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const SYSTEMS = { erp: "Accounting", crm: "Customer base", dwh: "Data warehouse" };
const GROUPS = { fin: "Finance", ops: "Operations", aud: "Auditors", it: "Support desk" };

start(function Access() {
  const [v, setV] = useState({ requester: "", system: "", groups: [], from: "", at: "", seats: 1, level: "", days: 10, reason: "", urgent: false });
  const [open, setOpen] = useState("");
  const [note, setNote] = useState();
  const set = (key) => (value) => setV((old) => ({ ...old, [key]: value }));
  const toggle = (name, text) => (ref) => <MenuToggle ref={ref} id={name} onClick={() => setOpen(open === name ? "" : name)} isExpanded={open === name} style={{ width: 260 }}>{text}</MenuToggle>;
  async function send(event) {
    event.preventDefault();
    const answer = await fetch(SEND, json("POST", v));
    setNote(answer.ok ? "done" : "failed");
  }
  return (
    <Form onSubmit={send} style={{ width: 520, margin: 32 }}>
      {note && <Alert isInline variant={note === "done" ? "success" : "danger"} title={note === "done" ? "Request filed" : "Request incomplete"} />}
      <FormGroup label="Requester" isRequired fieldId="requester"><TextInput isRequired id="requester" value={v.requester} onChange={(_, value) => set("requester")(value)} /></FormGroup>
      <FormGroup label="System" isRequired fieldId="system">
        <Select isOpen={open === "system"} selected={v.system} onSelect={(_, value) => { set("system")(value); setOpen(""); }} onOpenChange={(on) => setOpen(on ? "system" : "")} toggle={toggle("system", SYSTEMS[v.system] ?? "Select a system")}>
          <SelectList>{Object.entries(SYSTEMS).map(([value, text]) => <SelectOption key={value} value={value}>{text}</SelectOption>)}</SelectList>
        </Select>
      </FormGroup>
      <FormGroup label="Groups" fieldId="groups">
        <Select role="menu" isOpen={open === "groups"} selected={v.groups} onSelect={(_, value) => set("groups")(v.groups.includes(value) ? v.groups.filter((one) => one !== value) : [...v.groups, value])} onOpenChange={(on) => setOpen(on ? "groups" : "")} toggle={toggle("groups", v.groups.length ? `${v.groups.length} selected` : "Select groups")}>
          <SelectList>{Object.entries(GROUPS).map(([value, text]) => <SelectOption key={value} hasCheckbox isSelected={v.groups.includes(value)} value={value}>{text}</SelectOption>)}</SelectList>
        </Select>
      </FormGroup>
      <FormGroup label="Valid from" fieldId="from"><DatePicker inputProps={{ id: "from" }} value={v.from} onChange={(_, value) => set("from")(value)} /></FormGroup>
      <FormGroup label="Active at" fieldId="at"><TimePicker inputProps={{ id: "at" }} is24Hour time={v.at} onChange={(_, time) => set("at")(time)} /></FormGroup>
      <FormGroup label="Seats" fieldId="seats"><NumberInput inputProps={{ id: "seats" }} inputAriaLabel="Seats" min={1} value={v.seats} onMinus={() => set("seats")(v.seats - 1)} onPlus={() => set("seats")(v.seats + 1)} onChange={(event) => set("seats")(Number(event.target.value))} /></FormGroup>
      <FormGroup label="Access level" role="radiogroup" isInline fieldId="level">{[["r", "Read"], ["w", "Write"], ["a", "Administer"]].map(([value, text]) => <Radio key={value} id={value} name="level" label={text} isChecked={v.level === value} onChange={() => set("level")(value)} />)}</FormGroup>
      <FormGroup label="Reason" fieldId="reason"><TextArea id="reason" value={v.reason} onChange={(_, value) => set("reason")(value)} /></FormGroup>
      <FormGroup><Switch id="urgent" label="Urgent" isChecked={v.urgent} onChange={(_, on) => set("urgent")(on)} /></FormGroup>
      <Button type="submit">File request</Button>
    </Form>
  );
});
