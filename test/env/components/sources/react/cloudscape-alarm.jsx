import "@cloudscape-design/global-styles/index.css";
import { Alert, Button, Checkbox, DatePicker, Form, FormField, Input, Multiselect, RadioGroup, Select, SpaceBetween, Textarea, TimeInput, Toggle } from "@cloudscape-design/components";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const SITES = [{ value: "eu-1", label: "Dublin" }, { value: "eu-2", label: "Frankfurt" }, { value: "us-1", label: "Ohio" }];
const CHANNELS = [{ value: "m", label: "Mail" }, { value: "s", label: "Text message" }, { value: "p", label: "Pager" }, { value: "c", label: "Chat" }];

start(function Alarm() {
  const [v, set] = useState({ name: "", site: null, channels: [], from: "", at: "", level: null, text: "", repeat: false, muted: false });
  const [note, setNote] = useState();
  const on = (key, of = (detail) => detail.value) => ({ detail }) => set((old) => ({ ...old, [key]: of(detail) }));
  async function send(event) {
    event.preventDefault();
    const body = { ...v, site: v.site?.value, channels: v.channels.map((c) => c.value) };
    const answer = await (await fetch(SEND, json("POST", body))).json();
    setNote(answer.alarm ? "success" : "error");
  }
  return (
    <form onSubmit={send} style={{ width: 560, margin: 32 }}>
      <Form actions={<Button variant="primary">Create alarm</Button>}>
        <SpaceBetween size="l">
          {note && <Alert type={note}>{note === "success" ? "The alarm is active." : "The alarm was not created."}</Alert>}
          <FormField label="Alarm name"><Input value={v.name} onChange={on("name")} /></FormField>
          <FormField label="Site"><Select selectedOption={v.site} options={SITES} placeholder="Choose a site" onChange={on("site", (d) => d.selectedOption)} /></FormField>
          <FormField label="Channels"><Multiselect selectedOptions={v.channels} options={CHANNELS} placeholder="Choose channels" onChange={on("channels", (d) => d.selectedOptions)} /></FormField>
          <FormField label="Active from"><DatePicker value={v.from} onChange={on("from")} placeholder="YYYY/MM/DD" openCalendarAriaLabel={() => "Choose a date"} /></FormField>
          <FormField label="Time of day"><TimeInput value={v.at} onChange={on("at")} format="hh:mm" placeholder="hh:mm" /></FormField>
          <FormField label="Severity"><RadioGroup value={v.level} onChange={on("level")} items={[{ value: "1", label: "Low" }, { value: "2", label: "Medium" }, { value: "3", label: "High" }]} /></FormField>
          <FormField label="Message"><Textarea value={v.text} onChange={on("text")} /></FormField>
          <Toggle checked={v.repeat} onChange={on("repeat", (d) => d.checked)}>Repeat hourly</Toggle>
          <Checkbox checked={v.muted} onChange={on("muted", (d) => d.checked)}>Start muted</Checkbox>
        </SpaceBetween>
      </Form>
    </form>
  );
});
