import { DatePicker } from "@ark-ui/solid/date-picker";
import { Field } from "@ark-ui/solid/field";
import { NumberInput } from "@ark-ui/solid/number-input";
import { RatingGroup } from "@ark-ui/solid/rating-group";
import { SegmentGroup } from "@ark-ui/solid/segment-group";
import { createListCollection, Select } from "@ark-ui/solid/select";
import { Switch } from "@ark-ui/solid/switch";
import { createSignal, For, Index, Show } from "solid-js";
import { createStore } from "solid-js/store";
import { Portal, render } from "solid-js/web";

const BOX = { background: "white", border: "1px solid #999", "border-radius": "4px", padding: "4px" };
const ROOMS = createListCollection({ items: [{ label: "Studio A", value: "a" }, { label: "Studio B", value: "b" }, { label: "Rehearsal room", value: "r" }, { label: "Podcast booth", value: "p" }] });
const GEAR = createListCollection({ items: [{ label: "Drum kit", value: "drums" }, { label: "Grand piano", value: "piano" }, { label: "Microphones", value: "mics" }, { label: "Guitar amp", value: "amp" }] });

/** Draws a list to choose from, as the documentation of Ark UI has it. */
function List(props) {
  return (
    <Select.Root collection={props.collection} multiple={props.multiple} onValueChange={(e) => props.change(e.value)}>
      <Select.Label>{props.label}</Select.Label>
      <Select.Control>
        <Select.Trigger style={{ width: "240px", "text-align": "left" }}><Select.ValueText placeholder={props.placeholder} /></Select.Trigger>
        <Select.ClearTrigger>Clear</Select.ClearTrigger>
      </Select.Control>
      <Portal>
        <Select.Positioner>
          <Select.Content style={BOX}>
            <For each={props.collection.items}>{(item) => <Select.Item item={item}><Select.ItemText>{item.label}</Select.ItemText><Select.ItemIndicator>✓</Select.ItemIndicator></Select.Item>}</For>
          </Select.Content>
        </Select.Positioner>
      </Portal>
      <Select.HiddenSelect />
    </Select.Root>
  );
}

function Day(props) {
  return (
    <DatePicker.Root onValueChange={(e) => props.change(e.value[0]?.toString() ?? null)}>
      <DatePicker.Label>{props.label}</DatePicker.Label>
      <DatePicker.Control><DatePicker.Input /><DatePicker.Trigger>📅</DatePicker.Trigger></DatePicker.Control>
      <Portal>
        <DatePicker.Positioner>
          <DatePicker.Content style={BOX}>
            <DatePicker.View view="day">
              <DatePicker.Context>
                {(context) => (
                  <>
                    <DatePicker.ViewControl><DatePicker.PrevTrigger>‹</DatePicker.PrevTrigger><DatePicker.ViewTrigger><DatePicker.RangeText /></DatePicker.ViewTrigger><DatePicker.NextTrigger>›</DatePicker.NextTrigger></DatePicker.ViewControl>
                    <DatePicker.Table>
                      <DatePicker.TableHead><DatePicker.TableRow><Index each={context().weekDays}>{(day) => <DatePicker.TableHeader>{day().short}</DatePicker.TableHeader>}</Index></DatePicker.TableRow></DatePicker.TableHead>
                      <DatePicker.TableBody><Index each={context().weeks}>{(week) => <DatePicker.TableRow><Index each={week()}>{(day) => <DatePicker.TableCell value={day()}><DatePicker.TableCellTrigger>{day().day}</DatePicker.TableCellTrigger></DatePicker.TableCell>}</Index></DatePicker.TableRow>}</Index></DatePicker.TableBody>
                    </DatePicker.Table>
                  </>
                )}
              </DatePicker.Context>
            </DatePicker.View>
          </DatePicker.Content>
        </DatePicker.Positioner>
      </Portal>
    </DatePicker.Root>
  );
}

function Studio() {
  const [v, set] = createStore({ band: "", room: null, date: null, hours: 2, gear: [], slot: "", experience: 0, engineer: false });
  const [errors, setErrors] = createSignal({});
  const [booked, setBooked] = createSignal(false);
  async function book(event) {
    event.preventDefault();
    const found = { ...(v.band ? {} : { band: "Enter a name" }), ...(v.room ? {} : { room: "Choose a room" }) };
    setErrors(found);
    if (Object.keys(found).length > 0) return;
    const answer = await (await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ reservation: v }) })).json();
    setBooked(answer.status === "confirmed");
  }
  return (
    <form onSubmit={book} style={{ width: "460px", margin: "24px", display: "grid", gap: "16px" }}>
      <h1>Book the studio</h1>
      <Show when={booked()}><div role="status">We have reserved the studio for you.</div></Show>
      <Field.Root invalid={!!errors().band}><Field.Label>Name of the band</Field.Label> <Field.Input value={v.band} onInput={(e) => set("band", e.currentTarget.value)} /><Field.ErrorText>{errors().band}</Field.ErrorText></Field.Root>
      <div><List label="Room" placeholder="Select a room" collection={ROOMS} change={(value) => set("room", value[0] ?? null)} /><Show when={errors().room}><small>{errors().room}</small></Show></div>
      <Day label="Day" change={(value) => set("date", value)} />
      <NumberInput.Root value={String(v.hours)} min={1} max={12} onValueChange={(e) => set("hours", e.valueAsNumber)}><NumberInput.Label>Hours</NumberInput.Label><NumberInput.Control><NumberInput.DecrementTrigger>-</NumberInput.DecrementTrigger><NumberInput.Input /><NumberInput.IncrementTrigger>+</NumberInput.IncrementTrigger></NumberInput.Control></NumberInput.Root>
      <List label="Equipment" placeholder="Nothing" collection={GEAR} multiple change={(value) => set("gear", value)} />
      <SegmentGroup.Root value={v.slot} onValueChange={(e) => set("slot", e.value)}><SegmentGroup.Label>Time of day</SegmentGroup.Label><SegmentGroup.Indicator /><For each={["Morning", "Afternoon", "Evening"]}>{(slot) => <SegmentGroup.Item value={slot.toLowerCase()}><SegmentGroup.ItemText>{slot}</SegmentGroup.ItemText><SegmentGroup.ItemControl /><SegmentGroup.ItemHiddenInput /></SegmentGroup.Item>}</For></SegmentGroup.Root>
      <RatingGroup.Root count={5} value={v.experience} onValueChange={(e) => set("experience", e.value)}><RatingGroup.Label>Your experience</RatingGroup.Label><RatingGroup.Control style={{ display: "inline-flex" }}><RatingGroup.Context>{(context) => <For each={context().items}>{(index) => <RatingGroup.Item index={index}><RatingGroup.ItemContext>{(item) => <span>{item().highlighted ? "★" : "☆"}</span>}</RatingGroup.ItemContext></RatingGroup.Item>}</For>}</RatingGroup.Context><RatingGroup.HiddenInput /></RatingGroup.Control></RatingGroup.Root>
      <Switch.Root checked={v.engineer} onCheckedChange={(e) => set("engineer", e.checked)}><Switch.Control style={{ display: "inline-block", width: "40px", height: "20px", background: "#ccc", "border-radius": "10px" }}><Switch.Thumb style={{ display: "block", width: "20px", height: "20px", background: "#333", "border-radius": "10px" }} /></Switch.Control><Switch.Label>We need a sound engineer</Switch.Label><Switch.HiddenInput /></Switch.Root>
      <button type="submit">Book studio</button>
    </form>
  );
}
render(() => <Studio />, document.getElementById("app"));
