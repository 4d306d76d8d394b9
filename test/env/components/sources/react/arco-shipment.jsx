import "@arco-design/web-react/es/_util/react-19-adapter";
import { Alert, Button, Cascader, Checkbox, DatePicker, Form, Input, InputNumber, Select, Slider } from "@arco-design/web-react";
import "@arco-design/web-react/dist/css/arco.css";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const PLACES = [
  { value: "no", label: "Norway", children: [{ value: "osl", label: "Oslo" }, { value: "bgo", label: "Bergen" }] },
  { value: "fi", label: "Finland", children: [{ value: "hel", label: "Helsinki" }, { value: "tmp", label: "Tampere" }] },
];

start(function Shipment() {
  const [form] = Form.useForm();
  const [note, setNote] = useState();
  async function send(v) {
    const { window: days = [], ...rest } = v;
    const answer = await fetch(SEND, json("POST", { shipment: { ...rest, window: { from: days[0], to: days[1] } } }));
    setNote(answer.ok ? "ok" : "no");
  }
  return (
    <Form form={form} layout="vertical" style={{ width: 440, margin: 32 }} onSubmit={send}>
      {note && <Alert type={note === "ok" ? "success" : "error"} content={note === "ok" ? "Shipment booked" : "The shipment could not be booked"} />}
      <Form.Item label="Sender" field="sender" rules={[{ required: true }]}><Input /></Form.Item>
      <Form.Item label="Destination" field="to" rules={[{ required: true }]}><Cascader options={PLACES} /></Form.Item>
      <Form.Item label="Delivery window" field="window"><DatePicker.RangePicker style={{ width: "100%" }} /></Form.Item>
      <Form.Item label="Parcels" field="parcels"><InputNumber min={1} max={99} mode="button" defaultValue={1} /></Form.Item>
      <Form.Item label="Services" field="services"><Select mode="multiple" options={[{ value: "ins", label: "Insurance" }, { value: "sat", label: "Saturday delivery" }, { value: "sig", label: "Signature" }]} /></Form.Item>
      <Form.Item label="Temperature" field="temperature" initialValue={10}><Slider min={0} max={30} /></Form.Item>
      <Form.Item field="hazard" triggerPropName="checked" initialValue={false}><Checkbox>Dangerous goods</Checkbox></Form.Item>
      <Button type="primary" htmlType="submit">Book shipment</Button>
    </Form>
  );
});
