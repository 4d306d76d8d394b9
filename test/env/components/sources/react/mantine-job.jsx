import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import { Alert, Button, Container, FileInput, Group, MantineProvider, MultiSelect, NumberInput, Radio, Select, Stack, Switch, TextInput, Title } from "@mantine/core";
import { DateInput } from "@mantine/dates";
import { isEmail, isNotEmpty, useForm } from "@mantine/form";
import dayjs from "dayjs";
import customParseFormat from "dayjs/plugin/customParseFormat";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

// lets DateInput read dates in its own format
dayjs.extend(customParseFormat);

const POSITIONS = [
  { value: "baker", label: "Baker" },
  { value: "sales", label: "Sales assistant" },
  { value: "driver", label: "Delivery driver" },
  { value: "office", label: "Office clerk" },
];

function Application() {
  const [status, setStatus] = useState("open");
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { name: "", email: "", position: null, available: null, hours: 40, languages: [], contract: "permanent", cv: null, license: false },
    validate: {
      name: isNotEmpty("Enter your name"),
      email: isEmail("Enter a valid email"),
      position: isNotEmpty("Choose a position"),
      available: isNotEmpty("When could you start?"),
    },
  });
  async function handleSubmit(values) {
    const data = new FormData();
    data.append("name", values.name);
    data.append("email", values.email);
    data.append("position", values.position);
    data.append("available_from", values.available);
    data.append("hours", values.hours);
    values.languages.forEach((language) => data.append("languages", language));
    data.append("contract", values.contract);
    if (values.cv) data.append("cv", values.cv);
    data.append("driving_license", values.license);
    const response = await fetch(SEND, { method: "POST", body: data });
    setStatus(response.ok ? "sent" : "failed");
  }
  if (status === "sent") return <Container size="xs" py="xl"><Title order={2}>Thank you for your application</Title><p>We will be in touch within a week.</p></Container>;
  return (
    <Container size="xs" py="xl">
      <Title order={2} mb="md">Apply for a job</Title>
      {status === "failed" && <Alert color="red" title="Not sent">Your application could not be sent.</Alert>}
      <form onSubmit={form.onSubmit(handleSubmit)}>
        <Stack>
          <TextInput withAsterisk label="Full name" key={form.key("name")} {...form.getInputProps("name")} />
          <TextInput withAsterisk label="Email address" placeholder="your@email.com" key={form.key("email")} {...form.getInputProps("email")} />
          <Select withAsterisk label="Position" placeholder="Pick one" data={POSITIONS} key={form.key("position")} {...form.getInputProps("position")} />
          <DateInput withAsterisk label="Available from" placeholder="Date" valueFormat="DD/MM/YYYY" key={form.key("available")} {...form.getInputProps("available")} />
          <NumberInput label="Hours per week" min={8} max={40} key={form.key("hours")} {...form.getInputProps("hours")} />
          <MultiSelect label="Languages" placeholder="Pick all that you speak" data={["English", "French", "German", "Italian", "Turkish"]} searchable key={form.key("languages")} {...form.getInputProps("languages")} />
          <Radio.Group label="Contract" key={form.key("contract")} {...form.getInputProps("contract")}>
            <Group mt="xs"><Radio value="permanent" label="Permanent" /><Radio value="temporary" label="Temporary" /><Radio value="apprentice" label="Apprenticeship" /></Group>
          </Radio.Group>
          <FileInput label="CV" placeholder="Upload your CV" accept="application/pdf" clearable key={form.key("cv")} {...form.getInputProps("cv")} />
          <Switch label="I have a driving licence" key={form.key("license")} {...form.getInputProps("license", { type: "checkbox" })} />
          <Group justify="flex-end"><Button type="submit">Send application</Button></Group>
        </Stack>
      </form>
    </Container>
  );
}
start(() => <MantineProvider><Application /></MantineProvider>);
