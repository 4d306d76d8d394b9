import "primereact/resources/themes/lara-light-indigo/theme.css";
import { useFormik } from "formik";
import { AutoComplete } from "primereact/autocomplete";
import { Button } from "primereact/button";
import { Calendar } from "primereact/calendar";
import { InputMask } from "primereact/inputmask";
import { InputSwitch } from "primereact/inputswitch";
import { InputText } from "primereact/inputtext";
import { Message } from "primereact/message";
import { MultiSelect } from "primereact/multiselect";
import { RadioButton } from "primereact/radiobutton";
import { SelectButton } from "primereact/selectbutton";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const ALLERGIES = [{ name: "Dust", code: "DU" }, { name: "Latex", code: "LA" }, { name: "Nuts", code: "NU" }, { name: "Penicillin", code: "PE" }, { name: "Pollen", code: "PO" }];
const two = (n) => String(n).padStart(2, "0");

start(function Patient() {
  const [doctors, setDoctors] = useState([]);
  const [result, setResult] = useState(null);
  const search = async ({ query }) => setDoctors(await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(query)}`)).json());
  const formik = useFormik({
    initialValues: { name: "", phone: "", birth: null, doctor: "", insurance: null, allergies: [], contact: "", reminder: false },
    validate: (v) => {
      const errors = {};
      if (!v.name.trim()) errors.name = "Name is required.";
      if (!v.birth) errors.birth = "Date of birth is required.";
      if (!v.insurance) errors.insurance = "Please choose your insurance.";
      return errors;
    },
    onSubmit: async (v) => {
      const body = new URLSearchParams({
        "patient[name]": v.name,
        "patient[phone]": v.phone ?? "",
        "patient[birth]": `${v.birth.getFullYear()}-${two(v.birth.getMonth() + 1)}-${two(v.birth.getDate())}`,
        "patient[doctor]": v.doctor,
        "patient[insurance]": v.insurance,
        "patient[contact]": v.contact,
        "patient[reminder]": v.reminder ? "1" : "0",
      });
      for (const code of v.allergies) body.append("patient[allergies][]", code);
      const answer = await fetch(SEND, { method: "POST", body });
      setResult(answer.ok ? { severity: "success", text: "You are registered. Please bring your insurance card." } : { severity: "error", text: "The registration failed." });
    },
  });
  const error = (name) => formik.touched[name] && formik.errors[name] && <small className="p-error">{formik.errors[name]}</small>;
  return (
    <form onSubmit={formik.handleSubmit} style={{ display: "grid", gap: 14, width: 460, margin: 32 }}>
      <h2>New patient</h2>
      {result && <Message {...result} />}
      <div><label htmlFor="name">Full name *</label><InputText id="name" name="name" value={formik.values.name} onChange={formik.handleChange} invalid={!!formik.errors.name} style={{ width: "100%" }} />{error("name")}</div>
      <div><label htmlFor="birth">Date of birth *</label><Calendar inputId="birth" name="birth" value={formik.values.birth} onChange={(e) => formik.setFieldValue("birth", e.value)} showIcon dateFormat="mm/dd/yy" />{error("birth")}</div>
      <div><label htmlFor="phone">Phone</label><InputMask id="phone" name="phone" mask="(999) 999-9999" placeholder="(999) 999-9999" value={formik.values.phone} onChange={formik.handleChange} /></div>
      <div><label htmlFor="doctor">Family doctor</label><AutoComplete inputId="doctor" name="doctor" value={formik.values.doctor} suggestions={doctors} completeMethod={search} onChange={(e) => formik.setFieldValue("doctor", e.value)} /></div>
      <div><label>Insurance *</label><SelectButton value={formik.values.insurance} onChange={(e) => formik.setFieldValue("insurance", e.value)} options={[{ label: "Statutory", value: "S" }, { label: "Private", value: "P" }, { label: "Self-payer", value: "N" }]} />{error("insurance")}</div>
      <div><label htmlFor="allergies">Allergies</label><MultiSelect inputId="allergies" value={formik.values.allergies} onChange={(e) => formik.setFieldValue("allergies", e.value)} options={ALLERGIES} optionLabel="name" optionValue="code" display="chip" filter placeholder="Select allergies" /></div>
      <div>
        <div>Contact me by</div>
        {["Phone", "Letter", "Text message"].map((label, i) => (
          <span key={label} style={{ marginRight: 12 }}>
            <RadioButton inputId={`c${i}`} name="contact" value={label.toLowerCase()} onChange={formik.handleChange} checked={formik.values.contact === label.toLowerCase()} /> <label htmlFor={`c${i}`}>{label}</label>
          </span>
        ))}
      </div>
      <div><InputSwitch inputId="reminder" name="reminder" checked={formik.values.reminder} onChange={formik.handleChange} /> <label htmlFor="reminder">Remind me of appointments</label></div>
      <Button type="submit" label="Register" loading={formik.isSubmitting} />
    </form>
  );
});
