import "bootstrap/dist/css/bootstrap.css";
import "react-datepicker/dist/react-datepicker.css";
import "react-phone-number-input/style.css";
import { zodResolver } from "@hookform/resolvers/zod";
import { format } from "date-fns";
import { useState } from "react";
import DatePicker from "react-datepicker";
import { Controller, useForm } from "react-hook-form";
import PhoneInput from "react-phone-number-input";
import Select from "react-select";
import { z } from "zod";
import { json, SEND, start } from "./start.jsx";

const CITIES = ["Boston", "Chicago", "Denver", "Houston", "Miami", "New York", "Seattle"].map((city) => ({ value: city.toLowerCase().replace(" ", "-"), label: city }));
const SERVICES = [
  { value: "packing", label: "Packing" },
  { value: "assembly", label: "Furniture assembly" },
  { value: "cleaning", label: "Final cleaning" },
  { value: "boxes", label: "Moving boxes" },
];
const option = z.object({ value: z.string(), label: z.string() });
const schema = z.object({
  name: z.string().min(1, "Please enter your name"),
  phone: z.string().optional(),
  from: option.nullable().refine((value) => value !== null, "Please choose a city"),
  to: option.nullable().refine((value) => value !== null, "Please choose a city"),
  date: z.date({ error: "Please choose a date" }),
  rooms: z.string(),
  services: z.array(option),
  piano: z.boolean(),
});

const Error = ({ error }) => error && <div className="text-danger small">{error.message}</div>;

start(function Moving() {
  const [sent, setSent] = useState(false);
  const [failed, setFailed] = useState(false);
  const { register, control, handleSubmit, formState: { errors } } = useForm({
    resolver: zodResolver(schema),
    defaultValues: { name: "", phone: undefined, from: null, to: null, rooms: "", services: [], piano: false },
  });
  const onSubmit = async (data) => {
    const response = await fetch(SEND, json("POST", {
      name: data.name,
      phone: data.phone ?? null,
      from: data.from.value,
      to: data.to.value,
      date: format(data.date, "yyyy-MM-dd"),
      rooms: data.rooms,
      services: data.services.map((service) => service.value),
      piano: data.piano,
    }));
    setSent(response.ok);
    setFailed(!response.ok);
  };
  if (sent) return <div className="container py-4"><h1>Thank you!</h1><p>You will get your quote within two working days.</p></div>;
  return (
    <div className="container py-4" style={{ maxWidth: 560 }}>
      <h1>Moving quote</h1>
      {failed && <div className="alert alert-danger">Please check what you entered.</div>}
      <form onSubmit={handleSubmit(onSubmit)} noValidate>
        <div className="mb-3"><label className="form-label" htmlFor="name">Name</label><input id="name" className="form-control" {...register("name")} /><Error error={errors.name} /></div>
        <div className="mb-3"><label className="form-label" htmlFor="phone">Phone</label><Controller name="phone" control={control} render={({ field }) => <PhoneInput id="phone" defaultCountry="US" numberInputProps={{ className: "form-control" }} value={field.value} onChange={field.onChange} onBlur={field.onBlur} />} /></div>
        <div className="mb-3"><label className="form-label" htmlFor="from">Moving from</label><Controller name="from" control={control} render={({ field }) => <Select inputId="from" options={CITIES} {...field} />} /><Error error={errors.from} /></div>
        <div className="mb-3"><label className="form-label" htmlFor="to">Moving to</label><Controller name="to" control={control} render={({ field }) => <Select inputId="to" options={CITIES} {...field} />} /><Error error={errors.to} /></div>
        <div className="mb-3"><label className="form-label d-block" htmlFor="date">Moving date</label><Controller name="date" control={control} render={({ field }) => <DatePicker id="date" className="form-control" selected={field.value} onChange={field.onChange} onBlur={field.onBlur} minDate={new Date()} placeholderText="MM/DD/YYYY" />} /><Error error={errors.date} /></div>
        <div className="mb-3"><label className="form-label" htmlFor="rooms">Rooms</label><select id="rooms" className="form-select" {...register("rooms")}><option value="">Please choose</option><option value="1">1 room</option><option value="2">2 rooms</option><option value="3">3 rooms</option><option value="4+">4 rooms or more</option></select></div>
        <div className="mb-3"><label className="form-label" htmlFor="services">Services</label><Controller name="services" control={control} render={({ field }) => <Select inputId="services" isMulti closeMenuOnSelect={false} options={SERVICES} {...field} />} /></div>
        <div className="form-check mb-3"><input type="checkbox" className="form-check-input" id="piano" {...register("piano")} /><label className="form-check-label" htmlFor="piano">There is a piano</label></div>
        <button type="submit" className="btn btn-primary">Get a quote</button>
      </form>
    </div>
  );
});
