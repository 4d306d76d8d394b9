import { useState } from "react";
import DatePicker from "react-multi-date-picker";
import PhoneInput from "react-phone-input-2";
import "react-phone-input-2/lib/style.css";
import TagsInput from "react-tagsinput";
import "react-tagsinput/react-tagsinput.css";
import { json, SEND, start } from "./start.jsx";

const Picker = DatePicker.default ?? DatePicker;
const Phone = PhoneInput.default ?? PhoneInput;
const Tags = TagsInput.default ?? TagsInput;

start(function Charter() {
  const [v, setV] = useState({ skipper: "", phone: "", boat: "", cruise: [], harbours: [], crew: "", licence: "", rope: 2, note: "", cleaning: false });
  const [state, setState] = useState("");
  const set = (name, value) => setV((old) => ({ ...old, [name]: value }));
  const on = (name) => (event) => set(name, event.target.value);
  async function send(event) {
    event.preventDefault();
    const [from, to] = v.cruise.map((date) => date.format("YYYY-MM-DD"));
    const body = { skipper: { name: v.skipper, phone: `+${v.phone}`, licence: v.licence || null }, boat: v.boat, from: from ?? null, to: to ?? null, harbours: v.harbours, crew: v.crew === "" ? null : Number(v.crew), note: v.note, finalCleaning: v.cleaning };
    const answer = await fetch(SEND, json("POST", body));
    setState(answer.ok ? "Ahoy! The boat is yours." : "Skipper and boat are missing.");
  }
  return (
    <form onSubmit={send} style={{ width: 420, margin: 32, display: "grid", gap: 12 }}>
      <h1>Boat charter</h1>
      {state && <p role="alert">{state}</p>}
      <label>Skipper <input value={v.skipper} onChange={on("skipper")} /></label>
      <div><label htmlFor="phone">Mobile number</label><Phone country="de" value={v.phone} onChange={(phone) => set("phone", phone)} inputProps={{ id: "phone", name: "phone" }} /></div>
      <label>Boat <select value={v.boat} onChange={on("boat")}><option value="">Select</option><option value="b1">Sailing dinghy</option><option value="b2">Motor cruiser</option><option value="b3">House boat</option></select></label>
      <div><div>Cruise</div><Picker range value={v.cruise} onChange={(dates) => set("cruise", dates)} format="DD/MM/YYYY" dateSeparator=" - " /></div>
      <div><div>Harbours</div><Tags value={v.harbours} onChange={(tags) => set("harbours", tags)} inputProps={{ placeholder: "Add a harbour" }} addOnBlur /></div>
      <label>Crew <input type="number" min="1" value={v.crew} onChange={on("crew")} /></label>
      <fieldset><legend>Licence</legend>{[["inland", "Inland"], ["coast", "Coastal"], ["sea", "High seas"]].map(([value, text]) => <label key={value}><input type="radio" name="licence" value={value} checked={v.licence === value} onChange={on("licence")} /> {text} </label>)}</fieldset>
      <label>Message to us <textarea value={v.note} onChange={on("note")} /></label>
      <label><input type="checkbox" checked={v.cleaning} onChange={(event) => set("cleaning", event.target.checked)} /> Final cleaning</label>
      <button>Charter boat</button>
    </form>
  );
});
