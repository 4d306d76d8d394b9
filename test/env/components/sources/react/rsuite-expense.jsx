import "rsuite/dist/rsuite.min.css";
import { useState } from "react";
import { Button, CheckPicker, DatePicker, Form, Input, InputNumber, Message, RadioTile, RadioTileGroup, SelectPicker, Toggle, useToaster } from "rsuite";
import { json, SEND, start } from "./start.jsx";

const data = (items) => items.map((label, i) => ({ label, value: i + 1 }));
const two = (n) => String(n).padStart(2, "0");

start(function Claim() {
  const toaster = useToaster();
  const [v, set] = useState({ claimant: "", project: null, on: null, cost: "", kinds: [], pay: "", billable: false });
  const put = (key) => (value) => set((old) => ({ ...old, [key]: value }));
  async function submit() {
    const on = v.on && `${v.on.getFullYear()}-${two(v.on.getMonth() + 1)}-${two(v.on.getDate())}`;
    const answer = await (await fetch(SEND, json("POST", { ...v, on, cost: String(v.cost) }))).json();
    toaster.push(<Message type={answer.code === 0 ? "success" : "error"}>{answer.code === 0 ? "Claim saved" : "Claim not saved"}</Message>);
  }
  return (
    <Form onSubmit={submit} style={{ width: 420, margin: 32 }}>
      <Form.Group controlId="claimant"><Form.Label>Claimant</Form.Label><Input id="claimant" value={v.claimant} onChange={put("claimant")} /></Form.Group>
      <Form.Group controlId="project"><Form.Label>Project</Form.Label><SelectPicker id="project" block data={data(["Harbour", "Tower", "Bridge"])} value={v.project} onChange={put("project")} /></Form.Group>
      <Form.Group controlId="on"><Form.Label>Date of expense</Form.Label><DatePicker id="on" oneTap format="yyyy-MM-dd" value={v.on} onChange={put("on")} /></Form.Group>
      <Form.Group controlId="cost"><Form.Label>Cost</Form.Label><InputNumber id="cost" step={0.01} value={v.cost} onChange={put("cost")} /></Form.Group>
      <Form.Group controlId="kinds"><Form.Label>Kinds</Form.Label><CheckPicker id="kinds" block searchable={false} data={data(["Meals", "Tickets", "Tools", "Fuel"])} value={v.kinds} onChange={put("kinds")} /></Form.Group>
      <Form.Group><Form.Label>Paid by</Form.Label><RadioTileGroup aria-label="Paid by" inline value={v.pay} onChange={put("pay")}><RadioTile value="cash" label="Cash" /><RadioTile value="card" label="Card" /><RadioTile value="loan" label="Advance" /></RadioTileGroup></Form.Group>
      <Form.Group><Toggle checked={v.billable} onChange={put("billable")}>Billable to the client</Toggle></Form.Group>
      <Button appearance="primary" type="submit">Save claim</Button>
    </Form>
  );
});
