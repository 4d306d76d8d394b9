import { DatePicker } from "@ark-ui/solid/date-picker";
import { NumberInput } from "@ark-ui/solid/number-input";
import { PinInput } from "@ark-ui/solid/pin-input";
import { RatingGroup } from "@ark-ui/solid/rating-group";
import { SegmentGroup } from "@ark-ui/solid/segment-group";
import { createListCollection, Select } from "@ark-ui/solid/select";
import { Switch } from "@ark-ui/solid/switch";
import { TagsInput } from "@ark-ui/solid/tags-input";
import { createForm, required, setValue } from "@modular-forms/solid";
import { createSignal, For, Index } from "solid-js";
import { Portal, render } from "solid-js/web";

const wards = createListCollection({ items: [{ value: "er", label: "Emergency" }, { value: "ped", label: "Children" }, { value: "car", label: "Cardiology" }] });
const BOX = { background: "#fff", border: "1px solid #888", padding: "4px" };

function Clinic() {
  const [form, { Form, Field }] = createForm({ initialValues: { patient: "", ward: "", visit: "", beds: "1", pain: "0", drugs: [], stay: "", code: "", private: false } });
  const [note, setNote] = createSignal("");
  const set = (name) => (value) => setValue(form, name, value);
  async function send(values) {
    const body = new URLSearchParams({ patient: values.patient, ward: values.ward, visit: values.visit, beds: values.beds, pain: values.pain, stay: values.stay, code: values.code, private: values.private ? "1" : "0" });
    for (const drug of values.drugs) body.append("drugs", drug);
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", body });
    setNote((await answer.json()).state === "booked" ? "Admission booked" : "Admission not booked");
  }
  return (
    <Form onSubmit={send} style={{ width: "440px", margin: "32px", display: "grid", gap: "12px" }}>
      <p role="status">{note()}</p>
      <Field name="patient" validate={[required("The patient's name, please.")]}>{(field, props) => <div><label for="patient">Patient</label> <input {...props} id="patient" value={field.value ?? ""} aria-invalid={!!field.error} /><small>{field.error}</small></div>}</Field>
      <Field name="ward">{() => <Select.Root collection={wards} onValueChange={({ value }) => set("ward")(value[0] ?? "")}><Select.Label>Ward</Select.Label><Select.Control><Select.Trigger><Select.ValueText placeholder="Select a ward" /></Select.Trigger></Select.Control><Portal><Select.Positioner><Select.Content style={BOX}><For each={wards.items}>{(item) => <Select.Item item={item}><Select.ItemText>{item.label}</Select.ItemText></Select.Item>}</For></Select.Content></Select.Positioner></Portal></Select.Root>}</Field>
      <Field name="visit">{() => <DatePicker.Root onValueChange={({ value }) => set("visit")(value[0]?.toString() ?? "")}><DatePicker.Label>Admission day</DatePicker.Label><DatePicker.Control><DatePicker.Input /><DatePicker.Trigger>open</DatePicker.Trigger></DatePicker.Control><Portal><DatePicker.Positioner><DatePicker.Content style={BOX}><DatePicker.View view="day"><DatePicker.Context>{(api) => <><DatePicker.ViewControl><DatePicker.PrevTrigger>&lt;</DatePicker.PrevTrigger><DatePicker.ViewTrigger><DatePicker.RangeText /></DatePicker.ViewTrigger><DatePicker.NextTrigger>&gt;</DatePicker.NextTrigger></DatePicker.ViewControl><DatePicker.Table><DatePicker.TableHead><DatePicker.TableRow><Index each={api().weekDays}>{(day) => <DatePicker.TableHeader>{day().short}</DatePicker.TableHeader>}</Index></DatePicker.TableRow></DatePicker.TableHead><DatePicker.TableBody><Index each={api().weeks}>{(week) => <DatePicker.TableRow><Index each={week()}>{(day) => <DatePicker.TableCell value={day()}><DatePicker.TableCellTrigger>{day().day}</DatePicker.TableCellTrigger></DatePicker.TableCell>}</Index></DatePicker.TableRow>}</Index></DatePicker.TableBody></DatePicker.Table></>}</DatePicker.Context></DatePicker.View></DatePicker.Content></DatePicker.Positioner></Portal></DatePicker.Root>}</Field>
      <Field name="beds">{() => <NumberInput.Root min={1} max={12} defaultValue="1" onValueChange={({ value }) => set("beds")(value)}><NumberInput.Label>Nights</NumberInput.Label><NumberInput.Control><NumberInput.DecrementTrigger>-</NumberInput.DecrementTrigger><NumberInput.Input /><NumberInput.IncrementTrigger>+</NumberInput.IncrementTrigger></NumberInput.Control></NumberInput.Root>}</Field>
      <Field name="pain">{() => <RatingGroup.Root count={5} onValueChange={({ value }) => set("pain")(String(value))}><RatingGroup.Label>Pain</RatingGroup.Label><RatingGroup.Control style={{ display: "flex" }}><RatingGroup.Context>{(api) => <Index each={api().items}>{(index) => <RatingGroup.Item index={index()} style={{ width: "24px" }}><RatingGroup.ItemContext>{(item) => (item().highlighted ? "★" : "☆")}</RatingGroup.ItemContext></RatingGroup.Item>}</Index>}</RatingGroup.Context><RatingGroup.HiddenInput /></RatingGroup.Control></RatingGroup.Root>}</Field>
      <Field name="drugs" type="string[]">{() => <TagsInput.Root onValueChange={({ value }) => set("drugs")(value)}><TagsInput.Context>{(api) => <><TagsInput.Label>Medication</TagsInput.Label><TagsInput.Control><Index each={api().value}>{(value, index) => <TagsInput.Item index={index} value={value()}><TagsInput.ItemPreview><TagsInput.ItemText>{value()}</TagsInput.ItemText><TagsInput.ItemDeleteTrigger>x</TagsInput.ItemDeleteTrigger></TagsInput.ItemPreview><TagsInput.ItemInput /></TagsInput.Item>}</Index><TagsInput.Input placeholder="Add a drug" /></TagsInput.Control></>}</TagsInput.Context><TagsInput.HiddenInput /></TagsInput.Root>}</Field>
      <Field name="stay">{() => <SegmentGroup.Root onValueChange={({ value }) => set("stay")(value)} style={{ position: "relative", display: "flex", gap: "12px" }}><SegmentGroup.Label>Room</SegmentGroup.Label><For each={["Single", "Double", "Shared"]}>{(name) => <SegmentGroup.Item value={name.toLowerCase()}><SegmentGroup.ItemText>{name}</SegmentGroup.ItemText><SegmentGroup.ItemControl /><SegmentGroup.ItemHiddenInput /></SegmentGroup.Item>}</For></SegmentGroup.Root>}</Field>
      <Field name="code">{() => <PinInput.Root type="numeric" onValueChange={({ valueAsString }) => set("code")(valueAsString)}><PinInput.Label>Insurance PIN</PinInput.Label><PinInput.Control><Index each={[0, 1, 2, 3]}>{(id) => <PinInput.Input index={id()} style={{ width: "28px" }} />}</Index></PinInput.Control><PinInput.HiddenInput /></PinInput.Root>}</Field>
      <Field name="private" type="boolean">{() => <Switch.Root onCheckedChange={({ checked }) => set("private")(checked)} style={{ position: "relative" }}><Switch.Control style={{ display: "inline-block", width: "34px", height: "16px", background: "#ccc" }}><Switch.Thumb /></Switch.Control><Switch.Label>Private patient</Switch.Label><Switch.HiddenInput /></Switch.Root>}</Field>
      <button type="submit">Book admission</button>
    </Form>
  );
}
render(() => <Clinic />, document.getElementById("app"));
