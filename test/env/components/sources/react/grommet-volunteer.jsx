import { Box, Button, CheckBox, CheckBoxGroup, DateInput, Form, FormField, Grommet, Heading, Notification, RadioButtonGroup, RangeInput, Select, TextArea, TextInput } from "grommet";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

start(function Volunteer() {
  const [value, setValue] = useState({ name: "", team: "", from: "", days: [], shift: "", hours: 4, note: "", car: false });
  const [state, setState] = useState();
  async function send() {
    const answer = await fetch(SEND, json("POST", { ...value, from: value.from.slice(0, 10), hours: Number(value.hours) }));
    setState(answer.status === 201 ? "done" : "failed");
  }
  if (state === "done") return <Grommet><Heading level={2}>Thanks for helping!</Heading></Grommet>;
  return (
    <Grommet>
      <Box width="medium" pad="medium">
        {state === "failed" && <Notification status="critical" title="Something is missing" />}
        <Form value={value} onChange={setValue} onSubmit={send} validate="submit">
          <FormField label="Name" name="name" htmlFor="name" required><TextInput id="name" name="name" /></FormField>
          <FormField label="Team" name="team" htmlFor="team__input"><Select id="team" name="team" options={[{ label: "Kitchen", value: "k" }, { label: "Stage crew", value: "s" }, { label: "Tickets", value: "t" }]} labelKey="label" valueKey={{ key: "value", reduce: true }} /></FormField>
          <FormField label="Available from" name="from" htmlFor="from"><DateInput id="from" name="from" format="mm/dd/yyyy" /></FormField>
          <FormField label="Days" name="days"><CheckBoxGroup name="days" options={["Friday", "Saturday", "Sunday"]} /></FormField>
          <FormField label="Shift" name="shift"><RadioButtonGroup name="shift" options={[{ label: "Early", value: "e" }, { label: "Late", value: "l" }, { label: "Night", value: "n" }]} /></FormField>
          <FormField label="Hours" name="hours" htmlFor="hours"><RangeInput id="hours" name="hours" min={1} max={12} /></FormField>
          <FormField label="Note" name="note" htmlFor="note"><TextArea id="note" name="note" /></FormField>
          <FormField name="car"><CheckBox name="car" label="I bring a car" toggle /></FormField>
          <Button type="submit" primary label="Sign up" />
        </Form>
      </Box>
    </Grommet>
  );
});
