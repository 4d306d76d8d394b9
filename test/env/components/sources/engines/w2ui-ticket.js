import { w2alert, w2form } from "w2ui/w2ui-2.0.es6.js";
import "w2ui/w2ui-2.0.css";

const app = document.getElementById("app");
app.innerHTML = '<div id="form" style="width:620px;height:640px;margin:24px"></div>';
const form = new w2form({
  box: "#form",
  name: "ticket",
  header: "New ticket",
  fields: [
    { field: "caller", type: "text", required: true, html: { label: "Caller" } },
    { field: "area", type: "list", required: true, html: { label: "Area" }, options: { items: [{ id: "hw", text: "Hardware" }, { id: "sw", text: "Software" }, { id: "net", text: "Network" }] } },
    { field: "sites", type: "enum", html: { label: "Sites", attr: 'style="width: 300px"' }, options: { openOnFocus: true, items: [{ id: 1, text: "Bremen" }, { id: 2, text: "Cologne" }, { id: 3, text: "Dresden" }, { id: 4, text: "Erfurt" }] } },
    { field: "since", type: "date", html: { label: "Since" }, options: { format: "yyyy-mm-dd" } },
    { field: "call", type: "time", html: { label: "Call back at" }, options: { format: "h24" } },
    { field: "seats", type: "int", html: { label: "Seats affected" } },
    { field: "flag", type: "color", html: { label: "Flag colour" } },
    { field: "level", type: "radio", html: { label: "Level" }, options: { items: [{ id: "l", text: "Low" }, { id: "m", text: "Middle" }, { id: "h", text: "High" }] } },
    { field: "story", type: "textarea", html: { label: "What happens", attr: 'style="width: 300px; height: 60px"' } },
    { field: "vip", type: "toggle", html: { label: "Important customer" } },
  ],
  actions: {
    async Save() {
      if (this.validate().length > 0) return;
      const { area, sites, level, vip, ...rest } = this.getCleanRecord();
      const ticket = { ...rest, area: area?.id ?? area, sites: (sites ?? []).map((site) => site.id ?? site), level: level?.id ?? level, vip: Boolean(vip) };
      const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ticket }) });
      const { number } = await answer.json();
      w2alert(number ? `Ticket ${number} was opened` : "The ticket was not opened");
    },
  },
});
