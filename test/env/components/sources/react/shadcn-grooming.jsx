import "react-day-picker/style.css";
import { zodResolver } from "@hookform/resolvers/zod";
import { format, startOfDay } from "date-fns";
import { Checkbox, Dialog, Label, Popover, RadioGroup, Select, Slider, ToggleGroup } from "radix-ui";
import { useId, useState } from "react";
import { DayPicker } from "react-day-picker";
import { Controller, FormProvider, useForm, useFormContext } from "react-hook-form";
import { z } from "zod";
import { json, SEND, start } from "./start.jsx";

const CSS = `
body { font-family: system-ui, sans-serif; margin: 32px }
.overlay { position: fixed; inset: 0; background: rgb(0 0 0 / 50%) }
.dialog { position: fixed; top: 4vh; left: 50%; translate: -50%; width: 520px; max-height: 92vh; overflow: auto; background: white; border-radius: 8px; padding: 24px }
.form { display: grid; gap: 14px }
.item { display: grid; gap: 4px }
.row { display: flex; gap: 8px; align-items: center }
.popover { background: white; border: 1px solid #d4d4d8; border-radius: 6px; padding: 6px; z-index: 60 }
.trigger, .field { border: 1px solid #d4d4d8; border-radius: 6px; padding: 6px 10px; background: white; text-align: left; font: inherit }
.option { padding: 4px 8px; border-radius: 4px }
.option[data-highlighted] { background: #f4f4f5 }
.toggle { border: 1px solid #d4d4d8; padding: 6px 12px; background: white }
.toggle[data-state=on] { background: #18181b; color: white }
.box { width: 18px; height: 18px; border: 1px solid #18181b; border-radius: 4px; background: white; padding: 0; line-height: 1 }
.round { border-radius: 9px }
.message { color: #dc2626; font-size: 13px; margin: 0 }`;

const schema = z.object({
  owner: z.string().min(2, "Enter your name."),
  email: z.email("Enter a valid address."),
  animal: z.string({ error: "Select an animal." }).min(1, "Select an animal."),
  weight: z.number(),
  day: z.date({ error: "Pick a day." }),
  slot: z.string(),
  coat: z.string(),
  care: z.array(z.string()),
});
const ANIMALS = [["dog-s", "Small dog"], ["dog-l", "Large dog"], ["cat", "Cat"], ["rabbit", "Rabbit"]];
const CARE = [["claws", "Cut claws"], ["ears", "Clean ears"], ["bath", "Bath"], ["teeth", "Brush teeth"]];

function FormField({ name, label, children }) {
  const id = useId();
  const { control } = useFormContext();
  return (
    <Controller name={name} control={control} render={({ field, fieldState: { error } }) => (
      <div className="item">
        <Label.Root id={`${id}-label`} htmlFor={`${id}-item`}>{label}</Label.Root>
        {children(field, { id: `${id}-item`, "aria-invalid": !!error, "aria-describedby": `${id}-message` }, `${id}-label`)}
        {error && <p id={`${id}-message`} className="message">{error.message}</p>}
      </div>
    )} />
  );
}

function Appointment({ onDone }) {
  const form = useForm({ resolver: zodResolver(schema), defaultValues: { owner: "", email: "", animal: "", weight: 10, slot: "", coat: "", care: [] } });
  const [calendar, setCalendar] = useState(false);
  const [failed, setFailed] = useState(false);
  const submit = form.handleSubmit(async (values) => {
    const answer = await fetch(SEND, json("POST", { ...values, day: format(values.day, "yyyy-MM-dd"), coat: values.coat || null, slot: values.slot || null }));
    if (answer.ok) onDone();
    else setFailed(true);
  });
  return (
    <FormProvider {...form}>
      <form className="form" onSubmit={submit} noValidate>
        {failed && <p role="alert" className="message">The appointment could not be saved.</p>}
        <FormField name="owner" label="Owner">{(field, props) => <input className="field" {...props} {...field} />}</FormField>
        <FormField name="email" label="E-mail">{(field, props) => <input className="field" type="email" {...props} {...field} />}</FormField>
        <FormField name="animal" label="Animal">
          {(field, props) => (
            <Select.Root value={field.value} onValueChange={field.onChange}>
              <Select.Trigger className="trigger" {...props}><Select.Value placeholder="Select an animal" /></Select.Trigger>
              <Select.Portal>
                <Select.Content className="popover" position="popper">
                  <Select.Viewport>
                    {ANIMALS.map(([value, name]) => <Select.Item className="option" key={value} value={value}><Select.ItemText>{name}</Select.ItemText></Select.Item>)}
                  </Select.Viewport>
                </Select.Content>
              </Select.Portal>
            </Select.Root>
          )}
        </FormField>
        <FormField name="weight" label="Weight in kilograms">
          {(field, _, label) => (
            <div className="row">
              <Slider.Root value={[field.value]} onValueChange={([value]) => field.onChange(value)} min={1} max={60} style={{ position: "relative", display: "flex", alignItems: "center", height: 20, flex: 1 }}>
                <Slider.Track style={{ position: "relative", flexGrow: 1, height: 6, borderRadius: 3, background: "#e4e4e7" }}><Slider.Range style={{ position: "absolute", height: "100%", background: "#18181b" }} /></Slider.Track>
                <Slider.Thumb aria-labelledby={label} style={{ display: "block", width: 16, height: 16, borderRadius: 8, border: "1px solid #18181b", background: "white" }} />
              </Slider.Root>
              <span>{field.value} kg</span>
            </div>
          )}
        </FormField>
        <FormField name="day" label="Day">
          {(field, props) => (
            <Popover.Root open={calendar} onOpenChange={setCalendar}>
              <Popover.Trigger className="trigger" {...props}>{field.value ? format(field.value, "PPP") : "Pick a date"}</Popover.Trigger>
              <Popover.Content className="popover" align="start">
                <DayPicker mode="single" captionLayout="dropdown" startMonth={new Date(2026, 0)} endMonth={new Date(2028, 11)} disabled={{ before: startOfDay(new Date()) }} selected={field.value} onSelect={(day) => { field.onChange(day); setCalendar(false); }} />
              </Popover.Content>
            </Popover.Root>
          )}
        </FormField>
        <FormField name="slot" label="Time">
          {(field, _, label) => (
            <RadioGroup.Root className="row" aria-labelledby={label} value={field.value} onValueChange={field.onChange}>
              {["09:00", "11:30", "14:00", "16:30"].map((time) => (
                <div className="row" key={time}>
                  <RadioGroup.Item id={`t${time}`} className="box round" value={time}><RadioGroup.Indicator>•</RadioGroup.Indicator></RadioGroup.Item>
                  <Label.Root htmlFor={`t${time}`}>{time}</Label.Root>
                </div>
              ))}
            </RadioGroup.Root>
          )}
        </FormField>
        <FormField name="coat" label="Coat">
          {(field, _, label) => (
            <ToggleGroup.Root type="single" aria-labelledby={label} value={field.value} onValueChange={field.onChange}>
              {["Short", "Long", "Curly", "Wiry"].map((name) => <ToggleGroup.Item className="toggle" key={name} value={name.toLowerCase()}>{name}</ToggleGroup.Item>)}
            </ToggleGroup.Root>
          )}
        </FormField>
        <FormField name="care" label="Care">
          {(field) => CARE.map(([value, name]) => (
            <div className="row" key={value}>
              <Checkbox.Root id={value} className="box" checked={field.value.includes(value)} onCheckedChange={(on) => field.onChange(on ? [...field.value, value] : field.value.filter((item) => item !== value))}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Root>
              <Label.Root htmlFor={value}>{name}</Label.Root>
            </div>
          ))}
        </FormField>
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Dialog.Close className="trigger">Cancel</Dialog.Close>
          <button className="trigger" type="submit">Book appointment</button>
        </div>
      </form>
    </FormProvider>
  );
}

start(function Salon() {
  const [open, setOpen] = useState(false);
  const [done, setDone] = useState(false);
  return (
    <>
      <style>{CSS}</style>
      <h1>Paws &amp; Combs</h1>
      {done && <p role="status">Your appointment is booked. We sent you a mail.</p>}
      <Dialog.Root open={open} onOpenChange={setOpen}>
        <Dialog.Trigger className="trigger">New appointment</Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Overlay className="overlay" />
          <Dialog.Content className="dialog" aria-describedby={undefined}>
            <Dialog.Title>Grooming appointment</Dialog.Title>
            <Appointment onDone={() => { setDone(true); setOpen(false); }} />
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
});
