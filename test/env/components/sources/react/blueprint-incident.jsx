import "@blueprintjs/core/lib/css/blueprint.css";
import "@blueprintjs/select/lib/css/blueprint-select.css";
import { Button, Callout, FileInput, FormGroup, HTMLSelect, InputGroup, MenuItem, NumericInput, Radio, RadioGroup, Switch, TagInput } from "@blueprintjs/core";
import { Select } from "@blueprintjs/select";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const PLANTS = ["Aveiro", "Bergen", "Cork", "Dresden"];

start(function Incident() {
  const [v, set] = useState({ reporter: "", plant: "", kind: "", injured: 0, witnesses: [], grade: "", stopped: false });
  const [state, setState] = useState();
  const put = (part) => set((old) => ({ ...old, ...part }));
  async function submit(event) {
    event.preventDefault();
    setState((await fetch(SEND, json("POST", { incident: JSON.stringify(v) }))).status);
  }
  if (state === 201) return <Callout intent="success" title="Zgłoszenie przyjęte" />;
  return (
    <form onSubmit={submit} style={{ width: 420, margin: 32 }}>
      {state && <Callout intent="danger">Brakuje danych</Callout>}
      <FormGroup label="Reporter" labelFor="reporter"><InputGroup id="reporter" value={v.reporter} onChange={(e) => put({ reporter: e.target.value })} /></FormGroup>
      <FormGroup label="Plant">
        <Select items={PLANTS} itemPredicate={(q, p) => p.toLowerCase().includes(q.toLowerCase())} itemRenderer={(p, { handleClick, handleFocus, modifiers, ref }) => <MenuItem key={p} ref={ref} text={p} active={modifiers.active} onClick={handleClick} onFocus={handleFocus} roleStructure="listoption" />} onItemSelect={(plant) => put({ plant })} popoverProps={{ minimal: true }}>
          <Button text={v.plant || "Select a plant"} endIcon="caret-down" />
        </Select>
      </FormGroup>
      <FormGroup label="Kind of incident" labelFor="kind"><HTMLSelect id="kind" options={["", "Fire", "Leak", "Fall"]} value={v.kind} onChange={(e) => put({ kind: e.target.value })} /></FormGroup>
      <FormGroup label="People injured" labelFor="injured"><NumericInput id="injured" min={0} max={50} value={v.injured} onValueChange={(injured) => put({ injured })} /></FormGroup>
      <FormGroup label="Witnesses" labelFor="witnesses"><TagInput onKeyDown={(e) => e.key === "Enter" && e.preventDefault()} inputProps={{ id: "witnesses" }} values={v.witnesses} onChange={(witnesses) => put({ witnesses })} /></FormGroup>
      <RadioGroup label="Grade" selectedValue={v.grade} onChange={(e) => put({ grade: e.target.value })}><Radio label="Minor" value="1" /><Radio label="Serious" value="2" /><Radio label="Grave" value="3" /></RadioGroup>
      <Switch label="Production stopped" checked={v.stopped} onChange={(e) => put({ stopped: e.target.checked })} />
      <Button intent="primary" type="submit" text="Report incident" />
    </form>
  );
});
