import "@angular/compiler";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormsModule } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import { provideNoopAnimations } from "@angular/platform-browser/animations";
import { NzButtonModule } from "ng-zorro-antd/button";
import { NzCascaderModule } from "ng-zorro-antd/cascader";
import { NzCheckboxModule } from "ng-zorro-antd/checkbox";
import { NzDatePickerModule } from "ng-zorro-antd/date-picker";
import { NzFormModule } from "ng-zorro-antd/form";
import { en_US, provideNzI18n } from "ng-zorro-antd/i18n";
import { NzInputModule } from "ng-zorro-antd/input";
import { NzInputNumberModule } from "ng-zorro-antd/input-number";
import { NzRadioModule } from "ng-zorro-antd/radio";
import { NzRateModule } from "ng-zorro-antd/rate";
import { NzSelectModule } from "ng-zorro-antd/select";
import { NzSwitchModule } from "ng-zorro-antd/switch";
import "../../node_modules/ng-zorro-antd/ng-zorro-antd.min.css";

@Component({
  selector: "app-claim",
  imports: [FormsModule, NzButtonModule, NzCascaderModule, NzCheckboxModule, NzDatePickerModule, NzFormModule, NzInputModule, NzInputNumberModule, NzRadioModule, NzRateModule, NzSelectModule, NzSwitchModule],
  template: `
    <form nz-form nzLayout="vertical" (ngSubmit)="send()" style="width:460px;margin:32px">
      <h3>{{ note }}</h3>
      <nz-form-item><nz-form-label nzFor="employee" nzRequired>Employee</nz-form-label><nz-form-control><input nz-input id="employee" name="employee" [(ngModel)]="v.employee" /></nz-form-control></nz-form-item>
      <nz-form-item><nz-form-label nzFor="project">Project</nz-form-label><nz-form-control><nz-select nzId="project" name="project" nzShowSearch [(ngModel)]="v.project"><nz-option nzValue="p1" nzLabel="Bridge"></nz-option><nz-option nzValue="p2" nzLabel="Tunnel"></nz-option><nz-option nzValue="p3" nzLabel="Harbour"></nz-option></nz-select></nz-form-control></nz-form-item>
      <nz-form-item><nz-form-label>Cost centre</nz-form-label><nz-form-control><nz-cascader name="centre" [nzOptions]="centres" [(ngModel)]="v.centre"></nz-cascader></nz-form-control></nz-form-item>
      <nz-form-item><nz-form-label nzFor="spent">Spent on</nz-form-label><nz-form-control><nz-date-picker nzId="spent" name="spent" [(ngModel)]="v.spent"></nz-date-picker></nz-form-control></nz-form-item>
      <nz-form-item><nz-form-label nzFor="amount">Amount</nz-form-label><nz-form-control><nz-input-number nzId="amount" name="amount" [nzMin]="0" [(ngModel)]="v.amount"></nz-input-number></nz-form-control></nz-form-item>
      <nz-form-item><nz-form-label nzFor="kinds">Kinds</nz-form-label><nz-form-control><nz-select nzId="kinds" nzMode="multiple" name="kinds" [(ngModel)]="v.kinds"><nz-option nzValue="f" nzLabel="Food"></nz-option><nz-option nzValue="h" nzLabel="Hotel"></nz-option><nz-option nzValue="t" nzLabel="Travel"></nz-option><nz-option nzValue="o" nzLabel="Other"></nz-option></nz-select></nz-form-control></nz-form-item>
      <nz-form-item><nz-form-label>Paid with</nz-form-label><nz-form-control><nz-radio-group name="paid" [(ngModel)]="v.paid"><label nz-radio-button nzValue="C">Card</label><label nz-radio-button nzValue="B">Cash</label><label nz-radio-button nzValue="I">Invoice</label></nz-radio-group></nz-form-control></nz-form-item>
      <nz-form-item><nz-form-label>Hotel rating</nz-form-label><nz-form-control><nz-rate name="stars" [(ngModel)]="v.stars"></nz-rate></nz-form-control></nz-form-item>
      <nz-form-item><nz-form-label>Abroad</nz-form-label><nz-form-control><nz-switch name="abroad" [(ngModel)]="v.abroad"></nz-switch></nz-form-control></nz-form-item>
      <button nz-button nzType="primary" type="submit">Hand in claim</button>
    </form>`,
})
class Claim {
  private readonly changes = inject(ChangeDetectorRef);
  note = "";
  centres = [{ value: "sales", label: "Sales", children: [{ value: "s1", label: "Home market", isLeaf: true }, { value: "s2", label: "Export", isLeaf: true }] }, { value: "works", label: "Works", children: [{ value: "w1", label: "Assembly", isLeaf: true }, { value: "w2", label: "Stores", isLeaf: true }] }];
  v: Record<string, unknown> = { employee: "", project: null, centre: null, spent: null, amount: null, kinds: [], paid: null, stars: 0, abroad: false };
  async send() {
    const d = this.v.spent as Date | null;
    const spent = d && `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, "0")}-${String(d.getDate()).padStart(2, "0")}`;
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ claim: { ...this.v, spent } }) });
    this.note = answer.ok ? "Claim handed in" : "Claim incomplete";
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-claim"));
bootstrapApplication(Claim, { providers: [provideNoopAnimations(), provideNzI18n(en_US)] });
