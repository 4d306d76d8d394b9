import "@angular/compiler";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormsModule } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import Aura from "@primeuix/themes/aura";
import { ConfirmationService } from "primeng/api";
import { AutoComplete } from "primeng/autocomplete";
import { Button } from "primeng/button";
import { providePrimeNG } from "primeng/config";
import { ConfirmDialog } from "primeng/confirmdialog";
import { DatePicker } from "primeng/datepicker";
import { FloatLabel } from "primeng/floatlabel";
import { InputNumber } from "primeng/inputnumber";
import { InputText } from "primeng/inputtext";
import { Listbox } from "primeng/listbox";
import { RadioButton } from "primeng/radiobutton";
import { Rating } from "primeng/rating";
import { TabsModule } from "primeng/tabs";
import { Textarea } from "primeng/textarea";
import { ToggleButton } from "primeng/togglebutton";
import { TreeSelect } from "primeng/treeselect";

const two = (n: number) => String(n).padStart(2, "0");

@Component({
  selector: "app-repair",
  imports: [AutoComplete, Button, ConfirmDialog, DatePicker, FloatLabel, FormsModule, InputNumber, InputText, Listbox, RadioButton, Rating, TabsModule, Textarea, ToggleButton, TreeSelect],
  template: `
    <p-confirmdialog />
    <form (ngSubmit)="ask()" style="width:520px;margin:32px">
      @if (note) { <p role="alert">{{ note }}</p> }
      <p-tabs value="0"><p-tablist><p-tab value="0">Machine</p-tab><p-tab value="1">Work</p-tab></p-tablist><p-tabpanels>
        <p-tabpanel value="0"><div style="display:grid;gap:22px">
          <p-floatlabel variant="on"><input pInputText id="reporter" name="reporter" [(ngModel)]="v.reporter" /><label for="reporter">Reported by</label></p-floatlabel>
          <div style="display:grid"><label for="part">Machine part</label><p-treeselect inputId="part" name="part" [(ngModel)]="v.part" [options]="parts" selectionMode="single" placeholder="Select a part" /></div>
          <div style="display:grid"><label for="signs">Signs</label><p-autocomplete inputId="signs" name="signs" [multiple]="true" [typeahead]="false" (keydown.enter)="$event.preventDefault()" [(ngModel)]="v.signs" /></div>
          <div><span>How urgent?</span><div style="display:flex;gap:12px">@for (u of urgencies; track u.id) { <div><p-radiobutton name="urgency" [inputId]="u.id" [value]="u.id" [(ngModel)]="v.urgency" /> <label [for]="u.id">{{ u.name }}</label></div> }</div></div>
          <div><span id="dirt">Wear</span><p-rating name="wear" [(ngModel)]="v.wear" /></div>
        </div></p-tabpanel>
        <p-tabpanel value="1"><div style="display:grid;gap:22px">
          <div style="display:grid"><label for="due">Ready by</label><p-datepicker inputId="due" name="due" [(ngModel)]="v.due" [showTime]="true" hourFormat="24" dateFormat="yy-mm-dd" /></div>
          <div style="display:grid"><label for="hours">Planned hours</label><p-inputnumber inputId="hours" name="hours" [(ngModel)]="v.hours" [showButtons]="true" buttonLayout="horizontal" [min]="0" [max]="80" [step]="0.5" suffix=" h" /></div>
          <div><span id="crew">Crew</span><p-listbox ariaLabelledBy="crew" name="crew" [(ngModel)]="v.crew" [options]="crew" optionLabel="name" optionValue="id" [multiple]="true" [checkbox]="true" /></div>
          <div style="display:grid"><label for="notes">Notes</label><textarea pTextarea id="notes" name="notes" rows="2" [(ngModel)]="v.notes"></textarea></div>
          <p-togglebutton name="spare" [(ngModel)]="v.spare" onLabel="Spare parts in stock" offLabel="Spare parts in stock" />
        </div></p-tabpanel>
      </p-tabpanels></p-tabs>
      <p-button type="submit" label="Create order" />
    </form>`,
})
class Repair {
  private readonly changes = inject(ChangeDetectorRef);
  private readonly confirm = inject(ConfirmationService);
  parts = [{ key: "D", label: "Drive", selectable: false, children: [{ key: "belt", label: "Belt" }, { key: "motor", label: "Motor" }] }, { key: "P", label: "Press", selectable: false, children: [{ key: "stamp", label: "Stamp" }, { key: "table", label: "Table" }, { key: "valve", label: "Valve" }] }];
  urgencies = [{ id: "now", name: "At once" }, { id: "week", name: "This week" }, { id: "plan", name: "With the next service" }];
  crew = [{ id: 7, name: "Aino" }, { id: 11, name: "Bashir" }, { id: 19, name: "Carla" }, { id: 23, name: "Dmitri" }];
  v: Record<string, unknown> = { reporter: "", part: null, signs: [], urgency: null, wear: null, due: null, hours: null, crew: [], notes: "", spare: false };
  note = "";
  ask() {
    if (this.v.reporter === "" || this.v.part === null) {
      this.note = "Reporter and part are needed";
      return;
    }
    this.confirm.confirm({ header: "Create the order?", message: "The crew gets a message.", acceptLabel: "Create", rejectLabel: "Not yet", accept: () => this.send() });
  }
  async send() {
    const d = this.v.due as Date | null;
    const due = d && `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}`;
    const minutes = this.v.hours === null ? null : Number(this.v.hours) * 60;
    const { hours, part, ...rest } = this.v;
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ order: { ...rest, part: (part as { key: string } | null)?.key ?? null, due, minutes } }) });
    this.note = answer.ok ? "Order created" : "The order is not complete";
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-repair"));
bootstrapApplication(Repair, { providers: [ConfirmationService, providePrimeNG({ theme: { preset: Aura } })] });
