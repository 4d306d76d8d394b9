import { Button, CheckboxControl, ComboboxControl, CustomSelectControl, FormTokenField, Notice, RadioControl, RangeControl, SelectControl, TextControl, TextareaControl, ToggleControl, __experimentalNumberControl as NumberControl, __experimentalToggleGroupControl as ToggleGroupControl, __experimentalToggleGroupControlOption as ToggleOption } from "@wordpress/components";
import "@wordpress/components/build-style/style.css";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const VENUES = [["Town hall", "th"], ["Old brewery", "ob"], ["River stage", "rs"], ["School yard", "sy"]].map(([label, value]) => ({ label, value }));
const PRICES = [["Free", "0"], ["Members only", "m"], ["Paid", "p"]].map(([name, key]) => ({ name, key }));

start(function Event() {
  const [v, setV] = useState({ title: "", venue: null, kind: "", price: PRICES[0], tags: [], seats: 60, length: 2, door: "", stage: "in", date: "", text: "", live: false, pets: false });
  const [note, setNote] = useState(null);
  const put = (key) => (value) => setV((old) => ({ ...old, [key]: value }));
  async function send(event) {
    event.preventDefault();
    const body = new URLSearchParams({ "event[title]": v.title, "event[venue]": v.venue ?? "", "event[kind]": v.kind, "event[price]": v.price.key, "event[seats]": v.seats, "event[hours]": v.length, "event[door]": v.door, "event[stage]": v.stage, "event[date]": v.date, "event[text]": v.text, "event[live]": v.live ? "1" : "0", "event[pets]": v.pets ? "1" : "0" });
    for (const tag of v.tags) body.append("event[tags][]", tag);
    const answer = await (await fetch(SEND, { method: "POST", body })).json();
    setNote(answer.success ? { status: "success", text: "The event is published" } : { status: "error", text: "The event needs a title and a venue" });
  }
  const next = { __next40pxDefaultSize: true, __nextHasNoMarginBottom: true };
  return (
    <form onSubmit={send} style={{ width: 460, margin: 32, display: "grid", gap: 18 }}>
      {note && <Notice status={note.status} isDismissible={false}>{note.text}</Notice>}
      <TextControl {...next} label="Title" value={v.title} onChange={put("title")} />
      <ComboboxControl {...next} label="Venue" value={v.venue} options={VENUES} onChange={put("venue")} />
      <SelectControl {...next} label="Kind" value={v.kind} onChange={put("kind")} options={[{ label: "Choose", value: "" }, { label: "Concert", value: "con" }, { label: "Market", value: "mar" }, { label: "Talk", value: "tal" }]} />
      <CustomSelectControl {...next} label="Entrance" value={v.price} options={PRICES} onChange={({ selectedItem }) => put("price")(selectedItem)} />
      <FormTokenField {...next} label="Tags" value={v.tags} onChange={put("tags")} suggestions={["music", "food", "children", "open air"]} />
      <TextControl {...next} type="date" label="Date" value={v.date} onChange={put("date")} />
      <RangeControl {...next} label="Seats" value={v.seats} min={10} max={200} onChange={put("seats")} />
      <NumberControl {...next} label="Hours" value={v.length} min={1} max={24} spinControls="custom" onChange={put("length")} />
      <RadioControl label="Tickets at" selected={v.door} onChange={put("door")} options={[{ label: "The door", value: "door" }, { label: "The web shop", value: "web" }, { label: "The library", value: "lib" }]} />
      <ToggleGroupControl {...next} label="Place" value={v.stage} onChange={put("stage")} isBlock><ToggleOption value="in" label="Indoors" /><ToggleOption value="out" label="Outdoors" /><ToggleOption value="tent" label="In a tent" /></ToggleGroupControl>
      <TextareaControl {...next} label="Description" value={v.text} onChange={put("text")} />
      <ToggleControl {...next} label="Live on the web" checked={v.live} onChange={put("live")} />
      <CheckboxControl {...next} label="Pets may come" checked={v.pets} onChange={put("pets")} />
      <div><Button variant="primary" type="submit">Publish event</Button></div>
    </form>
  );
});
