import "bootstrap/dist/css/bootstrap.min.css";
import "react-datepicker/dist/react-datepicker.css";
import "react-phone-number-input/style.css";
import { zodResolver } from "@hookform/resolvers/zod";
import { Alert, Button, Col, Container, Form, Row, Spinner } from "react-bootstrap";
import DatePicker from "react-datepicker";
import { Controller, useForm } from "react-hook-form";
import PhoneInput, { isPossiblePhoneNumber } from "react-phone-number-input";
import Select from "react-select";
import AsyncSelect from "react-select/async";
import { useState } from "react";
import { z } from "zod";
import { json, SEND, start } from "./start.jsx";

const SERVICES = [{ value: "pack", label: "Packing" }, { value: "assembly", label: "Furniture assembly" }, { value: "storage", label: "Storage" }, { value: "clean", label: "Final cleaning" }];
const schema = z.object({
  name: z.string().min(1, "Your name is required"),
  phone: z.string({ error: "Your phone number is required" }).refine(isPossiblePhoneNumber, "This is no phone number"),
  to: z.object({ value: z.string(), label: z.string() }, { error: "Where do you move to?" }),
  day: z.date({ error: "Choose a day" }),
  rooms: z.string(),
  volume: z.coerce.number().min(1).max(200).optional().or(z.literal("")),
  services: z.array(z.object({ value: z.string(), label: z.string() })),
  lift: z.boolean(),
});
const two = (n) => String(n).padStart(2, "0");
const towns = async (text) => {
  const found = await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(text)}`)).json();
  return found.map((name) => ({ value: name, label: name }));
};

start(function Move() {
  const { control, register, handleSubmit, setError, reset, formState: { errors, isSubmitting } } = useForm({
    resolver: zodResolver(schema),
    defaultValues: { name: "", to: null, day: null, rooms: "", volume: "", services: [], lift: false },
  });
  const [sent, setSent] = useState(false);
  const send = async ({ to, day, services, ...rest }) => {
    const body = { quote: { ...rest, to: to.value, day: `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`, services: services.map((item) => item.value) } };
    const response = await fetch(SEND, json("POST", body));
    setSent(response.ok);
    if (response.ok) return reset();
    setError("root", { message: "The server did not accept your request." });
  };
  return (
    <Container style={{ maxWidth: 640 }} className="py-4">
      <h2>Get a moving quote</h2>
      {sent && <Alert variant="success" dismissible onClose={() => setSent(false)}>Thank you! Your quote is on its way.</Alert>}
      {errors.root && <Alert variant="danger">{errors.root.message}</Alert>}
      <Form noValidate onSubmit={handleSubmit(send)}>
        <Row>
          <Form.Group as={Col} className="mb-3" controlId="name"><Form.Label>Your name</Form.Label><Form.Control {...register("name")} isInvalid={!!errors.name} /><Form.Control.Feedback type="invalid">{errors.name?.message}</Form.Control.Feedback></Form.Group>
          <Form.Group as={Col} className="mb-3" controlId="phone"><Form.Label>Phone</Form.Label><Controller name="phone" control={control} render={({ field }) => <PhoneInput id="phone" defaultCountry="NL" {...field} numberInputProps={{ className: "form-control" }} />} />{errors.phone && <div className="text-danger small">{errors.phone.message}</div>}</Form.Group>
        </Row>
        <Form.Group className="mb-3"><Form.Label htmlFor="to">Moving to</Form.Label><Controller name="to" control={control} render={({ field }) => <AsyncSelect inputId="to" cacheOptions loadOptions={towns} placeholder="Start typing a town" {...field} />} />{errors.to && <div className="text-danger small">{errors.to.message}</div>}</Form.Group>
        <Row>
          <Form.Group as={Col} className="mb-3"><Form.Label htmlFor="day">Moving day</Form.Label><div><Controller name="day" control={control} render={({ field }) => <DatePicker id="day" className="form-control" selected={field.value} onChange={field.onChange} onBlur={field.onBlur} dateFormat="dd-MM-yyyy" placeholderText="dd-mm-yyyy" showMonthDropdown showYearDropdown dropdownMode="select" />} /></div>{errors.day && <div className="text-danger small">{errors.day.message}</div>}</Form.Group>
          <Form.Group as={Col} className="mb-3" controlId="rooms"><Form.Label>Rooms</Form.Label><Form.Select {...register("rooms")}><option value="">Please select</option><option value="1">One room</option><option value="2">Two rooms</option><option value="3">Three rooms</option><option value="4+">Four or more</option></Form.Select></Form.Group>
        </Row>
        <Form.Group className="mb-3" controlId="volume"><Form.Label>Volume in m³</Form.Label><Form.Control type="number" min={1} max={200} {...register("volume")} isInvalid={!!errors.volume} /></Form.Group>
        <Form.Group className="mb-3"><Form.Label htmlFor="services">Additional services</Form.Label><Controller name="services" control={control} render={({ field }) => <Select inputId="services" isMulti closeMenuOnSelect={false} options={SERVICES} {...field} />} /></Form.Group>
        <Form.Check className="mb-3" type="switch" id="lift" label="There is a lift" {...register("lift")} />
        <Button type="submit" disabled={isSubmitting}>{isSubmitting && <Spinner size="sm" />} Send request</Button>
      </Form>
    </Container>
  );
});
