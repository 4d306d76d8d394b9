import { Checkbox, ChoiceGroup, ComboBox, DatePicker, Dropdown, initializeIcons, MessageBar, MessageBarType, PrimaryButton, Slider, SpinButton, Stack, TextField, Toggle } from "@fluentui/react";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

initializeIcons(undefined, { disableWarnings: true });
const two = (n) => String(n).padStart(2, "0");
const rooms = [["oak", "Oak room"], ["elm", "Elm room"], ["ash", "Ash room"]].map(([key, text]) => ({ key, text }));
const gear = [["beam", "Projector"], ["board", "White board"], ["phone", "Conference phone"], ["cam", "Camera"]].map(([key, text]) => ({ key, text }));
const teams = ["Purchasing", "Marketing", "Research"].map((text) => ({ key: text, text }));
const layouts = [["u", "Horseshoe"], ["t", "Theatre"], ["b", "Board table"]].map(([key, text]) => ({ key, text }));

start(function Room() {
  const [v, setV] = useState({ who: "", room: "", gear: [], team: "", day: null, seats: "4", hours: 1, layout: "", lunch: false, outside: false, note: "" });
  const [state, setState] = useState("");
  const set = (name, value) => setV((old) => ({ ...old, [name]: value }));
  async function send() {
    if (!v.who) return setState("Please say who books.");
    const body = new URLSearchParams({ booked_by: v.who, room: v.room, team: v.team, seats: v.seats, hours: v.hours, layout: v.layout, note: v.note, lunch: v.lunch ? "Y" : "N" });
    for (const key of v.gear) body.append("gear", key);
    if (v.day) body.set("date", `${two(v.day.getMonth() + 1)}/${two(v.day.getDate())}/${v.day.getFullYear()}`);
    if (v.outside) body.set("guests", "external");
    const answer = await fetch(SEND, { method: "POST", body });
    setState(answer.ok ? "ok" : "The room is not booked.");
  }
  return (
    <Stack tokens={{ childrenGap: 12 }} style={{ width: 420, margin: 32 }}>
      {state && <MessageBar messageBarType={state === "ok" ? MessageBarType.success : MessageBarType.error}>{state === "ok" ? "The room is yours." : state}</MessageBar>}
      <TextField label="Booked by" required value={v.who} onChange={(_, text) => set("who", text ?? "")} />
      <Dropdown label="Room" placeholder="Select a room" options={rooms} selectedKey={v.room || null} onChange={(_, option) => set("room", option.key)} />
      <Dropdown label="Equipment" placeholder="Select" multiSelect options={gear} selectedKeys={v.gear} onChange={(_, option) => set("gear", option.selected ? [...v.gear, option.key] : v.gear.filter((key) => key !== option.key))} />
      <ComboBox label="Team" options={teams} allowFreeform autoComplete="on" selectedKey={v.team || null} onChange={(_, option, __, text) => set("team", option?.text ?? text ?? "")} />
      <DatePicker label="Day of the meeting" placeholder="Select a date" value={v.day ?? undefined} onSelectDate={(date) => set("day", date ?? null)} />
      <SpinButton label="Seats" min={1} max={60} value={v.seats} onChange={(_, text) => set("seats", text ?? "")} />
      <Slider label="Hours" min={1} max={8} value={v.hours} showValue onChange={(hours) => set("hours", hours)} />
      <ChoiceGroup label="Layout" options={layouts} selectedKey={v.layout || undefined} onChange={(_, option) => set("layout", option.key)} />
      <TextField label="Note for the desk" multiline rows={2} value={v.note} onChange={(_, text) => set("note", text ?? "")} />
      <Toggle label="Lunch" inlineLabel checked={v.lunch} onChange={(_, on) => set("lunch", on)} />
      <Checkbox label="Guests from outside" checked={v.outside} onChange={(_, on) => set("outside", on)} />
      <PrimaryButton text="Book room" onClick={send} />
    </Stack>
  );
});
