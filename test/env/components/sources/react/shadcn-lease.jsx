import "react-day-picker/style.css";
import { zodResolver } from "@hookform/resolvers/zod";
import { format } from "date-fns";
import { OTPInput } from "input-otp";
import { Checkbox, Label, Popover, RadioGroup, Select, Slider, Switch } from "radix-ui";
import { useEffect, useState } from "react";
import { DayPicker } from "react-day-picker";
import { Controller, useForm } from "react-hook-form";
import { z } from "zod";
import { json, SEND, start } from "./start.jsx";

const CITIES = { "North America": { ca: ["Canada", ["Halifax", "Toronto"]], us: ["United States", ["Boston", "Denver", "Seattle"]] }, Europe: { be: ["Belgium", ["Antwerp", "Ghent"]], pt: ["Portugal", ["Lisbon", "Porto"]] } };
const ADDONS = [["desk", "Height-adjustable desks"], ["park", "Parking space"], ["mail", "Mail handling"], ["call", "Telephone booth"]];
const MUTATION = "mutation Lease($input: LeaseInput!) { lease(input: $input) { id } }";
const schema = z.object({ company: z.string().min(1, "Required"), country: z.string().min(1, "Required"), city: z.string(), start: z.date({ error: "A start date is required" }), plan: z.enum(["flex", "fixed", "suite"]).optional(), seats: z.number(), addons: z.array(z.string()), autopay: z.boolean(), code: z.string() });
const panel = { background: "white", border: "1px solid #ccc", padding: 8, zIndex: 50 };
const Box = ({ children }) => <div style={{ display: "grid", gap: 6 }}>{children}</div>;
const Item = ({ value, children }) => <Select.Item value={value} style={{ padding: "2px 20px" }}><Select.ItemText>{children}</Select.ItemText><Select.ItemIndicator>✓</Select.ItemIndicator></Select.Item>;

function Choice({ id, field, label, placeholder, disabled, children }) {
  return (
    <Box>
      <Label.Root htmlFor={id}>{label}</Label.Root>
      <Select.Root value={field.value} onValueChange={field.onChange} disabled={disabled}>
        <Select.Trigger id={id} style={{ textAlign: "left" }}><Select.Value placeholder={placeholder} /><Select.Icon /></Select.Trigger>
        <Select.Portal><Select.Content position="popper" style={panel}><Select.Viewport>{children}</Select.Viewport></Select.Content></Select.Portal>
      </Select.Root>
    </Box>
  );
}

start(function Lease() {
  const [note, setNote] = useState("");
  const [calendar, setCalendar] = useState(false);
  const form = useForm({ resolver: zodResolver(schema), defaultValues: { company: "", country: "", city: "", seats: 5, addons: [], autopay: false, code: "" } });
  const { control, register, setValue, watch, formState: { errors } } = form;
  const country = watch("country");
  useEffect(() => setValue("city", ""), [country, setValue]);
  const cities = Object.values(CITIES).flatMap((group) => group[country]?.[1] ?? []);
  const send = form.handleSubmit(async (v) => {
    const input = { ...v, start: format(v.start, "yyyy-MM-dd"), plan: v.plan?.toUpperCase() ?? null, city: v.city || null };
    const answer = await (await fetch(SEND, json("POST", { query: MUTATION, variables: { input } }))).json();
    setNote(answer.errors ? answer.errors[0].message : "Your lease is being prepared");
  });
  const part = (name, render) => <Controller name={name} control={control} render={({ field }) => render(field)} />;
  return (
    <form onSubmit={send} noValidate style={{ display: "grid", gap: 16, width: 440, margin: 32, fontFamily: "sans-serif" }}>
      {note && <div role="status">{note}</div>}
      <Box><Label.Root htmlFor="company">Company</Label.Root><input id="company" {...register("company")} aria-invalid={!!errors.company} /><small>{errors.company?.message}</small></Box>
      {part("country", (field) => <Choice id="country" label="Country" placeholder="Select a country" field={field}>{Object.entries(CITIES).map(([group, items]) => <Select.Group key={group}><Select.Label>{group}</Select.Label>{Object.entries(items).map(([value, [name]]) => <Item key={value} value={value}>{name}</Item>)}</Select.Group>)}</Choice>)}
      {part("city", (field) => <Choice id="city" label="City" placeholder="Select a city" disabled={country === ""} field={field}>{cities.map((name) => <Item key={name} value={name.toLowerCase()}>{name}</Item>)}</Choice>)}
      {part("start", (field) => (
        <Box><Label.Root>Start date</Label.Root>
          <Popover.Root open={calendar} onOpenChange={setCalendar}>
            <Popover.Trigger style={{ textAlign: "left" }}>{field.value ? format(field.value, "PPP") : "Pick a date"}</Popover.Trigger>
            <Popover.Portal><Popover.Content style={panel} align="start"><DayPicker mode="single" selected={field.value} onSelect={(date) => { field.onChange(date); setCalendar(false); }} /></Popover.Content></Popover.Portal>
          </Popover.Root><small>{errors.start?.message}</small></Box>
      ))}
      {part("plan", (field) => (
        <Box><Label.Root id="plan">Plan</Label.Root>
          <RadioGroup.Root aria-labelledby="plan" value={field.value ?? ""} onValueChange={field.onChange} style={{ display: "flex", gap: 8 }}>{[["flex", "Flexible", "Leave any month"], ["fixed", "Two years", "Ten percent less"], ["suite", "Own suite", "With a door"]].map(([value, title, text]) => <Label.Root key={value} style={{ border: "1px solid #ccc", padding: 8 }}><RadioGroup.Item value={value} style={{ width: 16, height: 16 }}><RadioGroup.Indicator>●</RadioGroup.Indicator></RadioGroup.Item> <b>{title}</b><p style={{ margin: 0 }}>{text}</p></Label.Root>)}</RadioGroup.Root></Box>
      ))}
      {part("seats", (field) => <Box><div style={{ display: "flex", justifyContent: "space-between" }}><Label.Root>Seats</Label.Root><span>{field.value}</span></div><Slider.Root min={5} max={60} step={5} value={[field.value]} onValueChange={([value]) => field.onChange(value)} style={{ position: "relative", display: "flex", alignItems: "center", height: 20 }}><Slider.Track style={{ background: "#ddd", flexGrow: 1, height: 4 }}><Slider.Range style={{ position: "absolute", background: "#111", height: 4 }} /></Slider.Track><Slider.Thumb style={{ display: "block", width: 18, height: 18, borderRadius: 9, border: "1px solid #111", background: "white" }} /></Slider.Root></Box>)}
      {part("addons", (field) => (
        <Box><span>Add-ons</span>{ADDONS.map(([value, name]) => <div key={value} style={{ display: "flex", gap: 8 }}><Checkbox.Root id={value} checked={field.value.includes(value)} onCheckedChange={(on) => field.onChange(on ? [...field.value, value] : field.value.filter((item) => item !== value))} style={{ width: 18, height: 18 }}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Root><Label.Root htmlFor={value}>{name}</Label.Root></div>)}</Box>
      ))}
      {part("autopay", (field) => <div style={{ display: "flex", justifyContent: "space-between", border: "1px solid #ccc", padding: 8 }}><div><Label.Root htmlFor="autopay">Automatic payment</Label.Root><p style={{ margin: 0 }}>We debit the rent every month.</p></div><Switch.Root id="autopay" checked={field.value} onCheckedChange={field.onChange} style={{ width: 40, height: 22 }}><Switch.Thumb style={{ display: "block", width: 18, height: 18, background: "#111" }} /></Switch.Root></div>)}
      {part("code", (field) => <Box><Label.Root htmlFor="code">Voucher code</Label.Root><OTPInput id="code" maxLength={6} value={field.value} onChange={field.onChange} render={({ slots }) => <div style={{ display: "flex" }}>{slots.map((slot, i) => <div key={i} style={{ width: 28, height: 28, border: "1px solid #ccc" }}>{slot.char}</div>)}</div>} /></Box>)}
      <button type="submit">Request lease</button>
    </form>
  );
});
