import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import { Autocomplete, Button, Checkbox, FileInput, Group, MantineProvider, NumberInput, Radio, Slider, Stepper, Switch, Text, TextInput } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const ROOFS = [["flat", "Flat roof", "Panels on stands"], ["gable", "Gable roof", "Panels on rails"], ["shed", "Shed roof", "Panels lie on it"]];
const EXTRAS = [["bat", "Battery", "Ten hours of storage"], ["box", "Wallbox", "Charges your car"], ["pump", "Heat pump control", "Uses what is left over"]];

function Solar() {
  const [step, setStep] = useState(0);
  const form = useForm({
    initialValues: { customer: "", town: "", roof: "", area: "", share: 50, visit: null, extras: [], photo: null, news: false },
    validate: (v) => (step === 0 ? { customer: v.customer.trim().length < 2 ? "Please tell us your name" : null, roof: v.roof === "" ? "Choose a roof" : null } : { visit: v.visit === null ? "When may we come?" : null }),
  });
  const next = () => !form.validate().hasErrors && setStep(1);
  const send = form.onSubmit(async ({ extras, photo, news, ...rest }) => {
    const data = new FormData();
    for (const [key, value] of Object.entries(rest)) data.append(`solar[${key}]`, value ?? "");
    for (const item of extras) data.append("solar[extras][]", item);
    data.append("solar[news]", news ? "1" : "0");
    if (photo) data.append("solar[photo]", photo);
    const answer = await (await fetch(SEND, { method: "POST", body: data })).json();
    if (answer.ok) setStep(2);
    else form.setErrors({ customer: answer.message });
  });
  return (
    <form onSubmit={send} style={{ width: 520, margin: 32 }}>
      <Stepper active={step}>
        <Stepper.Step label="Your roof">
          <TextInput label="Customer" withAsterisk {...form.getInputProps("customer")} />
          <Autocomplete label="Town" data={["Aarau", "Bern", "Chur", "Davos", "Genf"]} {...form.getInputProps("town")} />
          <Radio.Group label="Roof" withAsterisk {...form.getInputProps("roof")}>
            <Group mt="xs">{ROOFS.map(([value, name, text]) => <Radio.Card key={value} value={value} p="xs" w={150}><Group wrap="nowrap"><Radio.Indicator /><div><Text size="sm">{name}</Text><Text size="xs" c="dimmed">{text}</Text></div></Group></Radio.Card>)}</Group>
          </Radio.Group>
          <NumberInput label="Area" suffix=" m²" min={5} max={9000} thousandSeparator hideControls {...form.getInputProps("area")} />
          <Text size="sm" mt="sm">Own use in percent</Text>
          <Slider aria-label="Own use in percent" step={10} marks={[{ value: 20, label: "20" }, { value: 80, label: "80" }]} mb="xl" {...form.getInputProps("share")} />
          <Button mt="md" onClick={next}>Next</Button>
        </Stepper.Step>
        <Stepper.Step label="Our visit">
          <DateTimePicker label="Visit" valueFormat="DD MMM YYYY HH:mm" placeholder="Day and time" {...form.getInputProps("visit")} />
          <Checkbox.Group label="Extras" {...form.getInputProps("extras")}>
            {EXTRAS.map(([value, name, text]) => <Checkbox.Card key={value} value={value} p="xs" mt="xs"><Group wrap="nowrap"><Checkbox.Indicator /><div><Text size="sm">{name}</Text><Text size="xs" c="dimmed">{text}</Text></div></Group></Checkbox.Card>)}
          </Checkbox.Group>
          <FileInput label="Photo of the meter" placeholder="Choose a file" clearable {...form.getInputProps("photo")} />
          <Switch mt="md" label="Send me news" {...form.getInputProps("news", { type: "checkbox" })} />
          <Group mt="md"><Button variant="default" onClick={() => setStep(0)}>Back</Button><Button type="submit">Ask for an offer</Button></Group>
        </Stepper.Step>
        <Stepper.Completed>We will see you soon.</Stepper.Completed>
      </Stepper>
    </form>
  );
}
start(() => <MantineProvider><Solar /></MantineProvider>);
