import { Combobox } from "@kobalte/core/combobox";
import { FileField } from "@kobalte/core/file-field";
import { NumberField } from "@kobalte/core/number-field";
import { RadioGroup } from "@kobalte/core/radio-group";
import { Select } from "@kobalte/core/select";
import { Switch } from "@kobalte/core/switch";
import { TextField } from "@kobalte/core/text-field";
import { createSignal, For, Show } from "solid-js";
import { createStore } from "solid-js/store";
import { render } from "solid-js/web";
import * as z from "zod";

const schema = z.object({ holder: z.string().min(1, "Please enter your name"), kind: z.object({}, "Please choose a boat") });
const KINDS = [{ value: "sail", label: "Sailing boat" }, { value: "motor", label: "Motor boat" }, { value: "row", label: "Rowing boat" }];
const WATERS = [{ value: 1, label: "Baltic Sea" }, { value: 2, label: "North Sea" }, { value: 3, label: "Mediterranean" }, { value: 4, label: "Inland waters" }];
const BOX = { background: "white", border: "1px solid #999", padding: "6px" };

function BoatInsurance() {
  const [v, set] = createStore({ holder: "", kind: null, waters: [], start: "", worth: 10000, excess: "", racing: false, photo: undefined });
  const [errors, setErrors] = createSignal({});
  const [message, setMessage] = createSignal("");
  async function submit(event) {
    event.preventDefault();
    const result = schema.safeParse(v);
    setErrors(result.success ? {} : z.flattenError(result.error).fieldErrors);
    if (!result.success) return;
    const data = new FormData();
    data.append("holder", v.holder);
    data.append("boat", v.kind.value);
    data.append("waters", JSON.stringify(v.waters.map((water) => water.value)));
    data.append("start", v.start);
    data.append("worth", v.worth);
    data.append("excess", v.excess);
    data.append("racing", v.racing ? "on" : "off");
    if (v.photo) data.append("photo", v.photo);
    const reply = await (await fetch(`${location.pathname}/send`, { method: "POST", body: data })).json();
    setMessage(reply.policy ? `Your policy is ${reply.policy}.` : "We cannot insure this boat.");
  }
  return (
    <form onSubmit={submit} style={{ width: "440px", margin: "24px", display: "flex", "flex-direction": "column", gap: "12px" }}>
      <h1>Boat insurance</h1>
      <Show when={message()}><div role="alert">{message()}</div></Show>
      <TextField value={v.holder} onChange={(x) => set("holder", x)} validationState={errors().holder ? "invalid" : "valid"}><TextField.Label>Policy holder</TextField.Label> <TextField.Input /><TextField.ErrorMessage>{errors().holder?.[0]}</TextField.ErrorMessage></TextField>
      <Select options={KINDS} optionValue="value" optionTextValue="label" value={v.kind} onChange={(x) => set("kind", x)} placeholder="Choose" validationState={errors().kind ? "invalid" : "valid"} itemComponent={(props) => <Select.Item item={props.item}><Select.ItemLabel>{props.item.rawValue.label}</Select.ItemLabel></Select.Item>}>
        <Select.Label>Kind of boat</Select.Label><Select.Trigger><Select.Value>{(state) => state.selectedOption()?.label}</Select.Value></Select.Trigger><Select.ErrorMessage>{errors().kind?.[0]}</Select.ErrorMessage>
        <Select.Portal><Select.Content style={BOX}><Select.Listbox /></Select.Content></Select.Portal>
      </Select>
      <Combobox multiple options={WATERS} optionValue="value" optionTextValue="label" optionLabel="label" value={v.waters} onChange={(x) => set("waters", x)} placeholder="Search waters" itemComponent={(props) => <Combobox.Item item={props.item}><Combobox.ItemLabel>{props.item.rawValue.label}</Combobox.ItemLabel><Combobox.ItemIndicator>✓</Combobox.ItemIndicator></Combobox.Item>}>
        <Combobox.Label>Waters</Combobox.Label>
        <Combobox.Control>{(state) => <><For each={state.selectedOptions()}>{(option) => <span onPointerDown={(e) => e.stopPropagation()}>{option.label}<button type="button" aria-label={`Remove ${option.label}`} onClick={() => state.remove(option)}>×</button></span>}</For><Combobox.Input /><Combobox.Trigger><Combobox.Icon>▾</Combobox.Icon></Combobox.Trigger></>}</Combobox.Control>
        <Combobox.Portal><Combobox.Content style={BOX}><Combobox.Listbox /></Combobox.Content></Combobox.Portal>
      </Combobox>
      <TextField value={v.start} onChange={(x) => set("start", x)}><TextField.Label>Insured from</TextField.Label> <TextField.Input type="date" /></TextField>
      <NumberField rawValue={v.worth} onRawValueChange={(x) => set("worth", x)} minValue={0} step={500} formatOptions={{ style: "currency", currency: "EUR", maximumFractionDigits: 0 }}><NumberField.Label>Value of the boat</NumberField.Label> <NumberField.Input /><NumberField.IncrementTrigger>+</NumberField.IncrementTrigger><NumberField.DecrementTrigger>−</NumberField.DecrementTrigger></NumberField>
      <RadioGroup value={v.excess} onChange={(x) => set("excess", x)}><RadioGroup.Label>Excess</RadioGroup.Label><For each={[["0", "None"], ["250", "250 Euro"], ["1000", "1000 Euro"]]}>{([value, label]) => <RadioGroup.Item value={value} style={{ display: "flex", gap: "6px" }}><RadioGroup.ItemInput /><RadioGroup.ItemControl style={{ width: "16px", height: "16px", "border-radius": "50%", border: "1px solid" }}><RadioGroup.ItemIndicator>•</RadioGroup.ItemIndicator></RadioGroup.ItemControl><RadioGroup.ItemLabel>{label}</RadioGroup.ItemLabel></RadioGroup.Item>}</For></RadioGroup>
      <FileField accept="image/*" onFileAccept={([file]) => set("photo", file)}><FileField.Label>Photo of the boat</FileField.Label><FileField.Dropzone style={{ border: "1px dashed", padding: "10px" }}>Drop a photo here or <FileField.Trigger>choose one</FileField.Trigger></FileField.Dropzone><FileField.HiddenInput /><FileField.ItemList>{() => <FileField.Item><FileField.ItemName /><FileField.ItemDeleteTrigger>Delete</FileField.ItemDeleteTrigger></FileField.Item>}</FileField.ItemList></FileField>
      <Switch checked={v.racing} onChange={(x) => set("racing", x)} style={{ display: "flex", gap: "8px" }}><Switch.Label>Takes part in races</Switch.Label><Switch.Input /><Switch.Control style={{ width: "36px", height: "18px", background: v.racing ? "#070" : "#ccc" }}><Switch.Thumb style={{ width: "18px", height: "18px", background: "#fff", border: "1px solid" }} /></Switch.Control></Switch>
      <button type="submit">Insure my boat</button>
    </form>
  );
}
render(() => <BoatInsurance />, document.getElementById("app"));
