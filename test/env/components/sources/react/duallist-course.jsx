import { useState } from "react";
import datetime from "react-datetime";
import "react-datetime/css/react-datetime.css";
import DualListBox from "react-dual-listbox";
import "react-dual-listbox/lib/react-dual-listbox.css";
import { ReactTags } from "react-tag-autocomplete";
import { json, SEND, start } from "./start.jsx";

const Datetime = datetime.default ?? datetime;
const MODULES = [{ value: "m1", label: "Bookkeeping" }, { value: "m2", label: "Labour law" }, { value: "m3", label: "Marketing" }, { value: "m4", label: "Taxes" }];
const TOPICS = ["Export", "Food", "Retail", "Tourism"].map((label, i) => ({ value: i + 1, label }));

start(function Course() {
  const [title, setTitle] = useState("");
  const [modules, setModules] = useState([]);
  const [topics, setTopics] = useState([]);
  const [begins, setBegins] = useState("");
  const [fee, setFee] = useState("");
  const [open, setOpen] = useState(false);
  const [message, setMessage] = useState("");
  async function send(event) {
    event.preventDefault();
    if (!title.trim()) return setMessage("A title is needed.");
    const body = { course: { title, modules, topics: topics.map((t) => t.value), begins: begins?.format?.("YYYY-MM-DD HH:mm") ?? null, fee, open } };
    const answer = await fetch(SEND, json("PUT", body));
    setMessage(answer.ok ? "Course published." : "Not published.");
  }
  return (
    <form onSubmit={send} style={{ width: 640, margin: 24 }}>
      <p><label htmlFor="title">Course title</label> <input id="title" value={title} onChange={(e) => setTitle(e.target.value)} /></p>
      <p id="modules">Modules</p>
      <DualListBox id="mods" options={MODULES} selected={modules} onChange={setModules} />
      <p>Topics</p>
      <ReactTags labelText="Topics" selected={topics} suggestions={TOPICS} onAdd={(tag) => setTopics([...topics, tag])} onDelete={(i) => setTopics(topics.filter((_, n) => n !== i))} noOptionsText="No such topic" />
      <div><label htmlFor="begins">Begins</label> <Datetime value={begins} onChange={setBegins} dateFormat="YYYY-MM-DD" timeFormat="HH:mm" inputProps={{ id: "begins" }} /></div>
      <p><label htmlFor="fee">Fee</label> <input id="fee" inputMode="decimal" value={fee} onChange={(e) => setFee(e.target.value)} /></p>
      <p><label><input type="checkbox" checked={open} onChange={(e) => setOpen(e.target.checked)} /> Open to guests</label></p>
      <button>Publish course</button>
      <p role="status">{message}</p>
    </form>
  );
});
