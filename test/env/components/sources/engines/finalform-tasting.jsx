import "bootstrap/dist/css/bootstrap.css";
import "rc-slider/assets/index.css";
import "react-datepicker/dist/react-datepicker.css";
import { format } from "date-fns";
import Slider from "rc-slider";
import { useState } from "react";
import { Alert, Button, Form as Fields } from "react-bootstrap";
import DatePicker from "react-datepicker";
import { Field, Form } from "react-final-form";
import PhoneInput from "react-phone-number-input";
import "react-phone-number-input/style.css";
import Select from "react-select";
import { json, SEND, start } from "../react/start.jsx";

const VINEYARDS = [{ value: 301, label: "Blue Slate Estate" }, { value: 302, label: "Chapel Hill" }, { value: 303, label: "Mill Valley" }, { value: 304, label: "Sunny Terrace" }];
const DIETS = [{ value: "vegetarian", label: "Vegetarian" }, { value: "vegan", label: "Vegan" }, { value: "gluten", label: "Gluten free" }, { value: "nuts", label: "No nuts" }];
const required = (value) => (value ? undefined : "Required");

function Row({ label, htmlFor, error, children }) {
  return (
    <Fields.Group className="mb-3">
      <Fields.Label htmlFor={htmlFor}>{label}</Fields.Label>
      {children}
      {error && <div className="text-danger small">{error}</div>}
    </Fields.Group>
  );
}

start(function Tasting() {
  const [result, setResult] = useState();
  async function book({ when, vineyard, diets = [], ...rest }) {
    const body = { ...rest, vineyardId: vineyard.value, when: when ? format(when, "yyyy-MM-dd'T'HH:mm") : null, diets: diets.map((diet) => diet.value) };
    const answer = await fetch(SEND, json("POST", { tasting: body }));
    setResult(answer.ok ? "success" : "danger");
  }
  return (
    <div className="container py-4" style={{ maxWidth: 560 }}>
      <h1>Wine tasting</h1>
      {result && <Alert variant={result}>{result === "success" ? "Your tasting is booked." : "Something went wrong."}</Alert>}
      <Form onSubmit={book} initialValues={{ guests: 2, driver: false }}>
        {({ handleSubmit, submitting }) => (
          <form onSubmit={handleSubmit} noValidate>
            <Field name="contact" validate={required}>{({ input, meta }) => <Row label="Contact person" htmlFor="contact" error={meta.touched && meta.error}><Fields.Control id="contact" {...input} /></Row>}</Field>
            <Field name="phone">{({ input }) => <Row label="Mobile phone" htmlFor="phone"><PhoneInput id="phone" defaultCountry="DE" value={input.value} onChange={input.onChange} /></Row>}</Field>
            <Field name="vineyard" validate={required}>{({ input, meta }) => <Row label="Vineyard" htmlFor="vineyard" error={meta.touched && meta.error}><Select inputId="vineyard" options={VINEYARDS} {...input} /></Row>}</Field>
            <Field name="when">{({ input }) => <Row label="Date and time" htmlFor="when"><div><DatePicker id="when" className="form-control" selected={input.value || null} onChange={input.onChange} showTimeSelect timeFormat="HH:mm" timeIntervals={30} dateFormat="dd.MM.yyyy HH:mm" autoComplete="off" /></div></Row>}</Field>
            <Field name="guests">{({ input }) => <Row label={`Number of guests: ${input.value}`}><Slider min={2} max={20} value={input.value} onChange={input.onChange} ariaLabelForHandle="Number of guests" /></Row>}</Field>
            <Field name="diets">{({ input }) => <Row label="Dietary requirements" htmlFor="diets"><Select inputId="diets" isMulti options={DIETS} {...input} value={input.value || []} /></Row>}</Field>
            <fieldset className="mb-3">
              <legend className="fs-6">Package</legend>
              {[["basic", "Three wines"], ["classic", "Five wines"], ["premium", "Eight wines"]].map(([value, text]) => <Field key={value} name="package" type="radio" value={value}>{({ input }) => <Fields.Check type="radio" id={value} label={text} {...input} />}</Field>)}
            </fieldset>
            <Field name="driver" type="checkbox">{({ input }) => <Fields.Check className="mb-3" type="switch" id="driver" label="We need a taxi home" {...input} />}</Field>
            <Button type="submit" disabled={submitting}>Book tasting</Button>
          </form>
        )}
      </Form>
    </div>
  );
});
