import { useForm } from "@tanstack/react-form";
import { Button, Calendar, CalendarCell, CalendarGrid, Checkbox, ComboBox, DateInput, DatePicker, DateSegment, Dialog, FieldError, Form, Group, Heading, I18nProvider, Input, Label, ListBox, ListBoxItem, NumberField, Popover, Radio, RadioGroup, Select, SelectValue, TextField, useAsyncList } from "react-aria-components";
import { useState } from "react";
import { z } from "zod";
import { json, SEND, start } from "./start.jsx";

const css = `
body { font-family: system-ui; margin: 32px }
form { display: grid; gap: 16px; width: 460px }
label, .react-aria-Label { display: block; font-weight: 600; margin-bottom: 4px }
input { font: inherit; padding: 6px; border: 1px solid #8c8c8c; border-radius: 4px }
.react-aria-Group, .react-aria-DateInput { display: flex; align-items: center; gap: 4px }
.react-aria-DateInput { border: 1px solid #8c8c8c; border-radius: 4px; padding: 6px; min-width: 160px }
.react-aria-Popover { background: white; border: 1px solid #8c8c8c; border-radius: 6px; padding: 6px; min-width: var(--trigger-width) }
.react-aria-ListBoxItem { padding: 4px 10px; border-radius: 4px } .react-aria-ListBoxItem[data-focused] { background: #eef } .react-aria-ListBoxItem[data-selected] { font-weight: 600 }
.react-aria-Radio, .react-aria-Checkbox { display: inline-flex; align-items: center; gap: 8px; margin-right: 16px; font-weight: 400 }
.mark { width: 16px; height: 16px; border: 2px solid #666; box-sizing: border-box } .react-aria-Radio .mark { border-radius: 8px } [data-selected] > .mark { background: #2b6cb0; border-color: #2b6cb0 }
.react-aria-CalendarCell { width: 30px; padding: 5px 0; text-align: center } .react-aria-CalendarCell[data-outside-month] { display: none } .react-aria-CalendarCell[data-selected] { background: #2b6cb0; color: white }
.react-aria-FieldError { color: #b00020; font-size: 13px }`;

const WOOD = [{ id: "beech", name: "Beech" }, { id: "birch", name: "Birch" }, { id: "oak", name: "Oak" }, { id: "spruce", name: "Spruce" }];
const EXTRAS = [{ id: "kindling", name: "Kindling" }, { id: "lighters", name: "Fire lighters" }, { id: "briquettes", name: "Briquettes" }, { id: "gloves", name: "Gloves" }];
const schema = z.object({
  customer: z.string().min(1, "Enter your name"),
  village: z.string({ error: "Choose your village" }).min(1, "Choose your village"),
  wood: z.string({ error: "Choose a kind of wood" }),
  cubic: z.number(),
  length: z.string(),
  day: z.any().refine((value) => value, "Choose a day"),
  extras: z.array(z.string()),
  stack: z.boolean(),
});

function Village({ value, onChange, error }) {
  const list = useAsyncList({
    async load({ signal, filterText }) {
      const response = await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(filterText ?? "")}`, { signal });
      return { items: (await response.json()).map((name) => ({ name })) };
    },
  });
  return (
    <ComboBox items={list.items} inputValue={list.filterText} onInputChange={list.setFilterText} value={value} onChange={onChange} isInvalid={!!error} allowsEmptyCollection>
      <Label>Village</Label>
      <Group><Input /><Button>▼</Button></Group>
      <FieldError>{error}</FieldError>
      <Popover><ListBox renderEmptyState={() => "We do not deliver there"}>{(item) => <ListBoxItem id={item.name}>{item.name}</ListBoxItem>}</ListBox></Popover>
    </ComboBox>
  );
}

const Choose = ({ label, items, error, ...props }) => (
  <Select isInvalid={!!error} {...props}>
    <Label>{label}</Label>
    <Button><SelectValue /> <span aria-hidden="true">▼</span></Button>
    <FieldError>{error}</FieldError>
    <Popover><ListBox items={items}>{(item) => <ListBoxItem>{item.name}</ListBoxItem>}</ListBox></Popover>
  </Select>
);

const Day = ({ error, ...props }) => (
  <DatePicker isInvalid={!!error} {...props}>
    <Label>Delivery day</Label>
    <Group><DateInput>{(segment) => <DateSegment segment={segment} />}</DateInput><Button>▼</Button></Group>
    <FieldError>{error}</FieldError>
    <Popover>
      <Dialog>
        <Calendar>
          <header style={{ display: "flex", justifyContent: "space-between" }}><Button slot="previous">◀</Button><Heading style={{ fontSize: 16, margin: 0 }} /><Button slot="next">▶</Button></header>
          <CalendarGrid>{(date) => <CalendarCell date={date} />}</CalendarGrid>
        </Calendar>
      </Dialog>
    </Popover>
  </DatePicker>
);

start(function Firewood() {
  const [answer, setAnswer] = useState(null);
  const form = useForm({
    defaultValues: { customer: "", village: null, wood: null, cubic: 1, length: "33", day: null, extras: [], stack: false },
    validators: { onSubmit: schema },
    onSubmit: async ({ value: { day, ...rest } }) => {
      const response = await fetch(SEND, json("POST", { order: { ...rest, day: day.toString() } }));
      setAnswer(await response.json());
    },
  });
  const error = (field) => field.state.meta.errors[0]?.message;
  if (answer?.order) return <main><h1>Thank you</h1><p>Your firewood is ordered, number {answer.order}.</p></main>;
  return (
    <I18nProvider locale="en-US">
      <style>{css}</style>
      <h1>Order firewood</h1>
      {answer?.errors && <p role="alert" style={{ color: "#b00020" }}>The order was refused.</p>}
      <Form validationBehavior="aria" onSubmit={(event) => { event.preventDefault(); form.handleSubmit(); }}>
        <form.Field name="customer">{(f) => <TextField value={f.state.value} onChange={f.handleChange} onBlur={f.handleBlur} isInvalid={!!error(f)}><Label>Customer</Label><Input /><FieldError>{error(f)}</FieldError></TextField>}</form.Field>
        <form.Field name="village">{(f) => <Village value={f.state.value} onChange={f.handleChange} error={error(f)} />}</form.Field>
        <form.Field name="wood">{(f) => <Choose label="Kind of wood" items={WOOD} value={f.state.value} onChange={f.handleChange} error={error(f)} />}</form.Field>
        <form.Field name="cubic">{(f) => <NumberField value={f.state.value} onChange={f.handleChange} minValue={0.5} maxValue={20} step={0.5}><Label>Cubic metres</Label><Group><Button slot="decrement">-</Button><Input /><Button slot="increment">+</Button></Group></NumberField>}</form.Field>
        <form.Field name="length">
          {(f) => (
            <RadioGroup value={f.state.value} onChange={f.handleChange}>
              <Label>Length of the logs</Label>
              <div>{[["25", "25 cm"], ["33", "33 cm"], ["50", "50 cm"]].map(([value, text]) => <Radio key={value} value={value}><div className="mark" />{text}</Radio>)}</div>
            </RadioGroup>
          )}
        </form.Field>
        <form.Field name="day">{(f) => <Day value={f.state.value} onChange={f.handleChange} error={error(f)} />}</form.Field>
        <form.Field name="extras">{(f) => <Choose label="Extras" items={EXTRAS} selectionMode="multiple" placeholder="Select extras" value={f.state.value} onChange={f.handleChange} />}</form.Field>
        <form.Field name="stack">{(f) => <Checkbox isSelected={f.state.value} onChange={f.handleChange}><div className="mark" />Stack the wood for me</Checkbox>}</form.Field>
        <Button type="submit">Place order</Button>
      </Form>
    </I18nProvider>
  );
});
