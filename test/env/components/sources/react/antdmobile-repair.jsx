import { Button, CascadePicker, Checkbox, ConfigProvider, DatePicker, Form, ImageUploader, Input, Picker, Radio, Rate, Selector, Slider, Space, Stepper, Switch, TextArea, Toast } from "antd-mobile";
import enUS from "antd-mobile/es/locales/en-US";
import "antd-mobile/bundle/style.css";
import { json, SEND, start } from "./start.jsx";

const two = (n) => String(n).padStart(2, "0");
const DEVICES = [["Washing machine", "wm"], ["Dishwasher", "dw"], ["Oven", "ov"], ["Fridge", "fr"]].map(([label, value]) => ({ label, value }));

start(function Repair() {
  const [form] = Form.useForm();
  async function send(values) {
    const { customer, device, day, age, slots, parts, pay, mood, trouble, warranty } = values;
    const visit = { customer, device: device?.[0] ?? null, day: day ? `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}` : null, age, slots: slots ?? [], parts: parts ?? [], pay: pay ?? null, mood: mood ?? 0, trouble: trouble ?? "", warranty: warranty === true };
    const answer = await (await fetch(SEND, json("POST", visit))).json();
    Toast.show(answer.success ? "Somebody will call you" : "Please look it over");
  }
  return (
    <ConfigProvider locale={enUS}>
      <div style={{ width: 420, margin: 24 }}>
        <Form form={form} layout="vertical" mode="card" initialValues={{ age: 1 }} onFinish={send} footer={<Button block type="submit" color="primary">Ask for a visit</Button>}>
          <Form.Item name="customer" label="Customer" rules={[{ required: true }]}><Input placeholder="Full name" /></Form.Item>
          <Form.Item name="device" label="Appliance" trigger="onConfirm" onClick={(_, ref) => ref.current?.open()}>
            <Picker columns={[DEVICES]}>{(items) => items[0]?.label ?? "Please select"}</Picker>
          </Form.Item>
          <Form.Item name="day" label="Day of the visit" trigger="onConfirm" onClick={(_, ref) => ref.current?.open()}>
            <DatePicker min={new Date(2025, 0, 1)} max={new Date(2028, 11, 31)}>{(value) => (value ? `${value.getFullYear()}-${two(value.getMonth() + 1)}-${two(value.getDate())}` : "Please select")}</DatePicker>
          </Form.Item>
          <Form.Item name="age" label="Age in years"><Stepper min={0} max={30} /></Form.Item>
          <Form.Item name="slots" label="I am at home"><Selector multiple columns={3} options={[{ label: "Morning", value: "am" }, { label: "Noon", value: "mid" }, { label: "Evening", value: "pm" }]} /></Form.Item>
          <Form.Item name="parts" label="Bring along"><Checkbox.Group><Space direction="vertical"><Checkbox value="hose">Hose</Checkbox><Checkbox value="pump">Pump</Checkbox><Checkbox value="seal">Door seal</Checkbox></Space></Checkbox.Group></Form.Item>
          <Form.Item name="pay" label="Pay by"><Radio.Group><Space><Radio value="cash">Cash</Radio><Radio value="card">Card</Radio><Radio value="bill">Invoice</Radio></Space></Radio.Group></Form.Item>
          <Form.Item name="mood" label="Our last visit"><Rate /></Form.Item>
          <Form.Item name="trouble" label="What is wrong"><TextArea rows={2} /></Form.Item>
          <Form.Item name="warranty" label="Under warranty" layout="horizontal" childElementPosition="right" valuePropName="checked"><Switch /></Form.Item>
        </Form>
      </div>
    </ConfigProvider>
  );
});
