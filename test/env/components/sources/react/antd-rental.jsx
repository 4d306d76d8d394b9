import { AutoComplete, Button, Card, Cascader, Checkbox, Col, DatePicker, Form, Input, Result, Row, Switch, Upload } from "antd";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const STATIONS = ["Airport North", "Airport South", "Central station", "Harbour", "Old town"].map((value) => ({ value }));
const CARS = [
  { value: "car", label: "Car", children: [{ value: "car-s", label: "Compact" }, { value: "car-m", label: "Estate" }, { value: "car-l", label: "Limousine" }] },
  { value: "van", label: "Van", children: [{ value: "van-s", label: "Delivery van" }, { value: "van-l", label: "Minibus" }] },
];
const EXTRAS = [{ label: "Child seat", value: "seat" }, { label: "Navigation", value: "navi" }, { label: "Snow chains", value: "chain" }, { label: "Second driver", value: "driver" }];
const files = (event) => (Array.isArray(event) ? event : event?.fileList);

start(function Rental() {
  const [form] = Form.useForm();
  const [done, setDone] = useState("");
  const [sending, setSending] = useState(false);
  const onFinish = async (values) => {
    setSending(true);
    const data = new FormData();
    data.append("driver", values.driver);
    data.append("phone", values.phone ? `+49${values.phone}` : "");
    data.append("station", values.station);
    data.append("vehicle", values.vehicle?.at(-1) ?? "");
    for (const day of values.period) data.append("period", day.format("YYYY-MM-DD"));
    for (const extra of values.extras ?? []) data.append("extras", extra);
    data.append("insurance", values.insurance ? "full" : "basic");
    for (const file of values.licence ?? []) data.append("licence", file.originFileObj);
    const answer = await (await fetch(SEND, { method: "POST", body: data })).json();
    setSending(false);
    if (answer.success) setDone(answer.number);
    else form.setFields([{ name: "driver", errors: [answer.message] }]);
  };
  if (done) return <Result status="success" title="Your vehicle is reserved" subTitle={`Reservation number ${done}`} />;
  return (
    <Card title="Rent a vehicle" style={{ width: 640, margin: 24 }}>
      <Form form={form} layout="vertical" onFinish={onFinish} scrollToFirstError>
        <Row gutter={16}>
          <Col span={12}><Form.Item name="driver" label="Driver" rules={[{ required: true, message: "Please enter the driver" }]}><Input /></Form.Item></Col>
          <Col span={12}><Form.Item name="phone" label="Phone number" rules={[{ pattern: /^\d{6,12}$/, message: "Digits only" }]}><Input prefix="+49" /></Form.Item></Col>
        </Row>
        <Form.Item name="station" label="Pick-up station" rules={[{ required: true, message: "Please choose a station" }]}>
          <AutoComplete options={STATIONS} placeholder="Search a station" showSearch={{ filterOption: (text, option) => option.value.toLowerCase().includes(text.toLowerCase()) }} />
        </Form.Item>
        <Form.Item name="vehicle" label="Vehicle class"><Cascader options={CARS} placeholder="Please select" /></Form.Item>
        <Row gutter={16}>
          <Col span={24}><Form.Item name="period" label="Rental period" rules={[{ required: true, message: "Please choose the days" }]}><DatePicker.RangePicker format="DD/MM/YYYY" style={{ width: "100%" }} /></Form.Item></Col>
        </Row>
        <Form.Item name="extras" label="Extras"><Checkbox.Group options={EXTRAS} /></Form.Item>
        <Form.Item name="insurance" label="Full insurance" valuePropName="checked"><Switch checkedChildren="Yes" unCheckedChildren="No" /></Form.Item>
        <Form.Item name="licence" label="Driving licence" valuePropName="fileList" getValueFromEvent={files}>
          <Upload beforeUpload={() => false} maxCount={1}><Button>Select file</Button></Upload>
        </Form.Item>
        <Form.Item><Button type="primary" htmlType="submit" loading={sending}>Reserve</Button></Form.Item>
      </Form>
    </Card>
  );
});
