import "@carbon/styles/css/styles.css";
import { Button, ComboBox, DatePicker, DatePickerInput, FileUploader, Form, FormGroup, InlineNotification, MultiSelect, RadioTile, SelectItem, Stack, TextInput, TileGroup, TimePicker, TimePickerSelect, Toggle } from "@carbon/react";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const VEHICLES = [
  { id: "V-101", label: "Ford Transit, 3 seats" },
  { id: "V-102", label: "Ford Transit, 9 seats" },
  { id: "V-205", label: "Renault Zoe" },
  { id: "V-310", label: "Box trailer" },
];
const DAMAGE = ["Windscreen", "Bumper", "Tyre", "Mirror", "Paint"].map((label) => ({ id: label.toLowerCase(), label }));

start(function Damage() {
  const [values, setValues] = useState({ driver: "", vehicle: null, date: "", time: "", half: "AM", parts: [], fault: "", files: [], driveable: false });
  const [errors, setErrors] = useState({});
  const [result, setResult] = useState();
  const set = (name, value) => setValues((old) => ({ ...old, [name]: value }));
  const submit = async (event) => {
    event.preventDefault();
    const missing = Object.fromEntries(["driver", "vehicle", "date"].filter((name) => !values[name]).map((name) => [name, true]));
    setErrors(missing);
    if (Object.keys(missing).length > 0) return;
    const body = new FormData();
    body.set("driver", values.driver);
    body.set("vehicle", values.vehicle.id);
    body.set("date", values.date);
    const [hours, minutes] = values.time.split(":");
    body.set("time", values.time && `${String((Number(hours) % 12) + (values.half === "PM" ? 12 : 0)).padStart(2, "0")}:${minutes}`);
    for (const part of values.parts) body.append("parts[]", part.id);
    body.set("fault", values.fault);
    body.set("driveable", values.driveable ? "1" : "0");
    for (const file of values.files) body.append("photo", file);
    const response = await fetch(SEND, { method: "POST", body });
    setResult(response.status === 201 ? "success" : "error");
  };
  return (
    <Form onSubmit={submit} style={{ maxWidth: 560, padding: 32 }}>
      <Stack gap={6}>
        <h3>Report a damage</h3>
        {result && <InlineNotification kind={result} title={result === "success" ? "Damage reported" : "Damage not reported"} subtitle={result === "success" ? "The fleet desk will call you." : "Please complete the form."} onClose={() => setResult()} />}
        <TextInput id="driver" labelText="Driver" value={values.driver} onChange={(e) => set("driver", e.target.value)} invalid={!!errors.driver} invalidText="Enter the driver" />
        <ComboBox id="vehicle" titleText="Vehicle" items={VEHICLES} itemToString={(item) => item?.label ?? ""} shouldFilterItem={({ item, inputValue }) => !inputValue || item.label.toLowerCase().includes(inputValue.toLowerCase())} selectedItem={values.vehicle} onChange={({ selectedItem }) => set("vehicle", selectedItem)} placeholder="Choose a vehicle" invalid={!!errors.vehicle} invalidText="Choose a vehicle" />
        <DatePicker datePickerType="single" dateFormat="d/m/Y" maxDate={new Date(2030, 0, 1)} onChange={([date]) => set("date", date ? `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}` : "")}><DatePickerInput id="date" labelText="Date of damage" placeholder="dd/mm/yyyy" invalid={!!errors.date} invalidText="Enter the date" /></DatePicker>
        <TimePicker id="time" labelText="Time of damage" value={values.time} onChange={(e) => set("time", e.target.value)}><TimePickerSelect id="half" labelText="AM or PM" value={values.half} onChange={(e) => set("half", e.target.value)}><SelectItem value="AM" text="AM" /><SelectItem value="PM" text="PM" /></TimePickerSelect></TimePicker>
        <MultiSelect id="parts" titleText="Damaged parts" label="Choose options" items={DAMAGE} itemToString={(item) => item?.label ?? ""} selectedItems={values.parts} onChange={({ selectedItems }) => set("parts", selectedItems)} />
        <TileGroup name="fault" legend="Whose fault was it?" valueSelected={values.fault} onChange={(value) => set("fault", value)}><RadioTile id="f1" value="own">My own fault</RadioTile><RadioTile id="f2" value="other">Other driver</RadioTile><RadioTile id="f3" value="unknown">Unknown</RadioTile></TileGroup>
        <FormGroup legendText=""><FileUploader labelTitle="Photo of the damage" labelDescription="JPG or PNG" buttonLabel="Add file" filenameStatus="edit" accept={[".jpg", ".png"]} onChange={(e) => set("files", [...e.target.files])} onDelete={() => set("files", [])} /></FormGroup>
        <Toggle id="driveable" labelText="Can the vehicle be driven?" labelA="No" labelB="Yes" toggled={values.driveable} onToggle={(on) => set("driveable", on)} />
        <Button type="submit">Send report</Button>
      </Stack>
    </Form>
  );
});
