import { Alert, Button, Checkbox, FormControl, FormControlLabel, FormGroup, FormLabel, InputLabel, MenuItem, Radio, RadioGroup, Select, Stack, Switch, TextField, ToggleButton, ToggleButtonGroup } from "@suid/material";
import { createStore } from "solid-js/store";
import { createSignal, For, Show } from "solid-js";
import { render } from "solid-js/web";

const JOBS = [["leak", "Leaking pipe"], ["drain", "Blocked drain"], ["boiler", "Cold boiler"]];
const ROOMS = ["Kitchen", "Bathroom", "Cellar", "Laundry room"];

function Plumber() {
  const [v, setV] = createStore({ name: "", job: "", rooms: [], slot: "", day: "", minutes: "", floor: "", details: "", keys: false, urgent: false });
  const [state, setState] = createSignal("");
  const toggle = (room) => setV("rooms", (list) => (list.includes(room) ? list.filter((one) => one !== room) : [...list, room]));
  async function send(event) {
    event.preventDefault();
    const data = new URLSearchParams();
    for (const [key, value] of Object.entries({ "visit[name]": v.name, "visit[job]": v.job, "visit[slot]": v.slot, "visit[date]": v.day, "visit[minutes]": v.minutes, "visit[floor]": v.floor, "visit[details]": v.details, "visit[urgent]": v.urgent ? "1" : "0" })) data.set(key, value);
    for (const room of v.rooms) data.append("visit[rooms][]", room.toLowerCase().replaceAll(" ", "_"));
    if (v.keys) data.set("visit[keys]", "on");
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", body: data });
    setState(answer.ok ? "ok" : "bad");
  }
  const field = (name, label, more) => <TextField label={label} id={name} value={v[name]} onChange={(_, value) => setV(name, value)} {...more} />;
  return (
    <form onSubmit={send} style={{ width: "440px", margin: "32px" }}><Stack spacing={2}>
      <Show when={state()}><Alert severity={state() === "ok" ? "success" : "error"}>{state() === "ok" ? "A plumber is coming" : "Please complete the form"}</Alert></Show>
      {field("name", "Tenant")}
      <FormControl fullWidth><InputLabel id="job-label">Job</InputLabel><Select labelId="job-label" id="job" label="Job" value={v.job} onChange={(event) => setV("job", event.target.value)}><For each={JOBS}>{([value, text]) => <MenuItem value={value}>{text}</MenuItem>}</For></Select></FormControl>
      <FormControl component="fieldset"><FormLabel component="legend">Rooms</FormLabel><FormGroup row><For each={ROOMS}>{(room) => <FormControlLabel control={<Checkbox checked={v.rooms.includes(room)} onChange={() => toggle(room)} />} label={room} />}</For></FormGroup></FormControl>
      {field("day", "Date of the visit", { type: "date", InputLabelProps: { shrink: true } })}
      {field("minutes", "Minutes allowed", { type: "number" })}
      <FormControl><FormLabel id="slot">Time of day</FormLabel><RadioGroup row aria-labelledby="slot" name="slot" value={v.slot} onChange={(event) => setV("slot", event.target.value)}><For each={[["am", "Forenoon"], ["pm", "Afternoon"], ["ev", "Evening"]]}>{([value, text]) => <FormControlLabel value={value} control={<Radio />} label={text} />}</For></RadioGroup></FormControl>
      <div><FormLabel>Floor</FormLabel><div><ToggleButtonGroup exclusive value={v.floor} onChange={(_, value) => setV("floor", value)}><For each={[["0", "Ground floor"], ["1", "First floor"], ["2", "Attic"]]}>{([value, text]) => <ToggleButton value={value}>{text}</ToggleButton>}</For></ToggleButtonGroup></div></div>
      {field("details", "What happened", { multiline: true, rows: 3 })}
      <FormControlLabel control={<Switch checked={v.urgent} onChange={(_, on) => setV("urgent", on)} />} label="Urgent" />
      <FormControlLabel control={<Checkbox checked={v.keys} onChange={(_, on) => setV("keys", on)} />} label="Keys are with the porter" />
      <div><Button type="submit" variant="contained">Call plumber</Button></div>
    </Stack></form>
  );
}
render(() => <Plumber />, document.getElementById("app"));
