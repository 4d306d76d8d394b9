import "@angular/compiler";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormsModule } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import Aura from "@primeuix/themes/aura";
import { AutoComplete } from "primeng/autocomplete";
import { Button } from "primeng/button";
import { Checkbox } from "primeng/checkbox";
import { providePrimeNG } from "primeng/config";
import { DatePicker } from "primeng/datepicker";
import { InputMask } from "primeng/inputmask";
import { InputNumber } from "primeng/inputnumber";
import { InputText } from "primeng/inputtext";
import { MultiSelect } from "primeng/multiselect";
import { Select } from "primeng/select";
import { SelectButton } from "primeng/selectbutton";
import { ToggleSwitch } from "primeng/toggleswitch";

@Component({
  selector: "app-tenant",
  imports: [AutoComplete, Button, Checkbox, DatePicker, FormsModule, InputMask, InputNumber, InputText, MultiSelect, Select, SelectButton, ToggleSwitch],
  template: `
    <form (ngSubmit)="send()" style="width:440px;margin:32px;display:grid;gap:10px">
      @if (note) { <div class="message">{{ note }}</div> }
      <label for="tenant">Tenant</label><input pInputText id="tenant" name="tenant" [(ngModel)]="v.tenant" required />
      <label for="flat">Flat</label><p-select inputId="flat" name="flat" [(ngModel)]="v.flat" [options]="flats" optionLabel="name" optionValue="id" placeholder="Select a flat" />
      <label for="city">Former town</label><p-autocomplete inputId="city" name="city" [(ngModel)]="v.city" [suggestions]="towns" (completeMethod)="suggest($event.query)" />
      <label for="move">Moves in</label><p-datepicker inputId="move" name="move" [(ngModel)]="v.move" dateFormat="dd.mm.yy" [showIcon]="true" />
      <label for="phone">Mobile</label><p-inputmask inputId="phone" name="phone" [(ngModel)]="v.phone" mask="(999) 999-9999" />
      <label for="rent">Rent</label><p-inputnumber inputId="rent" name="rent" [(ngModel)]="v.rent" mode="currency" currency="EUR" locale="en-US" />
      <label for="extras">Extras</label><p-multiselect inputId="extras" name="extras" [(ngModel)]="v.extras" [options]="extras" optionLabel="name" optionValue="id" placeholder="Choose" />
      <span id="term">Contract</span><p-selectbutton ariaLabelledBy="term" name="term" [(ngModel)]="v.term" [options]="terms" optionLabel="name" optionValue="id" />
      <div><p-toggleswitch inputId="pets" name="pets" [(ngModel)]="v.pets" /> <label for="pets">Pets</label></div>
      <p-button type="submit" label="Save tenant" />
    </form>`,
})
class Tenant {
  private readonly changes = inject(ChangeDetectorRef);
  flats = [{ id: 11, name: "Ground floor left" }, { id: 12, name: "Ground floor right" }, { id: 31, name: "Attic" }];
  extras = [{ id: "cel", name: "Cellar" }, { id: "gar", name: "Garage" }, { id: "kit", name: "Kitchen" }];
  terms = [{ id: "L", name: "Unlimited" }, { id: "Y", name: "One year" }, { id: "M", name: "Monthly" }];
  v: Record<string, unknown> = { tenant: "", flat: null, city: "", move: null, phone: "", rent: null, extras: [], term: null, pets: false };
  towns: string[] = [];
  note = "";
  async suggest(query: string) {
    this.towns = await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(query)}`)).json();
    this.changes.markForCheck();
  }
  async send() {
    const day = this.v.move as Date | null;
    const move = day && `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ tenancy: { ...this.v, move } }) });
    this.note = answer.ok ? "Tenant saved" : "Something is missing";
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-tenant"));
bootstrapApplication(Tenant, { providers: [providePrimeNG({ theme: { preset: Aura } })] });
