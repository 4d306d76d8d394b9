import { Button, Checkbox, CheckboxGroup, ComboBox, DatePicker, defaultTheme, Form, Item, NumberField, Picker, Provider, Radio, RadioGroup, Switch, TextField } from "@adobe/react-spectrum";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

start(function Permit() {
  const [v, set] = useState({ owner: "", zone: null, street: null, day: null, meters: 5, tools: [], noise: null, night: false });
  const [state, setState] = useState();
  const on = (key) => (value) => set((old) => ({ ...old, [key]: value }));
  async function send(event) {
    event.preventDefault();
    const answer = await fetch(SEND, json("POST", { query: "mutation Permit($input: PermitInput!) { permit(input: $input) { id } }", variables: { input: { ...v, day: v.day?.toString() ?? null } } }));
    const { errors } = await answer.json();
    setState(errors ? errors[0].message : "granted");
  }
  if (state === "granted") return <Provider theme={defaultTheme} colorScheme="light"><h2>Your permit is on its way</h2></Provider>;
  return (
    <Provider theme={defaultTheme} colorScheme="light">
      <Form maxWidth="size-4600" margin="size-300" onSubmit={send}>
        {state && <div role="alert">{state}</div>}
        <TextField label="Owner" value={v.owner} onChange={on("owner")} isRequired necessityIndicator="icon" validationBehavior="aria" />
        <Picker label="Zone" selectedKey={v.zone} onSelectionChange={on("zone")}><Item key="z1">Old town</Item><Item key="z2">Harbour</Item><Item key="z3">Hillside</Item></Picker>
        <ComboBox label="Street" selectedKey={v.street} onSelectionChange={on("street")}><Item key="birch">Birch Lane</Item><Item key="mill">Mill Road</Item><Item key="quay">Quay Street</Item></ComboBox>
        <DatePicker label="Day of work" value={v.day} onChange={on("day")} />
        <NumberField label="Metres" value={v.meters} onChange={on("meters")} minValue={0} />
        <CheckboxGroup label="Machines" value={v.tools} onChange={on("tools")}><Checkbox value="dig">Digger</Checkbox><Checkbox value="crane">Crane</Checkbox><Checkbox value="pump">Pump</Checkbox></CheckboxGroup>
        <RadioGroup label="Noise" value={v.noise} onChange={on("noise")}><Radio value="0">None</Radio><Radio value="1">Some</Radio><Radio value="2">Loud</Radio></RadioGroup>
        <Switch isSelected={v.night} onChange={on("night")}>Night work</Switch>
        <Button type="submit" variant="accent">Apply</Button>
      </Form>
    </Provider>
  );
});
