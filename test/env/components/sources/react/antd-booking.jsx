import { Button, Checkbox, DatePicker, Form, Input, InputNumber, message, Radio, Select, Switch } from "antd";
import { json, SEND, start } from "./start.jsx";

start(function Booking() {
  const [form] = Form.useForm();
  const [toast, holder] = message.useMessage();
  async function finish(v) {
    const body = { guest: v.guest, room: v.room, stay: { from: v.stay?.[0].format("YYYY-MM-DD"), to: v.stay?.[1].format("YYYY-MM-DD") }, people: v.people, breakfast: !!v.breakfast, bed: v.bed };
    const answer = await fetch(SEND, json("POST", body));
    if (answer.ok) {
      toast.success("预订成功");
      form.resetFields();
    } else toast.error("预订失败");
  }
  return (
    <Form form={form} layout="vertical" style={{ width: 420, margin: 32 }} onFinish={finish}>
      {holder}
      <Form.Item name="guest" label="Guest" rules={[{ required: true }]}><Input /></Form.Item>
      <Form.Item name="room" label="Room" rules={[{ required: true }]}>
        <Select options={[{ value: 11, label: "Single room" }, { value: 12, label: "Double room" }, { value: 21, label: "Suite with balcony" }]} />
      </Form.Item>
      <Form.Item name="stay" label="Stay" rules={[{ required: true }]}><DatePicker.RangePicker /></Form.Item>
      <Form.Item name="people" label="People"><InputNumber min={1} max={9} /></Form.Item>
      <Form.Item name="breakfast" label="Breakfast" valuePropName="checked"><Switch /></Form.Item>
      <Form.Item name="bed" label="Bed">
        <Radio.Group optionType="button" options={["Twin", "Queen", "King"]} />
      </Form.Item>
      <Button type="primary" htmlType="submit">Book now</Button>
    </Form>
  );
});
