import { Autocomplete, Button, Checkbox, CheckboxGroup, DatePicker, Field, Fieldset, Input, NumberInput, RadioGroup, Rating, SegmentedControl, Select, Slider, Switch, Textarea, UIProvider } from "@yamada-ui/react";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const two = (n) => String(n).padStart(2, "0");
const iso = (d) => (d ? `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}` : null);
const items = (pairs) => pairs.map(([label, value]) => ({ label, value }));

start(function Survey() {
  const [v, setV] = useState({ guest: "", room: "", source: "", day: undefined, nights: 1, noise: 30, stars: 0, again: "maybe", liked: [], trip: "", text: "", mail: false });
  const [state, setState] = useState("");
  const put = (key) => (value) => setV((old) => ({ ...old, [key]: value }));
  async function send(event) {
    event.preventDefault();
    const { guest, room, source, day, nights, noise, stars, again, liked, trip, text, mail } = v;
    const answer = await fetch(SEND, json("POST", { jsonrpc: "2.0", id: 7, method: "survey.save", params: { guest, room, source, day: iso(day), nights: Number(nights), noise, stars, again, liked, trip, text, mail } }));
    setState((await answer.json()).error ? "Please answer the first questions" : "Thank you for your answers");
  }
  return (
    <UIProvider>
      <form onSubmit={send} style={{ width: 460, margin: 32, display: "grid", gap: 18 }}>
        {state && <p role="status">{state}</p>}
        <Field.Root label="Guest"><Input value={v.guest} onChange={(e) => put("guest")(e.target.value)} /></Field.Root>
        <Field.Root label="Room"><Select.Root placeholder="Choose a room" value={v.room} onChange={put("room")} items={items([["Single", "r1"], ["Double", "r2"], ["Suite", "r3"]])} /></Field.Root>
        <Field.Root label="How you found us"><Autocomplete.Root placeholder="Type to search" value={v.source} onChange={put("source")} items={items([["A friend", "fr"], ["Newspaper", "np"], ["Search engine", "se"], ["Tour operator", "to"]])} /></Field.Root>
        <Field.Root label="Day of arrival"><DatePicker placeholder="YYYY/MM/DD" value={v.day} onChange={put("day")} /></Field.Root>
        <Field.Root label="Nights"><NumberInput value={v.nights} min={1} max={60} onChange={put("nights")} /></Field.Root>
        <Field.Root label="Noise at night"><Slider.Root value={v.noise} min={0} max={100} step={5} onChange={put("noise")} /></Field.Root>
        <Field.Root label="Breakfast"><Rating value={v.stars} onChange={put("stars")} /></Field.Root>
        <Fieldset.Root legend="Come again"><SegmentedControl.Root value={v.again} onChange={put("again")} items={items([["Surely", "yes"], ["Perhaps", "maybe"], ["Never", "no"]])} /></Fieldset.Root>
        <Fieldset.Root legend="What you liked"><CheckboxGroup.Root value={v.liked} onChange={put("liked")} items={items([["View", "view"], ["Beds", "beds"], ["Garden", "gard"]])} /></Fieldset.Root>
        <Fieldset.Root legend="Kind of trip"><RadioGroup.Root value={v.trip} onChange={put("trip")} items={items([["Business", "biz"], ["Holiday", "hol"], ["Visit", "vis"]])} /></Fieldset.Root>
        <Field.Root label="Anything else"><Textarea value={v.text} onChange={(e) => put("text")(e.target.value)} /></Field.Root>
        <Switch checked={v.mail} onChange={(e) => put("mail")(e.target.checked)}>Send me offers</Switch>
        <Button type="submit">Send answers</Button>
      </form>
    </UIProvider>
  );
});
