import "@mantine/core/styles.css";
import { Button, Chip, Group, Input, MantineProvider, MultiSelect, Notification, Rating, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const MUTATION = "mutation Answer($input: SurveyInput!) { answerSurvey(input: $input) { id } }";

function Survey() {
  const [note, setNote] = useState("");
  const form = useForm({ initialValues: { email: "", stars: 0, pace: "normal", topics: [], contact: "", remarks: "" }, validate: { email: (v) => (/@/.test(v) ? null : "A mail address, please") } });
  const send = form.onSubmit(async (input) => {
    const answer = await (await fetch(SEND, json("POST", { operationName: "Answer", query: MUTATION, variables: { input } }))).json();
    setNote(answer.errors ? answer.errors[0].message : "Merci pour votre avis !");
    if (!answer.errors) form.reset();
  });
  return (
    <form onSubmit={send} style={{ width: 420, margin: 32 }}>
      {note && <Notification onClose={() => setNote("")}>{note}</Notification>}
      <TextInput label="E-mail" withAsterisk {...form.getInputProps("email")} />
      <Input.Wrapper label="Overall"><Rating {...form.getInputProps("stars")} /></Input.Wrapper>
      <Input.Wrapper label="Pace"><div><SegmentedControl data={[{ value: "slow", label: "Too slow" }, { value: "normal", label: "Just right" }, { value: "fast", label: "Too fast" }]} {...form.getInputProps("pace")} /></div></Input.Wrapper>
      <MultiSelect label="Topics to deepen" data={[{ value: "t1", label: "Budgets" }, { value: "t2", label: "Hiring" }, { value: "t3", label: "Contracts" }, { value: "t4", label: "Security" }]} {...form.getInputProps("topics")} />
      <Input.Wrapper label="Contact me by">
        <Chip.Group {...form.getInputProps("contact")}><Group>{["Phone", "Post", "Chat"].map((c) => <Chip key={c} value={c.toLowerCase()}>{c}</Chip>)}</Group></Chip.Group>
      </Input.Wrapper>
      <Textarea label="Remarks" {...form.getInputProps("remarks")} />
      <Button type="submit" mt="md">Send answers</Button>
    </form>
  );
}
start(() => <MantineProvider><Survey /></MantineProvider>);
