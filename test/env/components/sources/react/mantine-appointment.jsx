import "@mantine/core/styles.css";
import "@mantine/dates/styles.css";
import { Button, Checkbox, MantineProvider, NumberInput, Select, TagsInput, TextInput, Title } from "@mantine/core";
import { DatePickerInput, TimeInput } from "@mantine/dates";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

function Appointment() {
  const [v, set] = useState({ patient: "", doctor: null, day: null, time: "", persons: 1, symptoms: [], first: false });
  const [page, setPage] = useState("form");
  const put = (key) => (value) => set((old) => ({ ...old, [key]: value }));
  async function submit(event) {
    event.preventDefault();
    const body = { patient: { name: v.patient, first_visit: v.first }, slot: { doctor: v.doctor, date: v.day, time: v.time }, persons: v.persons, symptoms: v.symptoms };
    const answer = await fetch(SEND, json("PUT", body));
    if (!answer.ok) return setPage("error");
    history.pushState({}, "", `${location.pathname}/confirmed`);
    setPage("done");
  }
  if (page === "done") return <Title order={2}>See you soon, {v.patient}</Title>;
  return (
    <form onSubmit={submit} style={{ width: 420, margin: 32 }}>
      {page === "error" && <p role="alert">Patient, doctor and day are needed.</p>}
      <TextInput label="Patient" value={v.patient} onChange={(e) => put("patient")(e.currentTarget.value)} />
      <Select label="Doctor" searchable data={[{ value: "17", label: "Dr. Amara" }, { value: "23", label: "Dr. Brandt" }, { value: "31", label: "Dr. Costa" }]} value={v.doctor} onChange={put("doctor")} />
      <DatePickerInput label="Day" placeholder="Pick a day" value={v.day} onChange={put("day")} />
      <TimeInput label="Time" value={v.time} onChange={(e) => put("time")(e.currentTarget.value)} />
      <NumberInput label="Persons" min={1} max={6} value={v.persons} onChange={put("persons")} />
      <TagsInput label="Symptoms" value={v.symptoms} onChange={put("symptoms")} />
      <Checkbox mt="md" label="This is my first visit" checked={v.first} onChange={(e) => put("first")(e.currentTarget.checked)} />
      <Button type="submit" mt="md">Make appointment</Button>
    </form>
  );
}
start(() => <MantineProvider><Appointment /></MantineProvider>);
