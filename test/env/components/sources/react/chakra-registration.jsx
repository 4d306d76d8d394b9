import { Button, ChakraProvider, defaultSystem, Field, Fieldset, Heading, Input, NativeSelect, NumberInput, PinInput, RadioGroup, Stack, Switch } from "@chakra-ui/react";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

function Registration() {
  const [v, set] = useState({ name: "", country: "", ticket: "", seats: "1", pin: [], vegan: false });
  const [message, setMessage] = useState("");
  const put = (part) => set((old) => ({ ...old, ...part }));
  async function submit(event) {
    event.preventDefault();
    const answer = await (await fetch(SEND, json("POST", { ...v, seats: Number(v.seats), pin: v.pin.join("") }))).json();
    setMessage(answer.success ? "Du bist angemeldet." : answer.reason);
    if (answer.success) document.querySelector("form").hidden = true;
  }
  return (
    <Stack width="420px" m="8">
      <Heading>Conference registration</Heading>
      {message && <p aria-live="polite">{message}</p>}
      <form onSubmit={submit}>
        <Stack gap="4">
          <Field.Root required><Field.Label>Name <Field.RequiredIndicator /></Field.Label><Input value={v.name} onChange={(e) => put({ name: e.target.value })} /></Field.Root>
          <Field.Root><Field.Label>Country</Field.Label>
            <NativeSelect.Root><NativeSelect.Field placeholder="Choose" value={v.country} onChange={(e) => put({ country: e.target.value })}><option value="FI">Finland</option><option value="KE">Kenya</option><option value="PE">Peru</option></NativeSelect.Field><NativeSelect.Indicator /></NativeSelect.Root>
          </Field.Root>
          <Fieldset.Root><Fieldset.Legend>Ticket</Fieldset.Legend>
            <RadioGroup.Root value={v.ticket} onValueChange={(e) => put({ ticket: e.value })}>
              {["Student", "Regular", "Supporter"].map((t, i) => <RadioGroup.Item key={t} value={`T${i + 1}`}><RadioGroup.ItemHiddenInput /><RadioGroup.ItemIndicator /><RadioGroup.ItemText>{t}</RadioGroup.ItemText></RadioGroup.Item>)}
            </RadioGroup.Root>
          </Fieldset.Root>
          <NumberInput.Root min={1} max={12} value={v.seats} onValueChange={(e) => put({ seats: e.value })}><NumberInput.Label>Seats</NumberInput.Label><NumberInput.Control /><NumberInput.Input /></NumberInput.Root>
          <PinInput.Root value={v.pin} onValueChange={(e) => put({ pin: e.value })}><PinInput.Label>Invitation code</PinInput.Label><PinInput.HiddenInput /><PinInput.Control>{[0, 1, 2, 3].map((i) => <PinInput.Input key={i} index={i} />)}</PinInput.Control></PinInput.Root>
          <Switch.Root checked={v.vegan} onCheckedChange={(e) => put({ vegan: e.checked })}><Switch.HiddenInput /><Switch.Control /><Switch.Label>Vegan meals</Switch.Label></Switch.Root>
          <Button type="submit">Register</Button>
        </Stack>
      </form>
    </Stack>
  );
}
start(() => <ChakraProvider value={defaultSystem}><Registration /></ChakraProvider>);
