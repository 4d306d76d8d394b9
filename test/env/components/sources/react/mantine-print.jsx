import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import { Alert, Button, Chip, Container, FileInput, Group, Input, MantineProvider, NumberInput, SegmentedControl, Select, Stack, Switch, TextInput, Title } from "@mantine/core";
import { DatePickerInput, TimePicker } from "@mantine/dates";
import { isNotEmpty, useForm } from "@mantine/form";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const PRODUCTS = [
  { group: "Paper", items: [{ value: "flyer", label: "Flyers" }, { value: "poster", label: "Posters" }, { value: "card", label: "Business cards" }] },
  { group: "Textile", items: [{ value: "shirt", label: "T-shirts" }, { value: "flag", label: "Flags" }] },
];
const FINISH = [{ value: "lam", label: "Laminated" }, { value: "fold", label: "Folded" }, { value: "round", label: "Rounded corners" }, { value: "hole", label: "Punched" }];

function Order() {
  const [state, setState] = useState("open");
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { customer: "", product: null, copies: 100, colour: "4/0", collect: null, at: "", finish: [], file: null, proof: false },
    validate: {
      customer: isNotEmpty("Enter your name"),
      product: isNotEmpty("Select a product"),
      collect: isNotEmpty("Select a day"),
    },
  });
  const send = form.onSubmit(async (values) => {
    setState("busy");
    const data = new FormData();
    data.append("customer", values.customer);
    data.append("product", values.product);
    data.append("copies", values.copies);
    data.append("colour", values.colour);
    data.append("collect_on", values.collect);
    data.append("collect_at", values.at);
    for (const item of values.finish) data.append("finish[]", item);
    data.append("proof", values.proof);
    if (values.file) data.append("artwork", values.file);
    const answer = await fetch(SEND, { method: "POST", body: data });
    setState(answer.ok ? "done" : "failed");
  });
  if (state === "done")
    return <Container size="xs" py="xl"><Alert color="teal" title="Order received">We will print it right away.</Alert></Container>;
  return (
    <Container size="xs" py="xl">
      <Title order={2} mb="md">Print order</Title>
      {state === "failed" && <Alert color="red" mb="md">Your order could not be placed.</Alert>}
      <form onSubmit={send}>
        <Stack>
          <TextInput label="Customer" withAsterisk key={form.key("customer")} {...form.getInputProps("customer")} />
          <Select label="Product" withAsterisk searchable placeholder="Pick one" data={PRODUCTS} key={form.key("product")} {...form.getInputProps("product")} />
          <NumberInput label="Copies" min={1} max={20000} thousandSeparator="," key={form.key("copies")} {...form.getInputProps("copies")} />
          <Input.Wrapper label="Printing">
            <SegmentedControl fullWidth data={[{ value: "1/0", label: "Black" }, { value: "4/0", label: "Colour" }, { value: "4/4", label: "Both sides" }]} key={form.key("colour")} {...form.getInputProps("colour")} />
          </Input.Wrapper>
          <Group grow align="flex-start">
            <DatePickerInput label="Collect on" withAsterisk placeholder="Pick a day" valueFormat="D MMMM YYYY" minDate={new Date()} key={form.key("collect")} {...form.getInputProps("collect")} />
            <TimePicker label="Collect at" clearable key={form.key("at")} {...form.getInputProps("at")} />
          </Group>
          <Input.Wrapper label="Finishing">
            <Chip.Group multiple key={form.key("finish")} {...form.getInputProps("finish")}>
              <Group gap="xs">{FINISH.map(({ value, label }) => <Chip key={value} value={value}>{label}</Chip>)}</Group>
            </Chip.Group>
          </Input.Wrapper>
          <FileInput label="Artwork" placeholder="Upload your file" accept="image/*,application/pdf" clearable key={form.key("file")} {...form.getInputProps("file")} />
          <Switch label="Send me a proof first" key={form.key("proof")} {...form.getInputProps("proof", { type: "checkbox" })} />
          <Button type="submit" loading={state === "busy"}>Place order</Button>
        </Stack>
      </form>
    </Container>
  );
}
start(() => <MantineProvider><Order /></MantineProvider>);
