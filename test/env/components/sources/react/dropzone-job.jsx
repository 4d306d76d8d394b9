import "rc-slider/assets/index.css";
import Slider from "rc-slider";
import { useState } from "react";
import { useDropzone } from "react-dropzone";
import { json, SEND, start } from "./start.jsx";

start(function Job() {
  const [salary, setSalary] = useState(20);
  const [band, setBand] = useState([0, 40]);
  const [files, setFiles] = useState([]);
  const [gone, setGone] = useState("");
  const { getRootProps, getInputProps } = useDropzone({
    onDrop: async (accepted) => {
      const tokens = [];
      for (const file of accepted) {
        const data = new FormData();
        data.append("file", file);
        tokens.push((await (await fetch(`${location.pathname}/upload`, { method: "POST", body: data })).json()).token);
      }
      setFiles((old) => [...old, ...tokens]);
    },
  });
  async function submit(event) {
    event.preventDefault();
    const form = Object.fromEntries(new FormData(event.target));
    const answer = await fetch(SEND, json("PATCH", { ...form, salary, hours: { from: band[0], to: band[1] }, attachments: files }));
    if (!answer.ok) return setGone("Please give your name.");
    history.replaceState({}, "", "?step=finished");
    setGone("Thanks, we will write to you.");
  }
  return (
    <form onSubmit={submit} style={{ width: 420, margin: 32 }}>
      <h1>Work with us</h1>
      {gone && <p className="info">{gone}</p>}
      <p><label>Full name<br /><input name="name" /></label></p>
      <p><label>Earliest start<br /><input type="date" name="start" /></label></p>
      <p id="sal">Salary in thousands: {salary}</p><Slider ariaLabelledByForHandle="sal" min={20} max={90} step={5} value={salary} onChange={setSalary} />
      <p>Weekly hours: {band[0]} to {band[1]}</p><Slider range ariaLabelForHandle={["Hours at least", "Hours at most"]} min={0} max={40} value={band} onChange={setBand} />
      <div {...getRootProps()} style={{ border: "2px dashed", padding: 20, marginTop: 20 }}><input {...getInputProps()} aria-label="Certificate" />Drop your certificate here, or click<ul>{files.map((f) => <li key={f}>{f}</li>)}</ul></div>
      <button type="submit">Send application</button>
    </form>
  );
});
