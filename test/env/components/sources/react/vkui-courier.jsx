import {
  AdaptivityProvider, AppRoot, Button, Checkbox, ChipsInput, ChipsSelect, ConfigProvider, CustomSelect, DateInput, FormItem,
  FormStatus, Input, Radio, RadioGroup, SegmentedControl, SimpleCell, Slider, Switch, Textarea,
} from "@vkontakte/vkui";
import "@vkontakte/vkui/dist/vkui.css";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const two = (n) => String(n).padStart(2, "0");
const stamp = (d) => (d ? `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}` : null);
const DEPOTS = [["Harbour", "d-hb"], ["Old town", "d-ot"], ["Airport", "d-ap"], ["North park", "d-np"]].map(([label, value]) => ({ label, value }));
const EXTRAS = [["Insurance", "ins"], ["Return receipt", "rr"], ["Cooling", "cool"], ["Two persons", "two"]].map(([label, value]) => ({ label, value }));

start(function Courier() {
  const [v, setV] = useState({ sender: "", depot: null, day: null, kilos: 5, extras: [], size: "s", pay: "", refs: [], note: "", leave: false });
  const [state, setState] = useState("");
  const put = (key) => (value) => setV((old) => ({ ...old, [key]: value }));
  async function send() {
    if (!v.sender) return setState("Who sends it?");
    const { sender, depot, day, kilos, extras, size, pay, refs, note, leave } = v;
    const pickup = { sender, depot, on: stamp(day), parcel: { kilos, size }, extras: extras.map((e) => e.value), payment: pay, references: refs.map((r) => r.label), note, leaveAtDoor: leave };
    const answer = await (await fetch(SEND, json("POST", { pickup }))).json();
    setState(answer.ok ? "The courier is on the way" : answer.error);
  }
  return (
    <ConfigProvider locale="en" platform="vkcom"><AdaptivityProvider><AppRoot mode="embedded">
      <div style={{ width: 520, margin: 24 }}>
        {state && <FormStatus title={state} />}
        <FormItem top="Sender" htmlFor="sender"><Input id="sender" value={v.sender} onChange={(e) => put("sender")(e.target.value)} /></FormItem>
        <FormItem top="Depot"><CustomSelect searchable placeholder="Not chosen" options={DEPOTS} value={v.depot} onChange={(e, value) => put("depot")(value ?? e.target.value)} /></FormItem>
        <FormItem top="Collect on"><DateInput value={v.day} onChange={(d) => put("day")(d)} closeOnChange /></FormItem>
        <FormItem top={`Weight (${v.kilos} kg)`}><Slider min={1} max={30} step={1} value={v.kilos} onChange={put("kilos")} aria-label="Weight" /></FormItem>
        <FormItem top="Extras"><ChipsSelect placeholder="Choose extras" options={EXTRAS} value={v.extras} onChange={put("extras")} /></FormItem>
        <FormItem top="Parcel size"><SegmentedControl value={v.size} onChange={put("size")} options={[{ label: "Small", value: "s" }, { label: "Medium", value: "m" }, { label: "Large", value: "l" }]} /></FormItem>
        <FormItem top="Who pays"><RadioGroup mode="horizontal">{[["Sender pays", "snd"], ["Receiver pays", "rcv"], ["On account", "acc"]].map(([label, value]) => <Radio key={value} name="pay" value={value} onChange={() => put("pay")(value)}>{label}</Radio>)}</RadioGroup></FormItem>
        <FormItem top="References"><ChipsInput placeholder="Type and press Enter" value={v.refs} onChange={put("refs")} /></FormItem>
        <FormItem top="For the driver"><Textarea value={v.note} onChange={(e) => put("note")(e.target.value)} /></FormItem>
        <SimpleCell Component="label" after={<Switch checked={v.leave} onChange={(e) => put("leave")(e.target.checked)} />}>Leave at the door</SimpleCell>
        <FormItem><Button size="l" onClick={send}>Order courier</Button></FormItem>
      </div>
    </AppRoot></AdaptivityProvider></ConfigProvider>
  );
});
