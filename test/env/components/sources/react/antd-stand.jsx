import { App as AntApp, Button, ConfigProvider, DatePicker, Flex, Form, Input, InputNumber, Result, Segmented, Select, TimePicker, Typography, Upload } from "antd";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const HALLS = [
  { label: "North building", options: [{ value: "N1", label: "Hall 1 - Food" }, { value: "N2", label: "Hall 2 - Drinks" }] },
  { label: "South building", options: [{ value: "S5", label: "Hall 5 - Machines" }, { value: "S6", label: "Hall 6 - Packaging" }] },
];
const TYPES = [{ value: "row", label: "Row" }, { value: "corner", label: "Corner" }, { value: "island", label: "Island" }];
const fileList = (event) => (Array.isArray(event) ? event : event?.fileList);

function Booking({ onDone }) {
  const [form] = Form.useForm();
  const { message } = AntApp.useApp();
  const [busy, setBusy] = useState(false);
  const onFinish = async (values) => {
    setBusy(true);
    const stand = {
      company: values.company,
      hall: values.hall,
      type: values.type,
      area: values.area ?? null,
      setup: values.day.format("YYYY-MM-DD"),
      arrival: values.time?.format("HH:mm") ?? null,
      badges: values.badges ?? [],
      logo: values.logo?.[0]?.response?.token ?? null,
    };
    const response = await fetch(SEND, json("POST", { stand }));
    setBusy(false);
    if (response.ok) onDone((await response.json()).stand);
    else message.error("Your booking could not be saved");
  };
  return (
    <Form form={form} layout="vertical" initialValues={{ type: "row" }} onFinish={onFinish} style={{ maxWidth: 600 }}>
      <Form.Item name="company" label="Company" rules={[{ required: true, whitespace: true, message: "Please enter your company" }]}><Input /></Form.Item>
      <Form.Item name="hall" label="Hall" rules={[{ required: true, message: "Please select a hall" }]}><Select placeholder="Select a hall" options={HALLS} /></Form.Item>
      <Flex gap="large">
        <Form.Item name="type" label="Kind of stand"><Segmented options={TYPES} /></Form.Item>
        <Form.Item name="area" label="Area in m²" rules={[{ required: true, type: "number", min: 6, max: 200, message: "From 6 to 200 m²" }]}><InputNumber step={2} /></Form.Item>
      </Flex>
      <Flex gap="large">
        <Form.Item name="day" label="Day of set-up" rules={[{ required: true, message: "Please select a day" }]}><DatePicker format="D MMM YYYY" /></Form.Item>
        <Form.Item name="time" label="Arrival of the lorry"><TimePicker format="HH:mm" minuteStep={15} /></Form.Item>
      </Flex>
      <Form.Item name="badges" label="Names on the badges" tooltip="Press enter after each name"><Select mode="tags" open={false} suffixIcon={null} tokenSeparators={[","]} placeholder="Type a name" /></Form.Item>
      <Form.Item name="logo" label="Logo" valuePropName="fileList" getValueFromEvent={fileList}>
        <Upload name="file" action={`${location.pathname}/upload`} listType="picture" maxCount={1} accept="image/*"><Button>Upload</Button></Upload>
      </Form.Item>
      <Form.Item><Button type="primary" htmlType="submit" loading={busy}>Book stand</Button></Form.Item>
    </Form>
  );
}

start(function Fair() {
  const [number, setNumber] = useState(null);
  return (
    <ConfigProvider theme={{ token: { colorPrimary: "#00796b", borderRadius: 2 } }}>
      <AntApp style={{ padding: 32 }}>
        <Typography.Title level={2}>Your stand at the fair</Typography.Title>
        {number ? <Result status="success" title="Your stand is booked" subTitle={`Stand ${number}`} extra={<Button onClick={() => setNumber(null)}>Book another one</Button>} /> : <Booking onDone={setNumber} />}
      </AntApp>
    </ConfigProvider>
  );
});
