import { Combobox } from "@kobalte/core/combobox";
import { NumberField } from "@kobalte/core/number-field";
import { RadioGroup } from "@kobalte/core/radio-group";
import { SegmentedControl } from "@kobalte/core/segmented-control";
import { Select } from "@kobalte/core/select";
import { Switch } from "@kobalte/core/switch";
import { TextField } from "@kobalte/core/text-field";
import { createSignal, For, Match, Show, Switch as Choose } from "solid-js";
import { createStore } from "solid-js/store";
import { render } from "solid-js/web";

const STYLE = `
  form { display: grid; gap: 16px; width: 440px; margin: 32px; font-family: sans-serif }
  .box { display: inline-block; width: 16px; height: 16px; border: 1px solid #555; text-align: center; line-height: 16px }
  .list { background: #fff; border: 1px solid #999; list-style: none; padding: 4px; margin: 0 }
  .list [data-highlighted] { background: #e2f0e4 }
  .track { display: inline-block; width: 36px; height: 18px; border-radius: 9px; background: #bbb }
  .track[data-checked] { background: #2a7a3a }
  .segments [data-checked] { font-weight: bold; text-decoration: underline }
  .error { color: #a00 }`;

const BOUQUETS = [{ id: 11, name: "Roses" }, { id: 12, name: "Tulips" }, { id: 13, name: "Wild flowers" }, { id: 14, name: "Lilies" }];
const EXTRAS = [{ id: "vase", name: "Vase" }, { id: "choc", name: "Chocolates" }, { id: "bear", name: "Teddy bear" }, { id: "wine", name: "Wine" }];
const BRANCHES = ["Broadway", "Harbour", "Station", "University"];

function Florist() {
  const [order, setOrder] = createStore({ name: "", bouquet: null, extras: [], branch: null, stems: 12, size: "standard", day: "", gift: false });
  const [tried, setTried] = createSignal(false);
  const [status, setStatus] = createSignal("open");

  async function submit(event) {
    event.preventDefault();
    setTried(true);
    if (!order.name.trim() || !order.bouquet) return;
    const body = {
      customer: order.name,
      bouquetId: order.bouquet.id,
      extras: order.extras.map((extra) => extra.id),
      branch: order.branch,
      stems: order.stems,
      size: order.size,
      deliveryDate: order.day,
      giftWrap: order.gift,
    };
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    setStatus(answer.ok ? "thanks" : "refused");
  }

  return (
    <Choose>
      <Match when={status() === "thanks"}><h2>Your flowers are on their way</h2></Match>
      <Match when={true}>
        <style>{STYLE}</style>
        <form onSubmit={submit} noValidate>
          <h1>Order flowers</h1>
          <Show when={status() === "refused"}><p class="error" role="alert">The order was not accepted</p></Show>
          <TextField value={order.name} onChange={(name) => setOrder({ name })} validationState={tried() && !order.name.trim() ? "invalid" : "valid"}>
            <TextField.Label>Customer</TextField.Label>
            <TextField.Input />
            <TextField.ErrorMessage class="error">Please enter your name</TextField.ErrorMessage>
          </TextField>
          <Select options={BOUQUETS} optionValue="id" optionTextValue="name" value={order.bouquet} onChange={(bouquet) => setOrder({ bouquet })} placeholder="Choose a bouquet" validationState={tried() && !order.bouquet ? "invalid" : "valid"} itemComponent={(props) => <Select.Item item={props.item}><Select.ItemLabel>{props.item.rawValue.name}</Select.ItemLabel></Select.Item>}>
            <Select.Label>Bouquet</Select.Label>
            <Select.Trigger><Select.Value>{(state) => state.selectedOption().name}</Select.Value><Select.Icon /></Select.Trigger>
            <Select.ErrorMessage class="error">Please choose a bouquet</Select.ErrorMessage>
            <Select.Portal><Select.Content><Select.Listbox class="list" /></Select.Content></Select.Portal>
          </Select>
          <Combobox multiple options={EXTRAS} optionValue="id" optionTextValue="name" optionLabel="name" value={order.extras} onChange={(extras) => setOrder({ extras })} placeholder="Add something" itemComponent={(props) => <Combobox.Item item={props.item}><Combobox.ItemLabel>{props.item.rawValue.name}</Combobox.ItemLabel><Combobox.ItemIndicator>✓</Combobox.ItemIndicator></Combobox.Item>}>
            <Combobox.Label>Extras</Combobox.Label>
            <Combobox.Control>
              {(state) => (
                <>
                  <For each={state.selectedOptions()}>{(extra) => <span>{extra.name} <button type="button" aria-label={`Remove ${extra.name}`} onPointerDown={(e) => e.stopPropagation()} onClick={() => state.remove(extra)}>×</button> </span>}</For>
                  <Combobox.Input />
                  <Combobox.Trigger><Combobox.Icon>▾</Combobox.Icon></Combobox.Trigger>
                </>
              )}
            </Combobox.Control>
            <Combobox.Portal><Combobox.Content><Combobox.Listbox class="list" /></Combobox.Content></Combobox.Portal>
          </Combobox>
          <NumberField rawValue={order.stems} onRawValueChange={(stems) => setOrder({ stems })} minValue={3} maxValue={100}>
            <NumberField.Label>Stems</NumberField.Label>
            <NumberField.DecrementTrigger aria-label="Fewer">−</NumberField.DecrementTrigger>
            <NumberField.Input />
            <NumberField.IncrementTrigger aria-label="More">+</NumberField.IncrementTrigger>
          </NumberField>
          <SegmentedControl class="segments" value={order.size} onChange={(size) => setOrder({ size })}>
            <SegmentedControl.Label>Size</SegmentedControl.Label>
            <For each={[["standard", "Standard"], ["large", "Large"], ["deluxe", "Deluxe"]]}>
              {([value, text]) => <SegmentedControl.Item value={value} style={{ display: "inline-block", padding: "4px 12px" }}><SegmentedControl.ItemInput /><SegmentedControl.ItemLabel>{text}</SegmentedControl.ItemLabel></SegmentedControl.Item>}
            </For>
          </SegmentedControl>
          <TextField value={order.day} onChange={(day) => setOrder({ day })}>
            <TextField.Label>Delivery date</TextField.Label>
            <TextField.Input type="date" />
          </TextField>
          <RadioGroup value={order.branch} onChange={(branch) => setOrder({ branch })}>
            <RadioGroup.Label>Nearest shop</RadioGroup.Label>
            <For each={BRANCHES}>
              {(name) => <RadioGroup.Item value={name.toUpperCase()}><RadioGroup.ItemInput /><RadioGroup.ItemControl class="box"><RadioGroup.ItemIndicator>•</RadioGroup.ItemIndicator></RadioGroup.ItemControl> <RadioGroup.ItemLabel>{name}</RadioGroup.ItemLabel></RadioGroup.Item>}
            </For>
          </RadioGroup>
          <Switch checked={order.gift} onChange={(gift) => setOrder({ gift })}>
            <Switch.Label>Gift wrapping</Switch.Label> <Switch.Input /><Switch.Control class="track"><Switch.Thumb /></Switch.Control>
          </Switch>
          <button type="submit">Order now</button>
        </form>
      </Match>
    </Choose>
  );
}
render(() => <Florist />, document.getElementById("app"));
