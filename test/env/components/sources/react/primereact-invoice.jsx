import "primereact/resources/themes/lara-light-blue/theme.css";
import { Button } from "primereact/button";
import { Calendar } from "primereact/calendar";
import { Chips } from "primereact/chips";
import { Dropdown } from "primereact/dropdown";
import { InputNumber } from "primereact/inputnumber";
import { InputText } from "primereact/inputtext";
import { MultiSelect } from "primereact/multiselect";
import { Toast } from "primereact/toast";
import { useRef, useState } from "react";
import { json, SEND, start } from "./start.jsx";

const TERMS = [{ label: "Within 14 days", value: 14 }, { label: "Within 30 days", value: 30 }, { label: "On receipt", value: 0 }];
const two = (n) => String(n).padStart(2, "0");

start(function Invoice() {
  const toast = useRef(null);
  const [v, set] = useState({ client: "", vat: "", issued: null, amount: null, terms: null, items: [], copies: [] });
  const put = (part) => set((old) => ({ ...old, ...part }));
  async function submit(event) {
    event.preventDefault();
    const issued = v.issued && `${v.issued.getFullYear()}${two(v.issued.getMonth() + 1)}${two(v.issued.getDate())}`;
    const answer = await fetch(SEND, json("POST", { invoice: { ...v, issued, amount: v.amount && Math.round(v.amount * 100) } }));
    toast.current.show(answer.ok ? { severity: "success", summary: "Faktura sparad" } : { severity: "error", summary: "Kunde inte sparas" });
  }
  return (
    <form onSubmit={submit} style={{ display: "grid", gap: 12, width: 420, margin: 32 }}>
      <Toast ref={toast} />
      <label htmlFor="client">Client</label><InputText id="client" value={v.client} onChange={(e) => put({ client: e.target.value })} />
      <label htmlFor="vat">VAT number</label><InputText id="vat" keyfilter={/[a-z0-9-]/} value={v.vat} onChange={(e) => put({ vat: e.target.value })} />
      <label htmlFor="issued">Issued on</label><Calendar inputId="issued" dateFormat="dd.mm.yy" value={v.issued} onChange={(e) => put({ issued: e.value })} />
      <label htmlFor="amount">Amount</label><InputNumber inputId="amount" mode="currency" currency="EUR" locale="en-US" value={v.amount} onValueChange={(e) => put({ amount: e.value })} />
      <label htmlFor="terms">Payment terms</label><Dropdown inputId="terms" options={TERMS} value={v.terms} onChange={(e) => put({ terms: e.value })} placeholder="Select" />
      <label htmlFor="items">Items</label><Chips inputId="items" value={v.items} onChange={(e) => put({ items: e.value })} />
      <label htmlFor="copies">Copies to</label><MultiSelect inputId="copies" options={["Archive", "Accounting", "Sales"]} value={v.copies} onChange={(e) => put({ copies: e.value })} />
      <Button type="submit" label="Save invoice" />
    </form>
  );
});
