import { Button, Checkbox, DatePicker, Form, Input, InputNumber, message, Radio, Select, Switch } from "antd";
import { json, SEND, start } from "./start.jsx";

const PRODUCTS = [
  { value: 1001, label: "Coffee machine Aroma 2" },
  { value: 1002, label: "Kettle Swift" },
  { value: 1003, label: "Toaster Duo" },
  { value: 1004, label: "Blender Max" },
  { value: 1005, label: "Hand mixer Whirl" },
];
const FAULTS = ["Does not start", "Leaks", "Too loud", "Broken part"];

start(function Warranty() {
  const [form] = Form.useForm();
  const [toast, holder] = message.useMessage();
  const onFinish = async (values) => {
    const body = { ...values, bought: values.bought.format("YYYY-MM-DD") };
    const response = await fetch(SEND, json("POST", body));
    const result = await response.json();
    if (result.success) {
      toast.success("Your claim has been sent");
      form.resetFields();
    } else toast.error(result.message);
  };
  return (
    <div style={{ maxWidth: 640, margin: 32 }}>
      {holder}
      <h2>Warranty claim</h2>
      <Form form={form} name="warranty" labelCol={{ span: 8 }} wrapperCol={{ span: 16 }} initialValues={{ packed: false }} onFinish={onFinish}>
        <Form.Item label="Customer" name="customer" rules={[{ required: true, message: "Please enter your name" }]}><Input /></Form.Item>
        <Form.Item label="Product" name="product" rules={[{ required: true, message: "Please select a product" }]}><Select showSearch={{ optionFilterProp: "label" }} placeholder="Select a product" options={PRODUCTS} /></Form.Item>
        <Form.Item label="Date of purchase" name="bought" rules={[{ required: true, message: "Please select the date" }]}><DatePicker style={{ width: "100%" }} /></Form.Item>
        <Form.Item label="Price paid" name="price"><InputNumber min={0} precision={2} suffix="€" style={{ width: "100%" }} /></Form.Item>
        <Form.Item label="What is wrong?" name="faults"><Checkbox.Group options={FAULTS} /></Form.Item>
        <Form.Item label="You would like" name="wish"><Radio.Group><Radio value="repair">Repair</Radio><Radio value="replace">Replacement</Radio><Radio value="refund">Refund</Radio></Radio.Group></Form.Item>
        <Form.Item label="Description" name="description"><Input.TextArea rows={3} showCount maxLength={300} /></Form.Item>
        <Form.Item label="I still have the box" name="packed" valuePropName="checked"><Switch /></Form.Item>
        <Form.Item wrapperCol={{ offset: 8, span: 16 }}><Button type="primary" htmlType="submit">Send claim</Button></Form.Item>
      </Form>
    </div>
  );
});
