import { Banner, Button, Form } from "@douyinfe/semi-ui-19";
import "@douyinfe/semi-ui-19/dist/css/semi.min.css";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const two = (n) => String(n).padStart(2, "0");
const day = (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

start(function Candidate() {
  const [state, setState] = useState("");
  async function send(values) {
    const { name, post, start, salary, skills, contract, talk, note, remote, degrees } = values;
    const body = { candidate: { name, note: note ?? null }, post, terms: { start: start ? day(start) : null, salary, contract, remote: remote === true }, skills: skills ?? [], degrees: degrees ?? [], rating: talk ?? 0 };
    const answer = await (await fetch(SEND, json("POST", body))).json();
    setState(answer.code === 0 ? "done" : "failed");
  }
  return (
    <div style={{ width: 460, margin: 32 }}>
      {state && <Banner type={state === "done" ? "success" : "danger"} description={state === "done" ? "The candidate is on file" : "The candidate could not be saved"} />}
      <Form onSubmit={send} initValues={{ salary: 3000, remote: false }}>
        <Form.Input field="name" label="Candidate" rules={[{ required: true, message: "Who is it?" }]} />
        <Form.Select field="post" label="Position" placeholder="Choose a position" style={{ width: 260 }}>
          <Form.Select.Option value="dev">Developer</Form.Select.Option>
          <Form.Select.Option value="acc">Accountant</Form.Select.Option>
          <Form.Select.Option value="drv">Driver</Form.Select.Option>
        </Form.Select>
        <Form.Select field="degrees" label="Degrees" multiple style={{ width: 380 }} optionList={[["ba", "Bachelor"], ["ma", "Master"], ["phd", "Doctorate"], ["cert", "Certificate"]].map(([value, label]) => ({ value, label }))} />
        <Form.DatePicker field="start" label="First working day" style={{ width: 260 }} />
        <Form.InputNumber field="salary" label="Wanted salary" step={100} min={0} />
        <Form.TagInput field="skills" label="Skills" placeholder="Enter to add" />
        <Form.RadioGroup field="contract" label="Contract"><Form.Radio value="full">Full time</Form.Radio><Form.Radio value="part">Part time</Form.Radio><Form.Radio value="free">Freelance</Form.Radio></Form.RadioGroup>
        <Form.Rating field="talk" label="Impression" />
        <Form.TextArea field="note" label="Remarks" autosize />
        <Form.Switch field="remote" label="Works remotely" />
        <Button htmlType="submit" theme="solid">Save candidate</Button>
      </Form>
    </div>
  );
});
