import { zodResolver } from "@hookform/resolvers/zod";
import { Controller, useForm } from "react-hook-form";
import Select from "react-select";
import AsyncSelect from "react-select/async";
import Creatable from "react-select/creatable";
import { useState } from "react";
import { z } from "zod";
import { json, SEND, start } from "./start.jsx";

const schema = z.object({ team: z.string().min(2, "Too short"), lead: z.object({ value: z.string() }), skills: z.array(z.object({ value: z.string() })).min(1, "At least one"), city: z.object({ value: z.string() }).nullish(), remote: z.boolean(), budget: z.coerce.number().int().optional() });
const SKILLS = [["js", "JavaScript"], ["py", "Python"], ["ux", "Design"], ["db", "Databases"]].map(([value, label]) => ({ value, label }));
const LEADS = [["u1", "Ines Prado"], ["u2", "Jonas Falk"], ["u3", "Kim Soo-ah"]].map(([value, label]) => ({ value, label }));
const cities = async (q) => (await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(q)}`)).json()).map((label) => ({ value: label, label }));

start(function Team() {
  const { control, register, handleSubmit, formState: { errors } } = useForm({ resolver: zodResolver(schema), defaultValues: { team: "", skills: [], remote: false } });
  const [done, setDone] = useState(false);
  const send = handleSubmit(async (v) => {
    const body = { ...v, lead: v.lead.value, skills: v.skills.map((s) => s.value), city: v.city?.value };
    if ((await fetch(SEND, json("POST", body))).status === 201) setDone(true);
  });
  if (done) return <p>Team saved. <a href={location.pathname}>New team</a></p>;
  return (
    <form onSubmit={send} noValidate style={{ display: "grid", gap: 10, width: 420, margin: 32 }}>
      <label>Team name <input {...register("team")} /></label>{errors.team && <em role="alert">{errors.team.message}</em>}
      <label htmlFor="lead">Team lead</label>
      <Controller control={control} name="lead" render={({ field }) => <Select inputId="lead" options={LEADS} {...field} />} />{errors.lead && <em role="alert">Choose a lead</em>}
      <label htmlFor="skills">Skills needed</label>
      <Controller control={control} name="skills" render={({ field }) => <Creatable inputId="skills" isMulti options={SKILLS} {...field} />} />{errors.skills && <em role="alert">{errors.skills.message}</em>}
      <label htmlFor="city">Home city</label>
      <Controller control={control} name="city" render={({ field }) => <AsyncSelect inputId="city" loadOptions={cities} {...field} />} />
      <label>Yearly budget <input type="number" {...register("budget")} /></label>
      <label><input type="checkbox" {...register("remote")} /> Works remotely</label>
      <button>Create team</button>
    </form>
  );
});
