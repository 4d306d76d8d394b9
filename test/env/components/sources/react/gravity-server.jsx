import { DatePicker } from "@gravity-ui/date-components";
import { Button, Checkbox, NumberInput, Palette, SegmentedRadioGroup, Select, Slider, Switch, TextArea, TextInput, ThemeProvider } from "@gravity-ui/uikit";
import "@gravity-ui/uikit/styles/fonts.css";
import "@gravity-ui/uikit/styles/styles.css";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const REGIONS = [["Frankfurt", "eu-1"], ["Helsinki", "eu-2"], ["Virginia", "us-1"], ["Osaka", "ap-1"], ["Sao Paulo", "sa-1"]];
const ADDONS = [["Backups", "bak"], ["Load balancer", "lb"], ["Static address", "ip"], ["Monitoring", "mon"]];

start(function Server() {
  const [v, setV] = useState({ name: "", region: [], addons: [], cores: 2, disk: 40, system: "deb", until: null, ports: [], note: "", protect: false, terms: false });
  const [message, setMessage] = useState("");
  const put = (key) => (value) => setV((old) => ({ ...old, [key]: value }));
  async function send(event) {
    event.preventDefault();
    if (!v.name) return setMessage("Give the server a name");
    const variables = { input: { hostname: v.name, region: v.region[0] ?? null, addons: v.addons, size: { cores: v.cores, disk: v.disk }, image: v.system, expires: v.until ? v.until.format("YYYY-MM-DD") : null, tier: v.ports, comment: v.note, protected: v.protect, terms: v.terms } };
    const answer = await (await fetch(SEND, json("POST", { query: "mutation Create($input: ServerInput!) { createServer(input: $input) { id } }", variables }))).json();
    setMessage(answer.errors ? answer.errors[0].message : "The server starts");
  }
  const Row = ({ children }) => <div style={{ display: "grid", gap: 4 }}>{children}</div>;
  return (
    <ThemeProvider theme="light">
      <form onSubmit={send} style={{ width: 480, margin: 32, display: "grid", gap: 18 }}>
        {message && <div role="alert">{message}</div>}
        {Row({ children: [<label key="l" htmlFor="name">Server name</label>, <TextInput key="i" id="name" value={v.name} onUpdate={put("name")} />] })}
        {Row({ children: [<span key="l">Region</span>, <Select key="i" filterable placeholder="Choose" width="max" value={v.region} onUpdate={put("region")} options={REGIONS.map(([content, value]) => ({ content, value, text: content }))} />] })}
        {Row({ children: [<span key="l">Add-ons</span>, <Select key="i" multiple hasClear placeholder="None" width="max" value={v.addons} onUpdate={put("addons")} options={ADDONS.map(([content, value]) => ({ content, value, text: content }))} />] })}
        {Row({ children: [<label key="l" htmlFor="cores">Cores</label>, <NumberInput key="i" id="cores" min={1} max={64} value={v.cores} onUpdate={put("cores")} />] })}
        {Row({ children: [<span key="l">Disk in GB</span>, <Slider key="i" min={10} max={200} step={10} value={v.disk} onUpdate={put("disk")} tooltipDisplay="auto" />] })}
        {Row({ children: [<span key="l">System</span>, <SegmentedRadioGroup key="i" value={v.system} onUpdate={put("system")}><SegmentedRadioGroup.Option value="deb">Debian</SegmentedRadioGroup.Option><SegmentedRadioGroup.Option value="bsd">FreeBSD</SegmentedRadioGroup.Option><SegmentedRadioGroup.Option value="win">Windows</SegmentedRadioGroup.Option></SegmentedRadioGroup>] })}
        {Row({ children: [<label key="l" htmlFor="until">Delete it on</label>, <DatePicker key="i" id="until" format="DD.MM.YYYY" value={v.until} onUpdate={put("until")} hasClear />] })}
        {Row({ children: [<span key="l">Open to</span>, <Palette key="i" columns={3} value={v.ports} onUpdate={put("ports")} options={[["Web", "http"], ["Mail", "smtp"], ["Shell", "ssh"]].map(([content, value]) => ({ content, value, title: content }))} />] })}
        {Row({ children: [<label key="l" htmlFor="note">Comment</label>, <TextArea key="i" id="note" minRows={2} value={v.note} onUpdate={put("note")} />] })}
        <Switch checked={v.protect} onUpdate={put("protect")}>Protect against deletion</Switch>
        <Checkbox checked={v.terms} onUpdate={put("terms")}>I pay for it</Checkbox>
        <div><Button type="submit" view="action" size="l">Create server</Button></div>
      </form>
    </ThemeProvider>
  );
});
