import "@carbon/styles/css/styles.css";
import { Button, Checkbox, DatePicker, DatePickerInput, Dropdown, FilterableMultiSelect, Form, InlineNotification, NumberInput, RadioButton, RadioButtonGroup, Stack, TextInput, Toggle } from "@carbon/react";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const SITES = [{ id: "s1", text: "Ghent" }, { id: "s2", text: "Liège" }, { id: "s3", text: "Namur" }];
const PARTS = ["Pump", "Valve", "Filter", "Sensor"].map((text, i) => ({ id: `p${i + 1}`, text }));

start(function Request() {
  const [v, set] = useState({ requester: "", site: null, needed: "", parts: [], amount: 1, way: "", urgent: false });
  const [answer, setAnswer] = useState();
  const put = (part) => set((old) => ({ ...old, ...part }));
  async function submit(event) {
    event.preventDefault();
    const response = await fetch(SEND, json("POST", { ...v, site: v.site?.id, parts: v.parts.map((p) => p.id) }));
    setAnswer(await response.json());
  }
  return (
    <Form onSubmit={submit} style={{ width: 480, padding: 32 }}>
      <Stack gap={6}>
        {answer && <InlineNotification kind={answer.reference ? "success" : "error"} title={answer.reference ? `Demande ${answer.reference} enregistrée` : "Demande incomplète"} />}
        <TextInput id="requester" labelText="Requester" value={v.requester} onChange={(e) => put({ requester: e.target.value })} />
        <Dropdown id="site" titleText="Site" label="Choose a site" items={SITES} itemToString={(s) => s?.text ?? ""} selectedItem={v.site} onChange={({ selectedItem }) => put({ site: selectedItem })} />
        <DatePicker datePickerType="single" dateFormat="Y/m/d" onChange={(_, text) => put({ needed: text })}><DatePickerInput id="needed" labelText="Needed by" placeholder="yyyy/mm/dd" pattern="[0-9]{4}/[0-9]{2}/[0-9]{2}" /></DatePicker>
        <FilterableMultiSelect id="parts" titleText="Spare parts" items={PARTS} itemToString={(p) => p?.text ?? ""} onChange={({ selectedItems }) => put({ parts: selectedItems })} />
        <NumberInput id="amount" label="Amount" min={1} max={99} value={v.amount} onChange={(_, { value }) => put({ amount: Number(value) })} />
        <RadioButtonGroup name="way" legendText="Shipping" valueSelected={v.way} onChange={(way) => put({ way })}><RadioButton id="w1" value="road" labelText="Truck" /><RadioButton id="w2" value="rail" labelText="Train" /><RadioButton id="w3" value="air" labelText="Plane" /></RadioButtonGroup>
        <Toggle id="urgent" labelText="Urgent" labelA="No" labelB="Yes" toggled={v.urgent} onToggle={(urgent) => put({ urgent })} />
        <Button type="submit">Request parts</Button>
      </Stack>
    </Form>
  );
});
