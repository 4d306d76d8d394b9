import "react-datepicker/dist/react-datepicker.css";
import DatePicker from "react-datepicker";
import { Field, Form } from "react-final-form";
import { NumericFormat, PatternFormat } from "react-number-format";
import PhoneInput from "react-phone-number-input/input";
import { format } from "date-fns";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

start(function Insurance() {
  const [message, setMessage] = useState("");
  async function send(v) {
    const body = { holder: v.holder, phone: v.phone, starts: format(v.starts, "yyyy-MM-dd"), pickup: v.pickup && format(v.pickup, "yyyy-MM-dd'T'HH:mm"), sum: v.sum, card: v.card };
    const answer = await (await fetch(SEND, json("POST", body))).json();
    setMessage(answer.errors ? "Rejected" : `Policy ${answer.policy} issued`);
  }
  return (
    <Form onSubmit={send} validate={(v) => ({ ...(v.holder ? {} : { holder: "Required" }), ...(v.starts ? {} : { starts: "Required" }) })}>
      {({ handleSubmit }) => (
        <form onSubmit={handleSubmit} style={{ display: "grid", gap: 10, width: 420, margin: 32 }}>
          <h2>Travel insurance</h2>
          <output>{message}</output>
          <Field name="holder">{({ input, meta }) => <label>Policy holder <input {...input} />{meta.touched && meta.error && <b>{meta.error}</b>}</label>}</Field>
          <Field name="phone">{({ input }) => <label>Mobile number <PhoneInput defaultCountry="US" value={input.value || undefined} onChange={input.onChange} /></label>}</Field>
          <label htmlFor="starts">Starts on</label>
          <Field name="starts">{({ input, meta }) => <><DatePicker id="starts" selected={input.value || null} onChange={input.onChange} onBlur={input.onBlur} dateFormat="MM/dd/yyyy" />{meta.touched && meta.error && <b>{meta.error}</b>}</>}</Field>
          <label htmlFor="pickup">Pick-up</label>
          <Field name="pickup">{({ input }) => <DatePicker id="pickup" selected={input.value || null} onChange={input.onChange} showTimeSelect timeFormat="HH:mm" timeIntervals={30} dateFormat="MMM d, yyyy HH:mm" />}</Field>
          <Field name="sum">{({ input }) => <label>Sum insured <NumericFormat thousandSeparator="," prefix="$ " value={input.value} onValueChange={(n) => input.onChange(n.floatValue)} /></label>}</Field>
          <Field name="card">{({ input }) => <label>Member card <PatternFormat format="#### - ####" value={input.value} onValueChange={(n) => input.onChange(n.value)} /></label>}</Field>
          <button>Buy insurance</button>
        </form>
      )}
    </Form>
  );
});
