import { Button, Calendar, CalendarCell, CalendarGrid, Checkbox, CheckboxGroup, DateInput, DatePicker, DateSegment, Dialog, FieldError, Form, Group, Heading, I18nProvider, Input, Label, ListBox, ListBoxItem, Popover, Radio, RadioGroup, Select, SelectValue, Slider, SliderOutput, SliderThumb, SliderTrack, Switch, TextField, TimeField } from "react-aria-components";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const css = `
.react-aria-Popover { background: white; border: 1px solid #888; border-radius: 6px; padding: 6px; min-width: 200px }
.react-aria-ListBoxItem { padding: 4px 8px } .react-aria-ListBoxItem[data-focused] { background: #def }
.react-aria-DateInput { display: inline-flex; border: 1px solid #888; padding: 4px; min-width: 140px }
.react-aria-Radio, .react-aria-Checkbox, .react-aria-Switch { display: inline-flex; gap: 6px; margin-right: 14px; align-items: center }
.react-aria-Radio::before { content: ""; width: 14px; height: 14px; border: 1px solid #555; border-radius: 50% } .react-aria-Radio[data-selected]::before { background: #06c }
.box { width: 14px; height: 14px; border: 1px solid #555 } [data-selected] > .box { background: #06c }
.indicator { width: 34px; height: 18px; border-radius: 9px; background: #bbb } [data-selected] > .indicator { background: #06c }
.react-aria-SliderTrack { height: 30px; width: 320px; background: linear-gradient(#999, #999) center / 100% 3px no-repeat; position: relative } .react-aria-SliderThumb { width: 18px; height: 18px; border-radius: 50%; background: #06c; top: 50% }
.react-aria-CalendarCell { width: 30px; text-align: center; padding: 4px } .react-aria-CalendarCell[data-outside-month] { display: none } .react-aria-CalendarCell[data-selected] { background: #06c; color: white }
.react-aria-FieldError { color: #b00 }`;

const Picker = ({ label, name, items, ...props }) => (
  <Select name={name} placeholder="Select an item" {...props}>
    <Label>{label}</Label>
    <div><Button><SelectValue /> <span aria-hidden="true">▼</span></Button></div>
    <FieldError />
    <Popover><ListBox>{items.map(([id, text]) => <ListBoxItem key={id} id={id}>{text}</ListBoxItem>)}</ListBox></Popover>
  </Select>
);

start(function Hall() {
  const [message, setMessage] = useState("");
  const onSubmit = async (event) => {
    event.preventDefault();
    const response = await fetch(SEND, { method: "POST", body: new FormData(event.currentTarget) });
    const { ok } = await response.json();
    setMessage(ok ? "Thank you. The hall is reserved for you." : "Sorry, we could not reserve the hall.");
  };
  return (
    <I18nProvider locale="en-GB">
      <style>{css}</style>
      <Form onSubmit={onSubmit} style={{ display: "grid", gap: 14, width: 480, margin: 32 }}>
        <h1>Reserve the village hall</h1>
        {message && <p role="status">{message}</p>}
        <TextField name="organiser" isRequired><Label>Organiser</Label><div><Input /></div><FieldError /></TextField>
        <Picker label="Occasion" name="occasion" isRequired items={[["wedding", "Wedding"], ["concert", "Concert"], ["meeting", "Club meeting"], ["market", "Flea market"]]} />
        <DatePicker name="day" isRequired>
          <Label>Day of the event</Label>
          <Group><DateInput>{(segment) => <DateSegment segment={segment} />}</DateInput><Button>📅</Button></Group>
          <FieldError />
          <Popover><Dialog><Calendar><header style={{ display: "flex" }}><Button slot="previous">◀</Button><Heading style={{ flex: 1, textAlign: "center", margin: 0 }} /><Button slot="next">▶</Button></header><CalendarGrid>{(date) => <CalendarCell date={date} />}</CalendarGrid></Calendar></Dialog></Popover>
        </DatePicker>
        <TimeField name="begin"><Label>Begin</Label><DateInput>{(segment) => <DateSegment segment={segment} />}</DateInput></TimeField>
        <RadioGroup name="stage"><Label>Stage</Label><div><Radio value="none">No stage</Radio><Radio value="small">Small stage</Radio><Radio value="large">Large stage</Radio></div></RadioGroup>
        <CheckboxGroup name="equipment"><Label>Equipment</Label><div>{[["pa", "Loudspeakers"], ["beamer", "Projector"], ["piano", "Piano"], ["bar", "Bar"]].map(([value, text]) => <Checkbox key={value} value={value}><div className="box" />{text}</Checkbox>)}</div></CheckboxGroup>
        <Slider defaultValue={10} minValue={0} maxValue={100} step={5}><Label>Parking spaces</Label> <SliderOutput /><SliderTrack><SliderThumb name="parking" /></SliderTrack></Slider>
        <Switch name="heating" value="yes"><div className="indicator" />Heating</Switch>
        <div><Button type="submit">Reserve hall</Button> <Button type="reset">Start again</Button></div>
      </Form>
    </I18nProvider>
  );
});
