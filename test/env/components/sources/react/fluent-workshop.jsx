import { Button, Caption1, Dropdown, Field, FluentProvider, Input, MessageBar, MessageBarBody, MessageBarTitle, Option, OptionGroup, Radio, RadioGroup, Slider, SpinButton, Switch, Tag, TagPicker, TagPickerControl, TagPickerGroup, TagPickerInput, TagPickerList, TagPickerOption, webLightTheme } from "@fluentui/react-components";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const TOPICS = ["Accessibility", "Analytics", "Design", "Marketing", "Privacy", "Security"];

function Topics({ value, onChange, ...field }) {
  const [query, setQuery] = useState("");
  const left = TOPICS.filter((topic) => !value.includes(topic) && topic.toLowerCase().includes(query.toLowerCase()));
  const select = (_, data) => {
    onChange(data.selectedOptions);
    setQuery("");
  };
  return (
    <TagPicker onOptionSelect={select} selectedOptions={value}>
      <TagPickerControl>
        <TagPickerGroup aria-label="Selected topics">{value.map((topic) => <Tag key={topic} shape="rounded" value={topic}>{topic}</Tag>)}</TagPickerGroup>
        <TagPickerInput {...field} value={query} onChange={(event) => setQuery(event.target.value)} />
      </TagPickerControl>
      <TagPickerList>{left.length > 0 ? left.map((topic) => <TagPickerOption key={topic} value={topic}>{topic}</TagPickerOption>) : <TagPickerOption value="none">No topics</TagPickerOption>}</TagPickerList>
    </TagPicker>
  );
}

const EMPTY = { title: "", trainer: "", date: "", topics: [], seats: 10, hours: 2, mode: "onsite", record: false };

function Workshop() {
  const [values, setValues] = useState(EMPTY);
  const [errors, setErrors] = useState({});
  const [outcome, setOutcome] = useState(null);
  const put = (name) => (value) => setValues((old) => ({ ...old, [name]: value }));
  const submit = async (event) => {
    event.preventDefault();
    const found = {};
    if (values.title.trim() === "") found.title = "A title is required";
    if (values.trainer === "") found.trainer = "Select a trainer";
    if (values.date === "") found.date = "Select a date";
    setErrors(found);
    if (Object.keys(found).length > 0) return;
    const response = await fetch(SEND, json("POST", { workshop: values }));
    setOutcome(response.ok ? "success" : "error");
    if (response.ok) setValues(EMPTY);
  };
  const state = (name) => ({ validationMessage: errors[name], validationState: errors[name] ? "error" : "none" });
  return (
    <form onSubmit={submit} noValidate style={{ display: "grid", gap: 14, width: 460, margin: 32 }}>
      <h2>Propose a workshop</h2>
      {outcome && <MessageBar intent={outcome}><MessageBarBody><MessageBarTitle>{outcome === "success" ? "Workshop proposed" : "Not saved"}</MessageBarTitle>{outcome === "success" ? "We will come back to you." : "Please try again."}</MessageBarBody></MessageBar>}
      <Field label="Title" required {...state("title")}><Input value={values.title} onChange={(_, data) => put("title")(data.value)} /></Field>
      <Field label="Trainer" required {...state("trainer")}>
        <Dropdown placeholder="Select a trainer" selectedOptions={values.trainer ? [values.trainer] : []} value={{ 31: "Ines Prado", 32: "Jonas Falk", 45: "Kim Sooah", 46: "Lena Wirth" }[values.trainer] ?? ""} onOptionSelect={(_, data) => put("trainer")(data.optionValue)}>
          <OptionGroup label="Employees"><Option value="31">Ines Prado</Option><Option value="32">Jonas Falk</Option></OptionGroup>
          <OptionGroup label="Freelancers"><Option value="45">Kim Sooah</Option><Option value="46">Lena Wirth</Option></OptionGroup>
        </Dropdown>
      </Field>
      <Field label="Date" required {...state("date")}><Input type="date" value={values.date} onChange={(_, data) => put("date")(data.value)} /></Field>
      <Field label="Topics"><Topics value={values.topics} onChange={put("topics")} /></Field>
      <Field label="Seats"><SpinButton value={values.seats} min={4} max={60} onChange={(_, data) => put("seats")(data.value ?? Number.parseInt(data.displayValue, 10))} /></Field>
      <Field label="Length in hours" hint={`${values.hours} hours`}><Slider min={1} max={8} value={values.hours} onChange={(_, data) => put("hours")(data.value)} /></Field>
      <Field label="Where"><RadioGroup value={values.mode} onChange={(_, data) => put("mode")(data.value)}><Radio value="onsite" label="On site" /><Radio value="online" label="Online" /><Radio value="hybrid" label={<>Hybrid<br /><Caption1>Some on site, some online</Caption1></>} /></RadioGroup></Field>
      <Switch label="Record the workshop" checked={values.record} onChange={(_, data) => put("record")(data.checked)} />
      <Button appearance="primary" type="submit">Send proposal</Button>
    </form>
  );
}
start(() => <FluentProvider theme={webLightTheme}><Workshop /></FluentProvider>);
