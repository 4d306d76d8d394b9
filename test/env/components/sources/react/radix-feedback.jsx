import { Checkbox, Label, RadioGroup, Select, Slider, Toast, ToggleGroup } from "radix-ui";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const AREAS = [["bil", "Billing"], ["del", "Delivery"], ["web", "Web shop"]];

start(function Feedback() {
  const [note, setNote] = useState("");
  const [devices, setDevices] = useState([]);
  async function submit(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    data.set("devices", devices.join(","));
    const answer = await (await fetch(SEND, { method: "POST", body: new URLSearchParams(data) })).json();
    setNote(answer.state === "stored" ? "Obrigado!" : "Erro: campos em falta");
    if (answer.state === "stored") event.target.reset();
  }
  return (
    <Toast.Provider>
      <form onSubmit={submit} style={{ display: "grid", gap: 14, width: 400, margin: 32 }}>
        <div><Label.Root htmlFor="who">Your name</Label.Root> <input id="who" name="who" /></div>
        <div><Label.Root id="al" htmlFor="area">Area</Label.Root>{" "}
          <Select.Root name="area"><Select.Trigger id="area"><Select.Value placeholder="Choose…" /></Select.Trigger>
            <Select.Portal><Select.Content position="popper" style={{ background: "white", border: "1px solid" }}><Select.Viewport>{AREAS.map(([v, t]) => <Select.Item key={v} value={v}><Select.ItemText>{t}</Select.ItemText></Select.Item>)}</Select.Viewport></Select.Content></Select.Portal>
          </Select.Root></div>
        <div><p id="mood">How did it go?</p>
          <RadioGroup.Root name="mood" aria-labelledby="mood">{["Badly", "Fairly", "Well"].map((m, i) => <div key={m}><RadioGroup.Item id={m} value={String(i + 1)}>·<RadioGroup.Indicator>●</RadioGroup.Indicator></RadioGroup.Item> <label htmlFor={m}>{m}</label></div>)}</RadioGroup.Root></div>
        <div><Label.Root>Likelihood to return</Label.Root>
          <Slider.Root name="nps" max={10} defaultValue={[0]} style={{ position: "relative", display: "flex", width: 200, height: 20, background: "#ddd" }}><Slider.Track style={{ flexGrow: 1 }}><Slider.Range /></Slider.Track><Slider.Thumb aria-label="Likelihood to return" style={{ display: "block", width: 20, height: 20, background: "navy" }} /></Slider.Root></div>
        <div><p>Devices used</p>
          <ToggleGroup.Root type="multiple" aria-label="Devices used" value={devices} onValueChange={setDevices}>{["Phone", "Tablet", "Laptop"].map((d) => <ToggleGroup.Item key={d} value={d.toLowerCase()}>{d}</ToggleGroup.Item>)}</ToggleGroup.Root></div>
        <div><Checkbox.Root id="back" name="callback" value="yes" style={{ width: 20, height: 20 }}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Root> <label htmlFor="back">Please call me back</label></div>
        <button type="submit">Send feedback</button>
      </form>
      <Toast.Root open={note !== ""} onOpenChange={() => setNote("")}><Toast.Title>{note}</Toast.Title></Toast.Root>
      <Toast.Viewport />
    </Toast.Provider>
  );
});
