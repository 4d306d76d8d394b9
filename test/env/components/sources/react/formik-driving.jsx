import "react-datepicker/dist/react-datepicker.css";
import "react-international-phone/style.css";
import { format } from "date-fns";
import { ErrorMessage, Field, Form, Formik, useField } from "formik";
import { useState } from "react";
import DatePicker from "react-datepicker";
import { PhoneInput } from "react-international-phone";
import Select from "react-select";
import AsyncSelect from "react-select/async";
import * as Yup from "yup";
import { SEND, start } from "./start.jsx";

const CLASSES = [
  { value: "A1", label: "A1 - light motorcycle" },
  { value: "B", label: "B - car" },
  { value: "BE", label: "BE - car with trailer" },
  { value: "T", label: "T - tractor" },
];
const STEPS = [
  Yup.object({
    name: Yup.string().trim().required("Please enter your name"),
    born: Yup.date().nullable().required("Please enter your date of birth"),
    phone: Yup.string(),
  }),
  Yup.object({
    branch: Yup.object().nullable().required("Please choose a branch"),
    classes: Yup.array().min(1, "Choose at least one class"),
  }),
];
const findBranches = async (text) => {
  const names = await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(text)}`)).json();
  return names.map((label) => ({ label, value: label.toLowerCase().replaceAll(" ", "_") }));
};

function Choice({ as: Control = Select, label, name, ...rest }) {
  const [field, , { setValue, setTouched }] = useField(name);
  return (
    <div className="field">
      <label htmlFor={name}>{label}</label>
      <Control inputId={name} value={field.value} onChange={(value) => setValue(value)} onBlur={() => setTouched(true)} {...rest} />
      <ErrorMessage name={name} component="div" className="error" />
    </div>
  );
}

function Day({ label, name, ...rest }) {
  const [field, , { setValue }] = useField(name);
  return (
    <div className="field">
      <label htmlFor={name}>{label}</label>
      <DatePicker id={name} autoComplete="off" selected={field.value} onChange={(value) => setValue(value)} {...rest} />
      <ErrorMessage name={name} component="div" className="error" />
    </div>
  );
}

const Person = () => (
  <>
    <div className="field"><label htmlFor="name">Full name</label><Field id="name" name="name" /><ErrorMessage name="name" component="div" className="error" /></div>
    <Day label="Date of birth" name="born" dateFormat="dd/MM/yyyy" placeholderText="dd/mm/yyyy" showMonthDropdown showYearDropdown dropdownMode="select" maxDate={new Date()} />
    <Field name="phone">{({ field, form }) => <div className="field"><label htmlFor="phone">Mobile phone</label><PhoneInput defaultCountry="gb" value={field.value} onChange={(phone) => form.setFieldValue("phone", phone)} inputProps={{ id: "phone", name: "phone" }} /></div>}</Field>
  </>
);

const Course = () => (
  <>
    <Choice as={AsyncSelect} label="Branch" name="branch" loadOptions={findBranches} cacheOptions placeholder="Type a town" noOptionsMessage={({ inputValue }) => (inputValue ? "No branch there" : "Type to search")} />
    <Choice label="Licence classes" name="classes" isMulti options={CLASSES} />
    <Day label="First lesson" name="first" showTimeSelect timeIntervals={30} timeFormat="HH:mm" dateFormat="dd/MM/yyyy HH:mm" minDate={new Date()} />
    <div className="field" role="group" aria-labelledby="gearbox"><span id="gearbox">Gearbox</span>{[["m", "Manual"], ["a", "Automatic"], ["e", "Electric"]].map(([value, name]) => <label key={value}><Field type="radio" name="gearbox" value={value} /> {name}</label>)}</div>
    <label><Field type="checkbox" name="glasses" /> I wear glasses</label>
  </>
);

start(function Driving() {
  const [step, setStep] = useState(0);
  const [result, setResult] = useState(null);
  const last = step === STEPS.length - 1;
  async function submit(values, helpers) {
    if (!last) {
      helpers.setTouched({});
      return setStep(step + 1);
    }
    const body = new URLSearchParams({ name: values.name, born: format(values.born, "yyyy-MM-dd"), phone: values.phone, branch: values.branch.value, gearbox: values.gearbox, glasses: values.glasses ? "1" : "0" });
    for (const item of values.classes) body.append("class", item.value);
    if (values.first) body.set("first", format(values.first, "yyyy-MM-dd HH:mm"));
    const answer = await (await fetch(SEND, { method: "POST", body })).json();
    setResult(answer);
  }
  if (result?.student) return <p role="status">Welcome! Your student number is {result.student}.</p>;
  return (
    <div style={{ width: 460, margin: 32, fontFamily: "sans-serif" }}>
      <style>{".field { display: grid; gap: 4px; margin-bottom: 14px } .error { color: #c00; font-size: 13px } .react-datepicker-wrapper { width: 100% }"}</style>
      <h1>Driving school</h1>
      <p>Step {step + 1} of 2</p>
      {result?.error && <p role="alert" className="error">{result.error}</p>}
      <Formik initialValues={{ name: "", born: null, phone: "", branch: null, classes: [], first: null, gearbox: "", glasses: false }} validationSchema={STEPS[step]} onSubmit={submit}>
        {({ isSubmitting }) => (
          <Form noValidate>
            {step === 0 ? <Person /> : <Course />}
            <p>
              {step > 0 && <button type="button" onClick={() => setStep(step - 1)}>Back</button>}{" "}
              <button type="submit" disabled={isSubmitting}>{last ? "Register" : "Next"}</button>
            </p>
          </Form>
        )}
      </Formik>
    </div>
  );
});
