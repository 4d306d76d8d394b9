import { Button, Checkbox, Form, Input, InputNumber, Result, Segmented, Slider, TimePicker, Transfer, TreeSelect } from "antd";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const HALLS = [
  { value: "n", title: "North wing", selectable: false, children: [{ value: "n1", title: "Small hall" }, { value: "n2", title: "Glass hall" }] },
  { value: "s", title: "South wing", selectable: false, children: [{ value: "s1", title: "Great hall" }, { value: "s2", title: "Chapel" }] },
];
const GEAR = ["Piano", "Microphones", "Spotlights", "Screen", "Stage stairs"].map((title, i) => ({ key: `g${i + 1}`, title }));

start(function Concert() {
  const [done, setDone] = useState(false);
  const [problem, setProblem] = useState("");
  async function finish(v) {
    const body = { title: v.title, hall: v.hall, seating: v.seating, doors: v.doors?.format("HH:mm:ss"), gear: (v.gear ?? []).map((id) => ({ id })).map((item) => item.id), fee: v.fee ?? null, share: v.share, food: v.food ?? [], remarks: v.remarks ?? "" };
    const answer = await fetch(SEND, json("POST", { concert: body }));
    if (answer.ok) setDone(true);
    else setProblem((await answer.json()).errors ? "Please check the form." : "");
  }
  if (done) return <Result status="success" title="The hall is yours" subTitle="You get a contract by mail." />;
  return (
    <Form layout="horizontal" labelCol={{ span: 7 }} style={{ width: 720, margin: 32 }} initialValues={{ seating: "rows", share: 0 }} onFinish={finish}>
      {problem && <p role="alert">{problem}</p>}
      <Form.Item name="title" label="Concert" rules={[{ required: true, message: "Name the concert" }]}><Input maxLength={60} showCount allowClear /></Form.Item>
      <Form.Item name="hall" label="Hall" rules={[{ required: true }]}><TreeSelect treeData={HALLS} treeDefaultExpandAll={false} placeholder="Choose a hall" allowClear showSearch treeNodeFilterProp="title" /></Form.Item>
      <Form.Item name="seating" label="Seating"><Segmented options={[{ value: "rows", label: "In rows" }, { value: "tables", label: "At tables" }, { value: "none", label: "Standing" }]} /></Form.Item>
      <Form.Item name="doors" label="Doors open"><TimePicker format="HH:mm" minuteStep={5} /></Form.Item>
      <Form.Item name="gear" label="Technics" valuePropName="targetKeys"><Transfer dataSource={GEAR} render={(item) => item.title} titles={["Available", "Ordered"]} /></Form.Item>
      <Form.Item name="fee" label="Fee"><InputNumber style={{ width: "100%" }} prefix="€" min={0} formatter={(value) => `${value}`.replace(/\B(?=(\d{3})+(?!\d))/g, ".")} parser={(value) => value.replace(/\./g, "")} /></Form.Item>
      <Form.Item name="share" label="Share of takings"><Slider marks={{ 0: "0 %", 10: "10 %", 20: "20 %", 30: "30 %", 50: "50 %" }} step={null} max={50} /></Form.Item>
      <Form.Item name="food" label="Catering"><Checkbox.Group options={[{ value: "b", label: "Buffet" }, { value: "d", label: "Drinks" }, { value: "c", label: "Cakes" }]} /></Form.Item>
      <Form.Item name="remarks" label="Remarks"><Input.TextArea autoSize={{ minRows: 2 }} /></Form.Item>
      <Form.Item wrapperCol={{ offset: 7 }}><Button type="primary" htmlType="submit">Request the hall</Button></Form.Item>
    </Form>
  );
});
