import { InboxOutlined } from "@ant-design/icons";
import { Alert, Button, Cascader, DatePicker, Form, Input, Rate, Select, Upload } from "antd";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const COST = [
  { value: "travel", label: "Travel", children: [{ value: "rail", label: "Train" }, { value: "air", label: "Flight" }] },
  { value: "office", label: "Office", children: [{ value: "paper", label: "Paper" }, { value: "it", label: "Computers" }] },
];

start(function Expense() {
  const [done, setDone] = useState(null);
  async function finish(v) {
    const data = new FormData();
    data.append("purpose", v.purpose);
    data.append("category", v.category.join("/"));
    data.append("spent_on", v.day.format("DD.MM.YYYY"));
    for (const tag of v.tags ?? []) data.append("tags[]", tag);
    data.append("urgency", v.urgency ?? "");
    for (const file of v.receipt ?? []) data.append("receipt", file.originFileObj);
    setDone((await fetch(SEND, { method: "POST", body: data })).ok);
  }
  return (
    <Form layout="vertical" style={{ width: 460, margin: 32 }} onFinish={finish}>
      {done !== null && <Alert type={done ? "success" : "error"} title={done ? "Expense filed" : "Not filed"} />}
      <Form.Item name="purpose" label="Purpose" rules={[{ required: true }]}><Input.TextArea rows={2} /></Form.Item>
      <Form.Item name="category" label="Category" rules={[{ required: true }]}><Cascader options={COST} /></Form.Item>
      <Form.Item name="day" label="Spent on" rules={[{ required: true }]}><DatePicker format="DD.MM.YYYY" /></Form.Item>
      <Form.Item name="tags" label="Tags"><Select mode="tags" open={false} suffixIcon={null} /></Form.Item>
      <Form.Item name="urgency" label="Urgency"><Rate /></Form.Item>
      <Form.Item name="receipt" label="Receipt" valuePropName="fileList" getValueFromEvent={(e) => e.fileList}>
        <Upload.Dragger beforeUpload={() => false} maxCount={1}><InboxOutlined /><p>Click or drag a file</p></Upload.Dragger>
      </Form.Item>
      <Button type="primary" htmlType="submit">File expense</Button>
    </Form>
  );
});
