import { Button, Checkbox, CheckboxGroup, ComboBox, DateInput, DatePicker, DateSegment, FieldError, Form, Group, Input, Label, ListBox, ListBoxItem, NumberField, Popover, Switch, TextField } from "react-aria-components";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

start(function Trip() {
  const [v, set] = useState({ destination: null, from: null, nights: 1, needs: [], car: false });
  const [sent, setSent] = useState("");
  const put = (key) => (value) => set((old) => ({ ...old, [key]: value }));
  async function submit(event) {
    event.preventDefault();
    const traveller = new FormData(event.target).get("traveller");
    const answer = await fetch(SEND, json("PUT", { traveller, ...v, from: v.from?.toString() ?? null }));
    setSent(answer.ok ? "yes" : "no");
  }
  if (sent === "yes") return <h2>Viaje solicitado</h2>;
  return (
    <Form onSubmit={submit} style={{ display: "grid", gap: 12, width: 400, margin: 32 }}>
      {sent === "no" && <div role="alert">Faltan datos</div>}
      <TextField name="traveller" isRequired><Label>Traveller</Label><Input /><FieldError /></TextField>
      <ComboBox selectedKey={v.destination} onSelectionChange={put("destination")}>
        <Label>Destination</Label>
        <div><Input /><Button>▼</Button></div>
        <Popover style={{ background: "white", border: "1px solid" }}><ListBox>{[["BCN", "Barcelona"], ["LIS", "Lisbon"], ["OSL", "Oslo"]].map(([id, name]) => <ListBoxItem key={id} id={id}>{name}</ListBoxItem>)}</ListBox></Popover>
      </ComboBox>
      <DatePicker value={v.from} onChange={put("from")} isRequired validationBehavior="aria">
        <Label>Departure</Label>
        <Group style={{ display: "flex" }}><DateInput style={{ display: "flex" }}>{(segment) => <DateSegment segment={segment} />}</DateInput></Group>
      </DatePicker>
      <NumberField value={v.nights} onChange={put("nights")} minValue={1} maxValue={30}><Label>Nights</Label><Group><Button slot="decrement">-</Button><Input /><Button slot="increment">+</Button></Group></NumberField>
      <CheckboxGroup value={v.needs} onChange={put("needs")}><Label>Needs</Label>{["Hotel", "Visa", "Advance payment"].map((n) => <Checkbox key={n} value={n}><span style={{ border: "1px solid", width: 12, height: 12, display: "inline-block" }} /> {n}</Checkbox>)}</CheckboxGroup>
      <Switch isSelected={v.car} onChange={put("car")}><span>◐</span> Rental car</Switch>
      <Button type="submit">Ask for approval</Button>
    </Form>
  );
});
