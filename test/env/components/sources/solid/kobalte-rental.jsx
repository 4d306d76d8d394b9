import { Checkbox } from "@kobalte/core/checkbox";
import { Combobox } from "@kobalte/core/combobox";
import { NumberField } from "@kobalte/core/number-field";
import { RadioGroup } from "@kobalte/core/radio-group";
import { Select } from "@kobalte/core/select";
import { Slider } from "@kobalte/core/slider";
import { Switch } from "@kobalte/core/switch";
import { TextField } from "@kobalte/core/text-field";
import { ToggleGroup } from "@kobalte/core/toggle-group";
import { createSignal, For, Show } from "solid-js";
import { render } from "solid-js/web";

const BIKES = ["City bike", "Cargo bike", "Mountain bike"];
const SHOPS = ["Station", "Old market", "Lake side"];

function Rental() {
  const [name, setName] = createSignal("");
  const [bike, setBike] = createSignal(null);
  const [shop, setShop] = createSignal(null);
  const [days, setDays] = createSignal(1);
  const [height, setHeight] = createSignal([170]);
  const [extras, setExtras] = createSignal([]);
  const [pay, setPay] = createSignal("");
  const [cover, setCover] = createSignal(false);
  const [terms, setTerms] = createSignal(false);
  const [state, setState] = createSignal("");
  async function send(event) {
    event.preventDefault();
    const body = { name: name(), bike: bike(), shop: shop(), days: days(), height: height()[0], extras: extras(), pay: pay(), cover: cover(), terms: terms() };
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    setState((await answer.json()).result);
  }
  const item = (Part) => (props) => <Part.Item item={props.item}><Part.ItemLabel>{props.item.rawValue}</Part.ItemLabel></Part.Item>;
  return (
    <Show when={state() !== "RESERVED"} fallback={<h2>See you soon</h2>}>
      <form onSubmit={send} style={{ width: "420px", margin: "32px", display: "grid", gap: "14px" }}>
        <Show when={state()}><p role="alert">Nothing reserved</p></Show>
        <TextField value={name()} onChange={setName}><TextField.Label>Rider</TextField.Label><TextField.Input /></TextField>
        <Select options={BIKES} value={bike()} onChange={setBike} placeholder="Select a bike" itemComponent={item(Select)}><Select.Label>Bike</Select.Label><Select.Trigger><Select.Value>{(s) => s.selectedOption()}</Select.Value></Select.Trigger><Select.Portal><Select.Content style={{ background: "#fff", border: "1px solid" }}><Select.Listbox /></Select.Content></Select.Portal></Select>
        <Combobox options={SHOPS} value={shop()} onChange={setShop} itemComponent={item(Combobox)}><Combobox.Label>Shop</Combobox.Label><Combobox.Control><Combobox.Input /><Combobox.Trigger><Combobox.Icon>v</Combobox.Icon></Combobox.Trigger></Combobox.Control><Combobox.Portal><Combobox.Content style={{ background: "#fff", border: "1px solid" }}><Combobox.Listbox /></Combobox.Content></Combobox.Portal></Combobox>
        <NumberField rawValue={days()} onRawValueChange={setDays} minValue={1}><NumberField.Label>Days</NumberField.Label><NumberField.Input /><NumberField.DecrementTrigger>-</NumberField.DecrementTrigger><NumberField.IncrementTrigger>+</NumberField.IncrementTrigger></NumberField>
        <Slider minValue={140} maxValue={200} value={height()} onChange={setHeight} style={{ width: "240px" }}><Slider.Label>Height in cm</Slider.Label> <Slider.ValueLabel /><Slider.Track style={{ position: "relative", height: "8px", background: "#ccc" }}><Slider.Fill style={{ position: "absolute", height: "100%", background: "#06c" }} /><Slider.Thumb style={{ display: "block", width: "16px", height: "16px", background: "#06c" }}><Slider.Input /></Slider.Thumb></Slider.Track></Slider>
        <div><span id="ex">Extras</span><ToggleGroup multiple aria-labelledby="ex" value={extras()} onChange={setExtras}><For each={[["he", "Helmet"], ["lo", "Lock"], ["ba", "Basket"]]}>{([value, text]) => <ToggleGroup.Item value={value}>{text}</ToggleGroup.Item>}</For></ToggleGroup></div>
        <RadioGroup value={pay()} onChange={setPay}><RadioGroup.Label>Payment</RadioGroup.Label><For each={[["c", "Cash"], ["d", "Debit card"], ["i", "Invoice"]]}>{([value, text]) => <RadioGroup.Item value={value}><RadioGroup.ItemInput /><RadioGroup.ItemControl style={{ display: "inline-block", width: "16px", height: "16px", border: "1px solid" }}><RadioGroup.ItemIndicator>x</RadioGroup.ItemIndicator></RadioGroup.ItemControl><RadioGroup.ItemLabel>{text}</RadioGroup.ItemLabel></RadioGroup.Item>}</For></RadioGroup>
        <Switch checked={cover()} onChange={setCover}><Switch.Label>Theft cover</Switch.Label><Switch.Input /><Switch.Control style={{ display: "inline-block", width: "34px", height: "16px", background: "#ccc" }}><Switch.Thumb /></Switch.Control></Switch>
        <Checkbox checked={terms()} onChange={setTerms}><Checkbox.Input /><Checkbox.Control style={{ display: "inline-block", width: "16px", height: "16px", border: "1px solid" }}><Checkbox.Indicator>x</Checkbox.Indicator></Checkbox.Control><Checkbox.Label>Over eighteen</Checkbox.Label></Checkbox>
        <button type="submit">Reserve</button>
      </form>
    </Show>
  );
}
render(() => <Rental />, document.getElementById("app"));
