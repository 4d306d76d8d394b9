import "react-day-picker/style.css";
import { useCombobox, useSelect } from "downshift";
import { useState } from "react";
import { DayPicker } from "react-day-picker";
import { SEND, start } from "./start.jsx";

const HOSTS = ["Amina Diallo", "Bruno Keller", "Carla Nunes", "Dilan Yildiz"];
const SITES = [{ id: "N", name: "North campus" }, { id: "H", name: "Harbour house" }, { id: "T", name: "Town hall" }];

function Host({ onPick }) {
  const [items, setItems] = useState(HOSTS);
  const box = useCombobox({ items, onInputValueChange: ({ inputValue }) => setItems(HOSTS.filter((h) => h.toLowerCase().includes(inputValue.toLowerCase()))), onSelectedItemChange: ({ selectedItem }) => onPick(selectedItem) });
  return (
    <div><label {...box.getLabelProps()}>Host</label> <input {...box.getInputProps()} />
      <ul {...box.getMenuProps()}>{box.isOpen && items.map((item, index) => <li key={item} {...box.getItemProps({ item, index })}>{item}</li>)}</ul></div>
  );
}
function Place({ onPick }) {
  const box = useSelect({ items: SITES, itemToString: (s) => s?.name ?? "", onSelectedItemChange: ({ selectedItem }) => onPick(selectedItem.id) });
  return (
    <div><label {...box.getLabelProps()}>Place</label><div style={{ border: "1px solid" }} {...box.getToggleButtonProps()}>{box.selectedItem?.name ?? "Where to?"}</div>
      <ul {...box.getMenuProps()}>{box.isOpen && SITES.map((item, index) => <li key={item.id} {...box.getItemProps({ item, index })}>{item.name}</li>)}</ul></div>
  );
}
start(function Visit() {
  const [day, setDay] = useState();
  const [host, setHost] = useState("");
  const [place, setPlace] = useState("");
  const local = day && `${day.getDate()}/${day.getMonth() + 1}/${day.getFullYear()}`;
  return (
    <form action={SEND} method="post" style={{ width: 420, margin: 32 }}>
      <label>Visitor <input name="visitor" required /></label>
      <Host onPick={setHost} /><Place onPick={setPlace} />
      <p id="day">Day of visit</p>
      <div role="group" aria-labelledby="day"><DayPicker mode="single" selected={day} onSelect={setDay} defaultMonth={new Date(2026, 5)} /></div>
      <input type="hidden" name="host" value={host ?? ""} /><input type="hidden" name="site" value={place} /><input type="hidden" name="visit_day" value={local ?? ""} />
      <label><input type="checkbox" name="parking" /> Needs parking</label>
      <p><button>Announce visit</button></p>
    </form>
  );
});
