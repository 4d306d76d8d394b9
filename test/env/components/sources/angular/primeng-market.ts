import "@angular/compiler";
import { ChangeDetectionStrategy, Component, inject, signal } from "@angular/core";
import { FormBuilder, ReactiveFormsModule, Validators } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import Lara from "@primeuix/themes/lara";
import { AutoComplete } from "primeng/autocomplete";
import { Button } from "primeng/button";
import { Checkbox } from "primeng/checkbox";
import { providePrimeNG } from "primeng/config";
import { DatePicker } from "primeng/datepicker";
import { FileUpload } from "primeng/fileupload";
import { InputNumber } from "primeng/inputnumber";
import { InputText } from "primeng/inputtext";
import { Message } from "primeng/message";
import { MultiSelect } from "primeng/multiselect";
import { RadioButton } from "primeng/radiobutton";
import { Select } from "primeng/select";

@Component({
  selector: "app-market",
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [AutoComplete, Button, Checkbox, DatePicker, FileUpload, InputNumber, InputText, Message, MultiSelect, RadioButton, ReactiveFormsModule, Select],
  template: `
    <main style="width: 520px; margin: 32px">
      <h1>Stall at the market</h1>
      @if (state() === "sent") {
        <p-message severity="success">Your application has arrived.</p-message>
      } @else {
        @if (state() === "failed") { <p-message severity="error">The application is incomplete.</p-message> }
        <form [formGroup]="form" (ngSubmit)="send()" style="display: grid; gap: 14px">
          <div class="field"><label for="trader">Trader</label><input pInputText id="trader" formControlName="trader" />@if (wrong("trader")) { <small>Please enter your name.</small> }</div>
          <div class="field"><label for="market">Market</label><p-autocomplete inputId="market" formControlName="market" [suggestions]="markets()" (completeMethod)="find($event.query)" [forceSelection]="true" [dropdown]="true" />@if (wrong("market")) { <small>Please choose a market.</small> }</div>
          <div class="field"><label for="goods">Goods</label><p-select inputId="goods" formControlName="goods" [options]="goods" optionLabel="name" optionValue="code" [group]="true" placeholder="Select what you sell" [showClear]="true" /></div>
          <div class="field"><label for="dates">Dates</label><p-datepicker inputId="dates" formControlName="dates" selectionMode="range" [readonlyInput]="true" dateFormat="d M yy" /></div>
          <div class="field"><label for="metres">Length of the stall</label><p-inputnumber inputId="metres" formControlName="metres" suffix=" m" [min]="1" [max]="20" [minFractionDigits]="1" [maxFractionDigits]="1" locale="en-GB" /></div>
          <div class="field"><label for="needs">You need</label><p-multiselect inputId="needs" formControlName="needs" [options]="needs" optionLabel="name" optionValue="code" display="chip" [filter]="false" placeholder="Nothing special" /></div>
          <div class="field"><span id="place">Place</span><div role="radiogroup" aria-labelledby="place" style="display: flex; gap: 8px">@for (place of places; track place.code) { <p-radiobutton [inputId]="place.code" formControlName="place" [value]="place.code" /><label [for]="place.code">{{ place.name }}</label> }</div></div>
          <div class="field"><span>Trade licence</span><p-fileupload mode="basic" name="licence" chooseLabel="Choose" accept="image/*" (onSelect)="licence = $event.files[0]" /></div>
          <div><p-checkbox inputId="again" formControlName="again" [binary]="true" /> <label for="again">I have been here before</label></div>
          <div><p-button type="submit" label="Apply for a stall" /></div>
        </form>
      }
    </main>`,
  styles: ".field { display: grid; gap: 4px } small { color: #b00 }",
})
class Market {
  private readonly builder = inject(FormBuilder);
  readonly state = signal("");
  readonly markets = signal<string[]>([]);
  licence?: File;
  readonly goods = [
    { label: "Food", items: [{ name: "Fruit and vegetables", code: "F1" }, { name: "Cheese", code: "F2" }, { name: "Bread", code: "F3" }] },
    { label: "Other", items: [{ name: "Flowers", code: "O1" }, { name: "Handicraft", code: "O2" }] },
  ];
  readonly needs = [{ name: "Electricity", code: "power" }, { name: "Water", code: "water" }, { name: "Cooling", code: "cold" }, { name: "Roof", code: "roof" }];
  readonly places = [{ name: "Corner", code: "corner" }, { name: "Row", code: "row" }, { name: "Church side", code: "church" }];
  readonly form = this.builder.group({
    trader: ["", [Validators.required, Validators.minLength(2)]],
    market: [null as string | null, Validators.required],
    goods: [null as string | null],
    dates: [null as (Date | null)[] | null],
    metres: [null as number | null],
    needs: [[] as string[]],
    place: [null as string | null],
    again: [false],
  });
  wrong(name: string): boolean {
    const control = this.form.get(name);
    return control !== null && control.invalid && control.touched;
  }
  async find(query: string) {
    this.markets.set(await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(query)}`)).json());
  }
  async send() {
    if (this.form.invalid) {
      this.form.markAllAsTouched();
      return;
    }
    const { dates, needs, ...rest } = this.form.getRawValue();
    const two = (n: number) => String(n).padStart(2, "0");
    const iso = (d?: Date | null) => (d ? `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}` : "");
    const body = new FormData();
    for (const [key, value] of Object.entries(rest)) body.append(key, String(value ?? ""));
    if (dates) body.append("dates", `${iso(dates[0])}/${iso(dates[1] ?? dates[0])}`);
    for (const need of needs ?? []) body.append("needs", need);
    if (this.licence) body.append("licence", this.licence);
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", body });
    this.state.set(answer.ok ? "sent" : "failed");
  }
}
document.querySelector("#app")?.append(document.createElement("app-market"));
bootstrapApplication(Market, { providers: [providePrimeNG({ theme: { preset: Lara } })] });
