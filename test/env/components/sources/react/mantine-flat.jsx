import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import { Alert, Button, Checkbox, Container, Group, Input, MantineProvider, Paper, RangeSlider, SegmentedControl, Select, SimpleGrid, Switch, Text, TextInput, Title } from "@mantine/core";
import { DatePickerInput, TimeGrid } from "@mantine/dates";
import { schemaResolver, useForm } from "@mantine/form";
import { useState } from "react";
import { z } from "zod";
import { json, SEND, start } from "./start.jsx";

const DISTRICTS = [
  { group: "City", items: [{ value: "101", label: "Old Town" }, { value: "102", label: "Market Quarter" }] },
  { group: "East bank", items: [{ value: "201", label: "Dockside" }, { value: "202", label: "Mill Island" }] },
  { group: "Outskirts", items: [{ value: "301", label: "Fairview" }, { value: "302", label: "Oak Hill" }] },
];
const FEATURES = [
  { value: "balcony", name: "Balcony", description: "Or a terrace" },
  { value: "lift", name: "Lift", description: "From the ground floor" },
  { value: "garage", name: "Garage", description: "One car" },
  { value: "kitchen", name: "Fitted kitchen", description: "With oven and dishwasher" },
];
const schema = z.object({
  name: z.string().trim().min(2, { error: "Please enter your name" }),
  district: z.string({ error: "Please pick a district" }),
  movingIn: z.string({ error: "Please pick a date" }),
});

function Search() {
  const [state, setState] = useState("open");
  const form = useForm({
    initialValues: { name: "", district: null, rent: [500, 1500], rooms: "2", features: [], movingIn: null, viewing: null, pets: false },
    validate: schemaResolver(schema, { sync: true }),
  });
  const submit = form.onSubmit(async ({ rent: [min, max], ...values }) => {
    const body = { ...values, rent: { min, max }, viewing: values.viewing?.slice(0, 5) ?? null };
    const { success } = await (await fetch(SEND, json("POST", body))).json();
    setState(success ? "sent" : "failed");
  });
  if (state === "sent")
    return <Container size="sm" my="xl"><Alert color="green" title="We are looking">You will hear from us as soon as a flat is free.</Alert></Container>;
  return (
    <Container size="sm" my="xl">
      <Title order={1}>Find a flat</Title>
      {state === "failed" && <Alert color="red" my="md">Your search could not be saved.</Alert>}
      <Paper component="form" withBorder p="lg" mt="md" onSubmit={submit}>
        <SimpleGrid cols={1} spacing="md">
          <TextInput label="Your name" withAsterisk {...form.getInputProps("name")} />
          <Select label="District" placeholder="Where do you want to live?" withAsterisk searchable data={DISTRICTS} {...form.getInputProps("district")} />
          <Input.Wrapper label="Monthly rent" description="In euros, with heating">
            <RangeSlider my="lg" min={300} max={2500} step={100} minRange={100} thumbFromLabel="Lowest rent" thumbToLabel="Highest rent" marks={[{ value: 500, label: "500" }, { value: 1500, label: "1500" }]} {...form.getInputProps("rent")} />
          </Input.Wrapper>
          <Input.Wrapper label="Rooms">
            <div><SegmentedControl data={["1", "2", "3", "4", "5"]} {...form.getInputProps("rooms")} /></div>
          </Input.Wrapper>
          <Checkbox.Group label="Features" {...form.getInputProps("features")}>
            <SimpleGrid cols={2} spacing="xs" mt="xs">
              {FEATURES.map(({ value, name, description }) => (
                <Checkbox.Card key={value} value={value} p="sm">
                  <Group wrap="nowrap" align="flex-start"><Checkbox.Indicator /><div><Text size="sm" fw={500}>{name}</Text><Text size="xs" c="dimmed">{description}</Text></div></Group>
                </Checkbox.Card>
              ))}
            </SimpleGrid>
          </Checkbox.Group>
          <DatePickerInput label="Moving in" placeholder="Pick a date" withAsterisk clearable dropdownType="modal" valueFormat="DD MMM YYYY" {...form.getInputProps("movingIn")} />
          <Input.Wrapper label="Time for viewings">
            <TimeGrid mt="xs" data={["08:30", "10:00", "12:30", "14:00", "17:30", "19:00"]} allowDeselect {...form.getInputProps("viewing")} />
          </Input.Wrapper>
          <Switch label="I have pets" {...form.getInputProps("pets", { type: "checkbox" })} />
          <Group justify="flex-end"><Button type="submit">Save search</Button></Group>
        </SimpleGrid>
      </Paper>
    </Container>
  );
}
start(() => <MantineProvider><Search /></MantineProvider>);
