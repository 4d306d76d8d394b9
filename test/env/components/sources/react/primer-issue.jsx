import { ActionList, ActionMenu, BaseStyles, Button, Checkbox, CheckboxGroup, FormControl, Radio, RadioGroup, Select, Textarea, TextInput, TextInputWithTokens, ThemeProvider, ToggleSwitch } from "@primer/react";
import "@primer/primitives/dist/css/functional/themes/light.css";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

start(function Issue() {
  const [v, setV] = useState({ title: "", area: "", assignee: "", kind: "", browsers: [], labels: [], body: "", due: "", notify: false });
  const [text, setText] = useState("");
  const [state, setState] = useState("");
  const set = (name, value) => setV((old) => ({ ...old, [name]: value }));
  async function send() {
    if (!v.title) return setState("title");
    const query = "mutation Open($input: IssueInput!) { openIssue(input: $input) { id } }";
    const answer = await (await fetch(SEND, json("POST", { query, variables: { input: v } }))).json();
    setState(answer.errors ? "refused" : "opened");
  }
  return (
    <ThemeProvider><BaseStyles>
      <div style={{ width: 460, margin: 32, display: "grid", gap: 14 }}>
        {state === "opened" && <h2>Issue opened</h2>}{state === "refused" && <h2>Something is missing</h2>}
        <FormControl required><FormControl.Label>Title</FormControl.Label><TextInput value={v.title} onChange={(e) => set("title", e.target.value)} />{state === "title" && <FormControl.Validation variant="error">Give it a title</FormControl.Validation>}</FormControl>
        <FormControl><FormControl.Label>Area</FormControl.Label><Select value={v.area} placeholder="Pick an area" onChange={(e) => set("area", e.target.value)}><Select.Option value="ui">Interface</Select.Option><Select.Option value="db">Storage</Select.Option><Select.Option value="net">Network</Select.Option></Select></FormControl>
        <div><div id="who">Assignee</div><ActionMenu><ActionMenu.Button aria-labelledby="who">{v.assignee || "Nobody"}</ActionMenu.Button><ActionMenu.Overlay><ActionList selectionVariant="single">{["Amara", "Bastian", "Chloe"].map((name) => <ActionList.Item key={name} selected={v.assignee === name} onSelect={() => set("assignee", name)}>{name}</ActionList.Item>)}</ActionList></ActionMenu.Overlay></ActionMenu></div>
        <RadioGroup name="kind" onChange={(value) => set("kind", value)}><RadioGroup.Label>Kind</RadioGroup.Label>{[["bug", "Defect"], ["feat", "Wish"], ["task", "Chore"]].map(([value, name]) => <FormControl key={value}><Radio value={value} /><FormControl.Label>{name}</FormControl.Label></FormControl>)}</RadioGroup>
        <CheckboxGroup onChange={(list) => set("browsers", list)}><CheckboxGroup.Label>Seen in</CheckboxGroup.Label>{["Firefox", "Safari", "Edge"].map((name) => <FormControl key={name}><Checkbox value={name.toLowerCase()} /><FormControl.Label>{name}</FormControl.Label></FormControl>)}</CheckboxGroup>
        <FormControl><FormControl.Label>Labels</FormControl.Label><TextInputWithTokens tokens={v.labels.map((one) => ({ id: one, text: one }))} onTokenRemove={(id) => set("labels", v.labels.filter((one) => one !== id))} value={text} onChange={(e) => setText(e.target.value)} onKeyDown={(e) => { if (e.key === "Enter" && text) { set("labels", [...v.labels, text]); setText(""); } }} /></FormControl>
        <FormControl><FormControl.Label>Due on</FormControl.Label><TextInput type="date" value={v.due} onChange={(e) => set("due", e.target.value)} /></FormControl>
        <FormControl><FormControl.Label>Description</FormControl.Label><Textarea value={v.body} onChange={(e) => set("body", e.target.value)} /></FormControl>
        <div><span id="notify">Notify me</span> <ToggleSwitch aria-labelledby="notify" checked={v.notify} onClick={() => set("notify", !v.notify)} /></div>
        <Button variant="primary" onClick={send}>Open issue</Button>
      </div>
    </BaseStyles></ThemeProvider>
  );
});
