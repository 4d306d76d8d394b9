import "@angular/compiler";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormControl, FormGroup, ReactiveFormsModule, Validators } from "@angular/forms";
import { NgSelectComponent } from "@ng-select/ng-select";
import "../../node_modules/@ng-select/ng-select/themes/default.theme.css";
import { bootstrapApplication } from "@angular/platform-browser";

@Component({
  selector: "app-order",
  imports: [NgSelectComponent, ReactiveFormsModule],
  template: `
    <form [formGroup]="form" (ngSubmit)="send()" style="width:420px;margin:32px">
      @if (note) { <div class="alert">{{ note }}</div> }
      <p><label for="firm">Firm</label> <input id="firm" formControlName="firm"></p>
      @if (tried && form.controls.firm.invalid) { <small>The firm's name is needed</small> }
      <p><label for="plan">Plan</label></p><ng-select labelForId="plan" formControlName="plan" [items]="plans" bindLabel="name" bindValue="id" />
      <p><label for="modules">Modules</label></p><ng-select labelForId="modules" formControlName="modules" [items]="modules" bindLabel="name" bindValue="id" [multiple]="true" [closeOnSelect]="false" />
      <p><label for="domains">Domains</label></p><ng-select labelForId="domains" formControlName="domains" [items]="[]" [addTag]="true" [multiple]="true" [isOpen]="false" />
      <p><label for="seats">Seats</label> <input id="seats" type="number" formControlName="seats"></p>
      <fieldset><legend>Billing</legend><label><input type="radio" formControlName="billing" value="M"> Monthly</label><label><input type="radio" formControlName="billing" value="Q"> Quarterly</label><label><input type="radio" formControlName="billing" value="Y"> Yearly</label></fieldset>
      <p><label><input type="checkbox" formControlName="support"> Telephone support</label></p>
      <button>Order plan</button>
    </form>`,
})
class Order {
  private readonly changes = inject(ChangeDetectorRef);
  plans = [{ id: 10, name: "Starter" }, { id: 20, name: "Team" }, { id: 30, name: "Company" }];
  modules = [{ id: "inv", name: "Invoices" }, { id: "pay", name: "Payroll" }, { id: "crm", name: "Customers" }, { id: "wh", name: "Warehouse" }];
  note = "";
  tried = false;
  form = new FormGroup({ firm: new FormControl("", Validators.required), plan: new FormControl(null), modules: new FormControl([]), domains: new FormControl([]), seats: new FormControl(1), billing: new FormControl(""), support: new FormControl(false) });
  async send() {
    this.tried = true;
    if (this.form.invalid) return;
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(this.form.value) });
    this.note = (await answer.json()).ordered ? "Thank you for your order" : "No order was placed";
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-order"));
bootstrapApplication(Order);
