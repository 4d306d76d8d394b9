import { useForm } from "@tanstack/react-form";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

start(function Course() {
  const [note, setNote] = useState("");
  const form = useForm({
    defaultValues: { pupil: "", born: "", course: "", level: "", lunch: false, guardians: [{ name: "", phone: "" }] },
    onSubmit: async ({ value, formApi }) => {
      const answer = await fetch(SEND, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body: new URLSearchParams({ payload: JSON.stringify(value), v: "2" }) });
      const text = await answer.text();
      setNote(text);
      if (text.startsWith("OK")) formApi.reset();
    },
  });
  const Text = ({ name, label, type = "text", need }) => (
    <form.Field name={name} validators={need ? { onChange: ({ value }) => (value ? undefined : `${label} is missing`), onSubmit: ({ value }) => (value ? undefined : `${label} is missing`) } : {}}>
      {(field) => <p><label htmlFor={name}>{label}</label> <input id={name} type={type} value={field.state.value} onBlur={field.handleBlur} onChange={(e) => field.handleChange(e.target.value)} />{field.state.meta.errors.map((e) => <small key={e}>{e}</small>)}</p>}
    </form.Field>
  );
  return (
    <form style={{ width: 420, margin: 32 }} onSubmit={(e) => { e.preventDefault(); form.handleSubmit(); }}>
      <h1>Summer course</h1><pre>{note}</pre>
      {Text({ name: "pupil", label: "Pupil", need: true })}
      {Text({ name: "born", label: "Date of birth", type: "date" })}
      <form.Field name="course">{(f) => <p><label htmlFor="course">Course</label> <select id="course" value={f.state.value} onChange={(e) => f.handleChange(e.target.value)}><option value="">–</option><optgroup label="Arts"><option value="A1">Pottery</option><option value="A2">Theatre</option></optgroup><optgroup label="Science"><option value="S1">Robots</option></optgroup></select></p>}</form.Field>
      <form.Field name="level">{(f) => <fieldset><legend>Level</legend>{["Beginner", "Advanced", "Expert"].map((l) => <label key={l}><input type="radio" name="level" checked={f.state.value === l[0]} onChange={() => f.handleChange(l[0])} /> {l}</label>)}</fieldset>}</form.Field>
      <fieldset><legend>Guardian</legend>{Text({ name: "guardians[0].name", label: "Guardian's name" })}{Text({ name: "guardians[0].phone", label: "Guardian's phone", type: "tel" })}</fieldset>
      <form.Field name="lunch">{(f) => <label><input type="checkbox" checked={f.state.value} onChange={(e) => f.handleChange(e.target.checked)} /> With lunch</label>}</form.Field>
      <p><button type="submit">Enrol</button></p>
    </form>
  );
});
