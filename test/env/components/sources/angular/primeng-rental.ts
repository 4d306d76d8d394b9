import "@angular/compiler";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormBuilder, ReactiveFormsModule, Validators } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import Lara from "@primeuix/themes/lara";
import { MessageService } from "primeng/api";
import { ButtonModule } from "primeng/button";
import { CheckboxModule } from "primeng/checkbox";
import { providePrimeNG } from "primeng/config";
import { DatePickerModule } from "primeng/datepicker";
import { InputNumberModule } from "primeng/inputnumber";
import { InputTextModule } from "primeng/inputtext";
import { MultiSelectModule } from "primeng/multiselect";
import { RadioButtonModule } from "primeng/radiobutton";
import { SelectModule } from "primeng/select";
import { TextareaModule } from "primeng/textarea";
import { ToastModule } from "primeng/toast";

@Component({
  selector: "app-rental",
  imports: [ButtonModule, CheckboxModule, DatePickerModule, InputNumberModule, InputTextModule, MultiSelectModule, RadioButtonModule, ReactiveFormsModule, SelectModule, TextareaModule, ToastModule],
  providers: [MessageService],
  styles: `
    form { max-width: 480px; margin: 32px; }
    .field { display: flex; flex-direction: column; gap: 6px; margin-bottom: 16px; }
    .choice { display: flex; align-items: center; gap: 8px; }
    small { color: #d32f2f; }
  `,
  template: `
    <p-toast />
    <form [formGroup]="form" (ngSubmit)="onSubmit()">
      <h2>Rent a tool</h2>
      <div class="field">
        <label for="customer">Customer</label>
        <input pInputText id="customer" formControlName="customer" />
        @if (invalid("customer")) { <small>Please enter your name.</small> }
      </div>
      <div class="field">
        <label for="tool">Tool</label>
        <p-select inputId="tool" formControlName="tool" [options]="tools" optionLabel="name" [filter]="true" filterBy="name" placeholder="Select a tool" />
        @if (invalid("tool")) { <small>Please select a tool.</small> }
      </div>
      <div class="field">
        <label for="pickup">Pick-up date</label>
        <p-datepicker inputId="pickup" formControlName="pickup" [showIcon]="true" [iconDisplay]="'input'" [minDate]="today" />
        @if (invalid("pickup")) { <small>Please choose a date.</small> }
      </div>
      <div class="field">
        <label for="days">Number of days</label>
        <p-inputnumber inputId="days" formControlName="days" [showButtons]="true" [min]="1" [max]="30" />
      </div>
      <div class="field">
        <label for="accessories">Accessories</label>
        <p-multiselect inputId="accessories" formControlName="accessories" [options]="accessories" placeholder="Select accessories" display="chip" />
      </div>
      <div class="field">
        <span>Payment</span>
        @for (way of payments; track way.key) {
          <div class="choice"><p-radiobutton [inputId]="way.key" [value]="way.key" formControlName="payment" /><label [for]="way.key">{{ way.name }}</label></div>
        }
      </div>
      <div class="field">
        <label for="remarks">Remarks</label>
        <textarea pTextarea id="remarks" rows="3" formControlName="remarks"></textarea>
      </div>
      <div class="field choice" style="flex-direction: row">
        <p-checkbox inputId="delivery" formControlName="delivery" [binary]="true" />
        <label for="delivery">Deliver to my address</label>
      </div>
      <p-button type="submit" label="Reserve" icon="pi pi-check" [loading]="loading" />
    </form>`,
})
class Rental {
  private readonly fb = inject(FormBuilder);
  private readonly messages = inject(MessageService);
  private readonly changes = inject(ChangeDetectorRef);
  today = new Date();
  loading = false;
  tools = [
    { name: "Hammer drill", code: "HD-20" },
    { name: "Chainsaw", code: "CS-35" },
    { name: "Floor sander", code: "FS-10" },
    { name: "Tile cutter", code: "TC-60" },
    { name: "Concrete mixer", code: "CM-14" },
  ];
  accessories = ["Safety goggles", "Gloves", "Extension cord", "Dust bag"];
  payments = [
    { key: "cash", name: "Cash" },
    { key: "card", name: "Credit card" },
    { key: "invoice", name: "Invoice" },
  ];
  form = this.fb.group({
    customer: ["", Validators.required],
    tool: [null as { name: string; code: string } | null, Validators.required],
    pickup: [null as Date | null, Validators.required],
    days: [1],
    accessories: [[] as string[]],
    payment: ["cash"],
    remarks: [""],
    delivery: [false],
  });
  invalid(name: string) {
    const control = this.form.get(name);
    return control?.invalid === true && control.touched;
  }
  async onSubmit() {
    if (this.form.invalid) {
      this.form.markAllAsTouched();
      return;
    }
    this.loading = true;
    const value = this.form.getRawValue();
    const date = value.pickup as Date;
    const pickup = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
    const response = await fetch(`${location.pathname}/send`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...value, tool: value.tool?.code, pickup }),
    });
    const result = await response.json();
    this.loading = false;
    if (result.reservation) {
      this.messages.add({ severity: "success", summary: "Reserved", detail: `Your reservation number is ${result.reservation}` });
      this.form.reset({ days: 1, payment: "cash", delivery: false });
    } else this.messages.add({ severity: "error", summary: "Not reserved", detail: result.error });
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-rental"));
bootstrapApplication(Rental, { providers: [providePrimeNG({ theme: { preset: Lara } })] });
