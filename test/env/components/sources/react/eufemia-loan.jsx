import { Button } from "@dnb/eufemia/components";
import { Field, Form, Wizard } from "@dnb/eufemia/extensions/forms";
import "@dnb/eufemia/style";
import "@dnb/eufemia/style/themes/ui";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

start(function Loan() {
  const [message, setMessage] = useState("");
  async function send(data) {
    const answer = await fetch(SEND, json("POST", { application: data }));
    setMessage(answer.ok ? "We will write to you" : "The application is not complete");
  }
  return (
    <Form.Handler locale="en-GB" onSubmit={send} defaultData={{ term: 10, newcomer: false }} style={{ width: 620, margin: 32 }}>
      {message && <p role="status">{message}</p>}
      <Wizard.Container>
        <Wizard.Step title="You">
          <Field.Name.First path="/firstName" label="Given name" required />
          <Field.PhoneNumber path="/phone" label="Phone" countryCode="NO" numberLabel="Mobile" />
          <Field.Date path="/born" label="Born on" />
          <Field.Selection path="/work" label="Employment" variant="dropdown">
            <Field.Option value="emp" title="Employed" /><Field.Option value="self" title="Self-employed" /><Field.Option value="ret" title="Retired" />
          </Field.Selection>
          <Wizard.Buttons />
        </Wizard.Step>
        <Wizard.Step title="The loan">
          <Field.Currency path="/amount" label="Loan amount" currency="EUR" />
          <Field.Slider path="/term" label="Term in years" min={1} max={30} />
          <Field.ArraySelection path="/securities" label="Securities" variant="checkbox">
            <Field.Option value="house" title="House" /><Field.Option value="car" title="Car" /><Field.Option value="bond" title="Bonds" />
          </Field.ArraySelection>
          <Field.Selection path="/rate" label="Interest" variant="button">
            <Field.Option value="fix" title="Fixed" /><Field.Option value="var" title="Variable" /><Field.Option value="mix" title="Mixed" />
          </Field.Selection>
          <Field.String path="/purpose" label="Purpose" multiline />
          <Field.Toggle path="/newcomer" label="My first loan" valueOn={true} valueOff={false} variant="checkbox" />
          <Wizard.Buttons />
          <Button type="submit" text="Apply for the loan" top="large" />
        </Wizard.Step>
      </Wizard.Container>
    </Form.Handler>
  );
});
