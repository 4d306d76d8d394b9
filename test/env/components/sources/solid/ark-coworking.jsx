import { Checkbox } from "@ark-ui/solid/checkbox";
import { Combobox, useListCollection } from "@ark-ui/solid/combobox";
import { DatePicker } from "@ark-ui/solid/date-picker";
import { Dialog } from "@ark-ui/solid/dialog";
import { FileUpload } from "@ark-ui/solid/file-upload";
import { NumberInput } from "@ark-ui/solid/number-input";
import { RadioGroup } from "@ark-ui/solid/radio-group";
import { Slider } from "@ark-ui/solid/slider";
import { ToggleGroup } from "@ark-ui/solid/toggle-group";
import { createSignal, For, Index, Show } from "solid-js";
import { createStore } from "solid-js/store";
import { Portal, render } from "solid-js/web";

const BOX = { background: "#fff", border: "1px solid #888", padding: "8px" };
const CARD = { display: "block", padding: "12px", border: "1px solid #888", "border-radius": "6px", cursor: "pointer" };
const PLANS = [["hot", "Hot desk"], ["fix", "Fixed desk"], ["room", "Private office"]];
const ADDONS = [["park", "Parking space"], ["lock", "Locker"], ["post", "Postal address"]];

function Coworking() {
  const [v, set] = createStore({ company: "", branch: "", start: "", end: "", desks: 1, budget: 300, plan: "", addons: [], days: [], licence: undefined });
  const [asking, ask] = createSignal(false);
  const [note, setNote] = createSignal("");
  const { collection, set: show } = useListCollection({ initialItems: [], itemToString: (item) => item, itemToValue: (item) => item });
  async function look(text) {
    if (text.length < 2) return;
    show(await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(text)}`)).json());
  }
  function review(event) {
    event.preventDefault();
    if (v.company && v.branch) ask(true);
    else setNote("Company and branch are missing");
  }
  async function send() {
    ask(false);
    const body = new FormData();
    for (const key of ["company", "branch", "desks", "budget", "plan"]) body.append(`lease[${key}]`, v[key]);
    body.append("lease[period]", JSON.stringify({ start: v.start, end: v.end }));
    for (const key of ["addons", "days"]) for (const item of v[key]) body.append(`lease[${key}][]`, item);
    if (v.licence) body.append("licence", v.licence);
    const answer = await (await fetch(`${location.pathname}/send`, { method: "POST", body })).json();
    setNote(answer.ok ? "Your request was received" : "Your request was not received");
  }
  return (
    <form onSubmit={review} style={{ width: "480px", margin: "32px", display: "grid", gap: "16px" }}>
      <h2>Rent a desk</h2>
      <Show when={note()}><p role="status">{note()}</p></Show>
      <label>Company <input value={v.company} onInput={(e) => set("company", e.currentTarget.value)} /></label>
      <Combobox.Root collection={collection()} onInputValueChange={(e) => look(e.inputValue)} onValueChange={(e) => set("branch", e.value[0] ?? "")}><Combobox.Label>Branch</Combobox.Label><Combobox.Control><Combobox.Input placeholder="Type a city" /><Combobox.ClearTrigger>×</Combobox.ClearTrigger></Combobox.Control><Portal><Combobox.Positioner><Combobox.Content style={BOX}><For each={collection().items}>{(item) => <Combobox.Item item={item}><Combobox.ItemText>{item}</Combobox.ItemText></Combobox.Item>}</For></Combobox.Content></Combobox.Positioner></Portal></Combobox.Root>
      <DatePicker.Root selectionMode="range" onValueChange={({ value }) => { set("start", value[0]?.toString() ?? ""); set("end", value[1]?.toString() ?? ""); }}><DatePicker.Label>Rental period</DatePicker.Label><DatePicker.Control style={{ display: "flex", gap: "6px" }}><DatePicker.Input index={0} /><DatePicker.Input index={1} /><DatePicker.Trigger>calendar</DatePicker.Trigger></DatePicker.Control><Portal><DatePicker.Positioner><DatePicker.Content style={BOX}><DatePicker.View view="day"><DatePicker.Context>{(api) => <><DatePicker.ViewControl><DatePicker.PrevTrigger>Prev</DatePicker.PrevTrigger><DatePicker.ViewTrigger><DatePicker.RangeText /></DatePicker.ViewTrigger><DatePicker.NextTrigger>Next</DatePicker.NextTrigger></DatePicker.ViewControl><DatePicker.Table><DatePicker.TableHead><DatePicker.TableRow><Index each={api().weekDays}>{(day) => <DatePicker.TableHeader>{day().short}</DatePicker.TableHeader>}</Index></DatePicker.TableRow></DatePicker.TableHead><DatePicker.TableBody><Index each={api().weeks}>{(week) => <DatePicker.TableRow><Index each={week()}>{(day) => <DatePicker.TableCell value={day()}><DatePicker.TableCellTrigger>{day().day}</DatePicker.TableCellTrigger></DatePicker.TableCell>}</Index></DatePicker.TableRow>}</Index></DatePicker.TableBody></DatePicker.Table></>}</DatePicker.Context></DatePicker.View></DatePicker.Content></DatePicker.Positioner></Portal></DatePicker.Root>
      <NumberInput.Root min={1} max={50} value={String(v.desks)} onValueChange={(e) => set("desks", e.valueAsNumber)}><NumberInput.Label>Desks</NumberInput.Label><NumberInput.Control><NumberInput.Input /><NumberInput.IncrementTrigger>+1</NumberInput.IncrementTrigger><NumberInput.DecrementTrigger>-1</NumberInput.DecrementTrigger></NumberInput.Control></NumberInput.Root>
      <Slider.Root min={100} max={2000} step={50} value={[v.budget]} onValueChange={(e) => set("budget", e.value[0])} style={{ width: "320px" }}><Slider.Label>Monthly budget</Slider.Label> <Slider.ValueText /><Slider.Control style={{ position: "relative", height: "20px" }}><Slider.Track style={{ height: "6px", background: "#ccc" }}><Slider.Range style={{ height: "6px", background: "#06c" }} /></Slider.Track><Slider.Thumb index={0} style={{ width: "18px", height: "18px", "border-radius": "9px", background: "#06c" }}><Slider.HiddenInput /></Slider.Thumb></Slider.Control><Slider.MarkerGroup><For each={[500, 1000, 1500]}>{(mark) => <Slider.Marker value={mark}>{mark}</Slider.Marker>}</For></Slider.MarkerGroup></Slider.Root>
      <RadioGroup.Root onValueChange={(e) => set("plan", e.value ?? "")}><RadioGroup.Label>Plan</RadioGroup.Label><div style={{ display: "flex", gap: "8px" }}><For each={PLANS}>{([value, text]) => <RadioGroup.Item value={value} style={CARD}><RadioGroup.ItemControl /><RadioGroup.ItemText><b>{text}</b></RadioGroup.ItemText><RadioGroup.ItemHiddenInput /></RadioGroup.Item>}</For></div></RadioGroup.Root>
      <fieldset><legend>Extras</legend><Checkbox.Group onValueChange={(value) => set("addons", value)}><For each={ADDONS}>{([value, text]) => <Checkbox.Root value={value}><Checkbox.Control style={{ display: "inline-block", width: "16px", height: "16px", border: "1px solid" }}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Control><Checkbox.Label>{text}</Checkbox.Label><Checkbox.HiddenInput /></Checkbox.Root>}</For></Checkbox.Group></fieldset>
      <div><div id="days">Weekdays</div><ToggleGroup.Root multiple aria-labelledby="days" onValueChange={(e) => set("days", e.value)}><For each={["Mon", "Tue", "Wed", "Thu", "Fri"]}>{(day) => <ToggleGroup.Item value={day.toLowerCase()}>{day}</ToggleGroup.Item>}</For></ToggleGroup.Root></div>
      <FileUpload.Root maxFiles={1} onFileAccept={(e) => set("licence", e.files[0])}><FileUpload.Label>Trade licence</FileUpload.Label><FileUpload.Dropzone style={{ padding: "16px", border: "1px dashed #888" }}>Drag the file here</FileUpload.Dropzone><FileUpload.Trigger>Choose a file</FileUpload.Trigger><FileUpload.ItemGroup><FileUpload.Context>{(api) => <For each={api().acceptedFiles}>{(file) => <FileUpload.Item file={file}><FileUpload.ItemName /><FileUpload.ItemDeleteTrigger>remove</FileUpload.ItemDeleteTrigger></FileUpload.Item>}</For>}</FileUpload.Context></FileUpload.ItemGroup><FileUpload.HiddenInput /></FileUpload.Root>
      <button type="submit">Review</button>
      <Dialog.Root open={asking()} onOpenChange={(e) => ask(e.open)}><Portal><Dialog.Backdrop style={{ position: "fixed", inset: 0, background: "#0008" }} /><Dialog.Positioner style={{ position: "fixed", inset: 0, display: "grid", "place-items": "center" }}><Dialog.Content style={BOX}><Dialog.Title>Is everything right?</Dialog.Title><Dialog.Description>We check your request within two days.</Dialog.Description><button type="button" onClick={send}>Yes, send it</button> <Dialog.CloseTrigger>No, go back</Dialog.CloseTrigger></Dialog.Content></Dialog.Positioner></Portal></Dialog.Root>
    </form>
  );
}
render(() => <Coworking />, document.getElementById("app"));
