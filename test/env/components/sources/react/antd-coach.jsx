import { AutoComplete, Button, DatePicker, Form, Input, InputNumber, Modal, notification, Radio, Select, Slider, Switch } from "antd";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const EQUIPMENT = [
  { value: "wc", label: "Toilet" },
  { value: "wifi", label: "Wireless internet" },
  { value: "fridge", label: "Refrigerator" },
  { value: "lift", label: "Wheelchair lift" },
];

function Hire({ open, onClose }) {
  const [form] = Form.useForm();
  const [api, holder] = notification.useNotification();
  const [stops, setStops] = useState([]);
  const [sending, setSending] = useState(false);
  const search = async (text) => {
    if (text.length < 2) return setStops([]);
    const found = await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(text)}`)).json();
    setStops(found.map((value) => ({ value })));
  };
  const onFinish = async ({ departure, invoice, ...rest }) => {
    setSending(true);
    const body = { hire: { ...rest, departure: departure.format("YYYY-MM-DDTHH:mm:00"), invoice: invoice ? "company" : "private" } };
    const answer = await fetch(SEND, json("POST", body));
    setSending(false);
    if (!answer.ok) return api.error({ title: "The request was not sent", description: "Please check your entries." });
    api.success({ title: "Thank you", description: "You will get our offer by mail." });
    form.resetFields();
    onClose();
  };
  return (
    <>
      {holder}
      <Modal title="Hire a coach" open={open} onCancel={onClose} onOk={form.submit} okText="Request offer" confirmLoading={sending} width={620}>
        <Form form={form} layout="vertical" name="hire" initialValues={{ seats: 20, budget: 500, equipment: [], invoice: false }} onFinish={onFinish}>
          <Form.Item label="Contact person" name="contact" rules={[{ required: true }]}>
            <Input autoComplete="name" />
          </Form.Item>
          <Form.Item label="Pick-up point" name="pickup" rules={[{ required: true }]}>
            <AutoComplete options={stops} showSearch={{ onSearch: search }} placeholder="Station, school, hotel ..." />
          </Form.Item>
          <Form.Item label="Departure" name="departure" rules={[{ type: "object", required: true, message: "When do you leave?" }]}>
            <DatePicker showTime={{ format: "HH:mm", minuteStep: 15 }} format="DD.MM.YYYY HH:mm" style={{ width: "100%" }} />
          </Form.Item>
          <Form.Item label="Passengers" name="seats">
            <InputNumber min={1} max={85} />
          </Form.Item>
          <Form.Item label="Class" name="class">
            <Radio.Group optionType="button" buttonStyle="solid" options={[{ value: "eco", label: "Economy" }, { value: "comfort", label: "Comfort" }, { value: "first", label: "First class" }]} />
          </Form.Item>
          <Form.Item label="On board" name="equipment">
            <Select mode="multiple" allowClear placeholder="Please select" options={EQUIPMENT} />
          </Form.Item>
          <Form.Item label="Budget" name="budget">
            <Slider min={0} max={2000} step={100} marks={{ 0: "€ 0", 1000: "€ 1000", 2000: "€ 2000" }} />
          </Form.Item>
          <Form.Item label="Invoice to a company" name="invoice" valuePropName="checked">
            <Switch checkedChildren="Yes" unCheckedChildren="No" />
          </Form.Item>
        </Form>
      </Modal>
    </>
  );
}

start(function Page() {
  const [open, setOpen] = useState(false);
  return (
    <main style={{ padding: 40 }}>
      <h1>Coach service</h1>
      <p>Tell us where you want to go, and we will make you an offer.</p>
      <Button type="primary" onClick={() => setOpen(true)}>Start a request</Button>
      <Hire open={open} onClose={() => setOpen(false)} />
    </main>
  );
});
