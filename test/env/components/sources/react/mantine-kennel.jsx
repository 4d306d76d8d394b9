import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import { Alert, Button, Chip, Fieldset, Group, Input, MantineProvider, MultiSelect, NumberInput, Select, Stack, TextInput, Title } from "@mantine/core";
import { DatePickerInput, TimeInput } from "@mantine/dates";
import { schemaResolver, useForm } from "@mantine/form";
import { useState } from "react";
import { z } from "zod";
import { json, SEND, start } from "./start.jsx";

const schema = z.object({
  owner: z.string().min(2, { message: "Name should have at least 2 letters" }),
  dog: z.string().min(1, { message: "What is your dog called?" }),
  stay: z.tuple([z.string(), z.string()], { message: "Pick the days of the stay" }),
});

function Kennel() {
  const [answer, setAnswer] = useState(null);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { owner: "", dog: "", breed: null, weight: "", stay: [null, null], arrival: "", needs: [], size: "m" },
    validate: schemaResolver(schema),
  });
  const onSubmit = form.onSubmit(async (values) => {
    const { stay: [from, to], ...rest } = values;
    const response = await fetch(SEND, json("POST", { boarding: { ...rest, stay: { from, to } } }));
    const body = await response.json();
    setAnswer(body);
    if (body.ok) form.reset();
  });
  return (
    <form onSubmit={onSubmit} style={{ width: 480, margin: 32 }}>
      <Title order={2}>Dog boarding</Title>
      <Stack>
        {answer && <Alert color={answer.ok ? "green" : "red"} title={answer.ok ? "See you soon" : "Not booked"}>{answer.text}</Alert>}
        <TextInput withAsterisk label="Owner" key={form.key("owner")} {...form.getInputProps("owner")} />
        <Fieldset legend="The dog">
          <TextInput withAsterisk label="Name of the dog" key={form.key("dog")} {...form.getInputProps("dog")} />
          <Select label="Breed" searchable clearable nothingFoundMessage="No such breed" data={["Beagle", "Border Collie", "Dachshund", "Labrador", "Poodle", "Mixed breed"]} key={form.key("breed")} {...form.getInputProps("breed")} />
          <NumberInput label="Weight" suffix=" kg" min={1} max={90} decimalScale={1} key={form.key("weight")} {...form.getInputProps("weight")} />
          <Input.Wrapper label="Size">
            <Chip.Group key={form.key("size")} {...form.getInputProps("size")}>
              <Group gap="xs"><Chip value="s">Small</Chip><Chip value="m">Medium</Chip><Chip value="l">Large</Chip></Group>
            </Chip.Group>
          </Input.Wrapper>
        </Fieldset>
        <DatePickerInput withAsterisk type="range" label="Stay" placeholder="Pick dates" key={form.key("stay")} {...form.getInputProps("stay")} />
        <TimeInput label="Time of arrival" key={form.key("arrival")} {...form.getInputProps("arrival")} />
        <MultiSelect label="Care" placeholder="Anything special" data={[{ value: "med", label: "Medication" }, { value: "diet", label: "Own food" }, { value: "groom", label: "Grooming" }, { value: "single", label: "Single room" }]} key={form.key("needs")} {...form.getInputProps("needs")} />
        <Button type="submit">Book a place</Button>
      </Stack>
    </form>
  );
}
start(() => <MantineProvider><Kennel /></MantineProvider>);
