import Calendar from "@corvu/calendar";
import { createForm } from "@tanstack/solid-form";
import { createOptions, Select } from "@thisbeyond/solid-select";
import "@thisbeyond/solid-select/style.css";
import { createSignal, For, Index, Show } from "solid-js";
import { render } from "solid-js/web";

const sizes = [{ id: "s", name: "One room" }, { id: "m", name: "Three rooms" }, { id: "l", name: "Whole house" }];
const things = [{ id: "pi", name: "Piano" }, { id: "aq", name: "Aquarium" }, { id: "sa", name: "Safe" }, { id: "pl", name: "Palm tree" }];
const { format } = new Intl.DateTimeFormat("en", { month: "long" });
const iso = (day) => `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;

function Day(props) {
  const [open, setOpen] = createSignal(false);
  return (
    <div style={{ position: "relative" }}>
      <button type="button" id="day" aria-haspopup="dialog" aria-expanded={open()} onClick={() => setOpen(!open())}>{props.value ? props.value.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" }) : "Pick a date"}</button>
      <Show when={open()}>
        <div role="dialog" style={{ position: "absolute", background: "#fff", border: "1px solid #999", "z-index": 5, padding: "8px" }}>
          <Calendar mode="single" initialValue={props.value} onValueChange={(day) => { props.onChange(day); setOpen(false); }}>
            {(api) => <>
              <div style={{ display: "flex", gap: "8px" }}><Calendar.Nav action="prev-month" aria-label="Go to previous month">‹</Calendar.Nav><Calendar.Label>{format(api.month)} {api.month.getFullYear()}</Calendar.Label><Calendar.Nav action="next-month" aria-label="Go to next month">›</Calendar.Nav></div>
              <Calendar.Table><thead><tr><Index each={api.weekdays}>{(day) => <Calendar.HeadCell>{day().toLocaleDateString("en", { weekday: "short" })}</Calendar.HeadCell>}</Index></tr></thead>
                <tbody><Index each={api.weeks}>{(week) => <tr><Index each={week()}>{(day) => <Calendar.Cell><Calendar.CellTrigger day={day()}>{day().getDate()}</Calendar.CellTrigger></Calendar.Cell>}</Index></tr>}</Index></tbody></Calendar.Table>
            </>}
          </Calendar>
        </div>
      </Show>
    </div>
  );
}

function Move() {
  const [note, setNote] = createSignal("");
  const form = createForm(() => ({
    defaultValues: { name: "", size: null, special: [], day: null, boxes: 10, floor: "", lift: false, remark: "", street: "" },
    onSubmit: async ({ value }) => {
      const body = { customer: value.name, move: { size: value.size?.id ?? "", day: value.day && iso(value.day), boxes: value.boxes, floor: value.floor, lift: value.lift }, special: value.special.map(({ id }) => id), remark: value.remark };
      const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
      const { errors } = await answer.json();
      setNote(errors ? "We could not take your move" : "The van is reserved");
    },
  }));
  const row = { display: "grid", gap: "4px" };
  return (
    <form onSubmit={(event) => { event.preventDefault(); form.handleSubmit(); }} style={{ width: "420px", margin: "32px", display: "grid", gap: "14px" }}>
      <Show when={note()}><p class="toast">{note()}</p></Show>
      <form.Field name="name" validators={{ onSubmit: ({ value }) => (value ? undefined : "Who is moving?") }}>{(field) => <div style={row}><label for="name">Customer</label><input id="name" value={field().state.value} onInput={(e) => field().handleChange(e.target.value)} onBlur={field().handleBlur} /><em>{field().state.meta.errors[0]}</em></div>}</form.Field>
      <form.Field name="size">{(field) => <div style={row}><span>Household</span><Select {...createOptions(sizes, { key: "name" })} placeholder="" onChange={field().handleChange} /></div>}</form.Field>
      <form.Field name="special">{(field) => <div style={row}><span>Special items</span><Select multiple {...createOptions(things, { key: "name", disable: (value) => field().state.value.includes(value) })} placeholder="" onChange={field().handleChange} /></div>}</form.Field>
      <form.Field name="day">{(field) => <div style={row}><label for="day">Moving day</label><Day value={field().state.value} onChange={field().handleChange} /></div>}</form.Field>
      <form.Field name="boxes">{(field) => <div><span>Boxes</span> <button type="button" aria-label="Fewer" onClick={() => field().handleChange(Math.max(0, field().state.value - 5))}>−</button> <output>{field().state.value}</output> <button type="button" aria-label="More" onClick={() => field().handleChange(field().state.value + 5)}>+</button></div>}</form.Field>
      <form.Field name="floor">{(field) => <div role="group" aria-labelledby="fl"><span id="fl">Floor</span> <For each={["Ground", "First", "Higher"]}>{(name) => <button type="button" aria-pressed={field().state.value === name} style={{ background: field().state.value === name ? "#8cf" : "#eee" }} onClick={() => field().handleChange(name)}>{name}</button>}</For></div>}</form.Field>
      <form.Field name="remark">{(field) => <div style={row}><label for="remark">Remark</label><textarea id="remark" value={field().state.value} onInput={(e) => field().handleChange(e.target.value)} /></div>}</form.Field>
      <form.Field name="lift">{(field) => <label><input type="checkbox" checked={field().state.value} onChange={(e) => field().handleChange(e.target.checked)} /> There is a lift</label>}</form.Field>
      <button type="submit">Reserve van</button>
    </form>
  );
}
render(() => <Move />, document.getElementById("app"));
