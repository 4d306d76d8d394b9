import DatePicker from "react-date-picker";
import "react-date-picker/dist/DatePicker.css";
import "react-calendar/dist/Calendar.css";
import { Controller, useForm } from "react-hook-form";
import { PhoneInput } from "react-international-phone";
import "react-international-phone/style.css";
import { Rating } from "react-simple-star-rating";
import TimePicker from "react-time-picker";
import "react-time-picker/dist/TimePicker.css";
import { format } from "date-fns";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

start(function Tour() {
  const { register, control, handleSubmit, formState } = useForm({ defaultValues: { guest: "", day: null, time: null, phone: "", stars: 0, language: "", lunch: false } });
  const [result, setResult] = useState("");
  const send = handleSubmit(async (v) => {
    const answer = await (await fetch(SEND, json("POST", { ...v, day: v.day && format(v.day, "dd.MM.yyyy") }))).json();
    setResult(answer.success ? "Tour gebucht" : "Bitte Angaben prüfen");
  });
  return (
    <form onSubmit={send} noValidate style={{ width: 420, margin: 32, display: "grid", gap: 14 }}>
      {result && <output>{result}</output>}
      <label>Gast <input {...register("guest", { required: "Bitte ausfüllen" })} /></label>
      {formState.errors.guest && <em>{formState.errors.guest.message}</em>}
      <div><span>Tag der Tour</span> <Controller control={control} name="day" render={({ field }) => <DatePicker locale="de-DE" value={field.value} onChange={field.onChange} />} /></div>
      <div><span>Beginn</span> <Controller control={control} name="time" render={({ field }) => <TimePicker locale="de-DE" disableClock value={field.value} onChange={field.onChange} />} /></div>
      <div><label htmlFor="phone">Handynummer</label> <Controller control={control} name="phone" render={({ field }) => <PhoneInput defaultCountry="de" inputProps={{ id: "phone" }} value={field.value} onChange={(value) => field.onChange(value)} />} /></div>
      <div><span>Erfahrung</span> <Controller control={control} name="stars" render={({ field }) => <Rating onClick={field.onChange} />} /></div>
      <label>Sprache <select {...register("language")}><option value="">–</option><option value="de">Deutsch</option><option value="en">Englisch</option><option value="fr">Französisch</option></select></label>
      <label><input type="checkbox" {...register("lunch")} /> Mit Mittagessen</label>
      <button>Tour buchen</button>
    </form>
  );
});
