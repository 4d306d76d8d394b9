import { Checkbox } from "@base-ui/react/checkbox";
import { Field } from "@base-ui/react/field";
import { Form } from "@base-ui/react/form";
import { NumberField } from "@base-ui/react/number-field";
import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import { Select } from "@base-ui/react/select";
import { Switch } from "@base-ui/react/switch";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const PAPERS = { d: "The Daily", w: "The Weekly", m: "The Monthly" };

start(function Subscription() {
  const [errors, setErrors] = useState({});
  const [thanks, setThanks] = useState(false);
  async function submit(event) {
    event.preventDefault();
    const answer = await fetch(SEND, { method: "POST", body: new URLSearchParams(new FormData(event.target)) });
    const body = await answer.json();
    setErrors(body.errors ?? {});
    setThanks(answer.ok);
  }
  if (thanks) return <main>Děkujeme za předplatné.</main>;
  return (
    <Form errors={errors} onSubmit={submit} style={{ display: "grid", gap: 12, width: 400, margin: 32 }}>
      <Field.Root name="subscriber"><Field.Label>Subscriber</Field.Label> <Field.Control required /><Field.Error /></Field.Root>
      <Field.Root name="paper"><Field.Label nativeLabel={false} render={<div />}>Paper</Field.Label>
        <Select.Root items={PAPERS}><Select.Trigger><Select.Value placeholder="Which paper" /></Select.Trigger><Select.Portal><Select.Positioner><Select.Popup style={{ background: "white", border: "1px solid" }}>{Object.entries(PAPERS).map(([k, t]) => <Select.Item key={k} value={k}><Select.ItemText>{t}</Select.ItemText></Select.Item>)}</Select.Popup></Select.Positioner></Select.Portal></Select.Root></Field.Root>
      <Field.Root name="copies"><NumberField.Root min={1} max={50} defaultValue={1}><Field.Label>Copies</Field.Label><NumberField.Group><NumberField.Decrement>−</NumberField.Decrement><NumberField.Input /><NumberField.Increment>+</NumberField.Increment></NumberField.Group></NumberField.Root></Field.Root>
      <div><span id="pay">Payment</span><RadioGroup name="payment" aria-labelledby="pay">{["Monthly", "Yearly", "Every two years"].map((t, i) => <label key={t} style={{ display: "block" }}><Radio.Root value={`P${[1, 12, 24][i]}`} style={{ display: "inline-block", width: 14, height: 14, border: "1px solid" }}><Radio.Indicator>•</Radio.Indicator></Radio.Root> {t}</label>)}</RadioGroup></div>
      <label><Switch.Root name="digital" style={{ display: "inline-block", width: 36, height: 18, background: "#ccc" }}><Switch.Thumb /></Switch.Root> Digital edition too</label>
      <label><Checkbox.Root name="gift" style={{ display: "inline-block", width: 16, height: 16, border: "1px solid" }}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Root> This is a gift</label>
      <button type="submit">Subscribe</button>
    </Form>
  );
});
