import "primereact/resources/themes/lara-light-blue/theme.css";
import { Button } from "primereact/button";
import { Calendar } from "primereact/calendar";
import { Checkbox } from "primereact/checkbox";
import { Dropdown } from "primereact/dropdown";
import { InputNumber } from "primereact/inputnumber";
import { InputText } from "primereact/inputtext";
import { MultiSelect } from "primereact/multiselect";
import { RadioButton } from "primereact/radiobutton";
import { Toast } from "primereact/toast";
import { classNames } from "primereact/utils";
import { useRef } from "react";
import { Controller, useForm } from "react-hook-form";
import { json, SEND, start } from "./start.jsx";

const CABINS = [
  { name: "Birch cabin", code: "BIR", beds: 2 },
  { name: "Lake house", code: "LAK", beds: 6 },
  { name: "Hunter's lodge", code: "HUN", beds: 4 },
  { name: "Treehouse", code: "TRE", beds: 2 },
];
const EXTRAS = ["Bed linen", "Rowing boat", "Sauna", "Firewood", "Breakfast basket"];
const PAYMENTS = [{ key: "card", name: "Credit card" }, { key: "bank", name: "Bank transfer" }, { key: "site", name: "On arrival" }];
const iso = (date) => (date ? [date.getFullYear(), String(date.getMonth() + 1).padStart(2, "0"), String(date.getDate()).padStart(2, "0")].join("-") : null);

start(function Cabin() {
  const toast = useRef(null);
  const { control, handleSubmit, reset, formState: { errors } } = useForm({
    defaultValues: { guest: "", cabin: null, stay: null, people: 2, extras: [], arrival: null, payment: "", pets: false },
  });
  const onSubmit = async (data) => {
    const { stay, arrival, ...rest } = data;
    const body = { ...rest, from: iso(stay[0]), to: iso(stay[1]), arrival: arrival && arrival.toTimeString().slice(0, 5) };
    const response = await fetch(SEND, json("POST", body));
    const answer = await response.json();
    if (answer.success) {
      toast.current.show({ severity: "success", summary: "Booked", detail: `Booking number ${answer.number}` });
      reset();
    } else toast.current.show({ severity: "error", summary: "Not booked", detail: answer.message });
  };
  const error = (name) => errors[name] && <small className="p-error">{errors[name].message}</small>;
  return (
    <div style={{ maxWidth: 540, margin: 32 }}>
      <Toast ref={toast} />
      <h2>Book a cabin</h2>
      <form onSubmit={handleSubmit(onSubmit)} style={{ display: "grid", gap: 16 }}>
        <Controller name="guest" control={control} rules={{ required: "Your name is required." }} render={({ field, fieldState }) => (
          <div><label htmlFor={field.name}>Guest</label><br /><InputText id={field.name} {...field} className={classNames({ "p-invalid": fieldState.invalid })} /> {error("guest")}</div>
        )} />
        <Controller name="cabin" control={control} rules={{ required: "Please choose a cabin." }} render={({ field, fieldState }) => (
          <div><label htmlFor={field.name}>Cabin</label><br /><Dropdown inputId={field.name} value={field.value} optionLabel="name" optionValue="code" options={CABINS} placeholder="Select a cabin" itemTemplate={(cabin) => <span>{cabin.name} <small>({cabin.beds} beds)</small></span>} focusInputRef={field.ref} onChange={(e) => field.onChange(e.value)} className={classNames({ "p-invalid": fieldState.error })} showClear /> {error("cabin")}</div>
        )} />
        <Controller name="stay" control={control} rules={{ validate: (value) => (value?.[0] && value?.[1] ? true : "Please choose arrival and departure.") }} render={({ field }) => (
          <div><label htmlFor={field.name}>Stay</label><br /><Calendar inputId={field.name} value={field.value} onChange={field.onChange} selectionMode="range" dateFormat="yy-mm-dd" readOnlyInput hideOnRangeSelection numberOfMonths={2} showIcon /> {error("stay")}</div>
        )} />
        <Controller name="people" control={control} render={({ field }) => (
          <div><label htmlFor={field.name}>People</label><br /><InputNumber inputId={field.name} ref={field.ref} value={field.value} onBlur={field.onBlur} onValueChange={(e) => field.onChange(e)} min={1} max={12} showButtons buttonLayout="horizontal" incrementButtonIcon="pi pi-plus" decrementButtonIcon="pi pi-minus" /></div>
        )} />
        <Controller name="extras" control={control} render={({ field }) => (
          <div><label htmlFor={field.name}>Extras</label><br /><MultiSelect inputId={field.name} value={field.value} options={EXTRAS} onChange={(e) => field.onChange(e.value)} placeholder="Select extras" maxSelectedLabels={3} style={{ width: 360 }} /></div>
        )} />
        <Controller name="arrival" control={control} render={({ field }) => (
          <div><label htmlFor={field.name}>Arrival time</label><br /><Calendar inputId={field.name} value={field.value} onChange={(e) => field.onChange(e.value)} timeOnly stepMinute={15} /></div>
        )} />
        <Controller name="payment" control={control} render={({ field }) => (
          <div role="radiogroup" aria-label="Payment">{PAYMENTS.map((item) => <span key={item.key} style={{ marginRight: 16 }}><RadioButton inputId={item.key} name="payment" value={item.key} onChange={(e) => field.onChange(e.value)} checked={field.value === item.key} /> <label htmlFor={item.key}>{item.name}</label></span>)}</div>
        )} />
        <Controller name="pets" control={control} render={({ field }) => (
          <div><Checkbox inputId={field.name} checked={field.value} onChange={(e) => field.onChange(e.checked)} /> <label htmlFor={field.name}>We bring a pet</label></div>
        )} />
        <Button label="Book cabin" type="submit" />
      </form>
    </div>
  );
});
