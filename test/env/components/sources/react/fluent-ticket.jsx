import { Button, Checkbox, Combobox, Dropdown, Field, FluentProvider, Input, MessageBar, Option, Radio, RadioGroup, SpinButton, Textarea, webLightTheme } from "@fluentui/react-components";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

function Ticket() {
  const [v, set] = useState({ subject: "", queue: "", teams: [], level: "", hours: 1, details: "", notify: false });
  const [state, setState] = useState("");
  const put = (part) => set((old) => ({ ...old, ...part }));
  async function submit(event) {
    event.preventDefault();
    const answer = await fetch(SEND, json("POST", { data: { type: "ticket", attributes: v } }));
    setState(answer.ok ? "success" : "error");
  }
  return (
    <form onSubmit={submit} style={{ display: "grid", gap: 12, width: 420, margin: 32 }}>
      {state && <MessageBar intent={state}>{state === "success" ? "Ticket opened" : "Ticket could not be opened"}</MessageBar>}
      <Field label="Subject" required><Input value={v.subject} onChange={(_, d) => put({ subject: d.value })} /></Field>
      <Field label="Queue" required>
        <Dropdown onOptionSelect={(_, d) => put({ queue: d.optionValue })}>
          <Option value="q-net">Network</Option><Option value="q-hw">Hardware</Option><Option value="q-acc">Accounts</Option>
        </Dropdown>
      </Field>
      <Field label="Teams concerned">
        <Combobox multiselect selectedOptions={v.teams} onOptionSelect={(_, d) => put({ teams: d.selectedOptions })}>
          {["Finance", "Logistics", "Sales", "Support"].map((t) => <Option key={t}>{t}</Option>)}
        </Combobox>
      </Field>
      <Field label="Severity"><RadioGroup layout="horizontal" onChange={(_, d) => put({ level: d.value })}>{["Low", "Medium", "High"].map((l, i) => <Radio key={l} value={`S${3 - i}`} label={l} />)}</RadioGroup></Field>
      <Field label="Hours lost"><SpinButton min={0} max={40} value={v.hours} onChange={(_, d) => put({ hours: d.value ?? Number(d.displayValue) })} /></Field>
      <Field label="Details"><Textarea value={v.details} onChange={(_, d) => put({ details: d.value })} /></Field>
      <Checkbox label="Notify my manager" onChange={(_, d) => put({ notify: d.checked })} />
      <Button appearance="primary" type="submit">Open ticket</Button>
    </form>
  );
}
start(() => <FluentProvider theme={webLightTheme}><Ticket /></FluentProvider>);
