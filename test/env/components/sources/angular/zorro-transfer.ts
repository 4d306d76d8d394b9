import "@angular/compiler";
import { Component, inject, signal } from "@angular/core";
import { NonNullableFormBuilder, ReactiveFormsModule, Validators } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import { provideNoopAnimations } from "@angular/platform-browser/animations";
import { NzAlertModule } from "ng-zorro-antd/alert";
import { NzAutocompleteModule } from "ng-zorro-antd/auto-complete";
import { NzButtonModule } from "ng-zorro-antd/button";
import { NzCardModule } from "ng-zorro-antd/card";
import { NzCheckboxModule } from "ng-zorro-antd/checkbox";
import { NzDatePickerModule } from "ng-zorro-antd/date-picker";
import { NzFormModule } from "ng-zorro-antd/form";
import { en_US, provideNzI18n } from "ng-zorro-antd/i18n";
import { NzInputModule } from "ng-zorro-antd/input";
import { NzInputNumberModule } from "ng-zorro-antd/input-number";
import { NzSegmentedModule } from "ng-zorro-antd/segmented";
import { NzSelectModule } from "ng-zorro-antd/select";
import { NzSliderModule } from "ng-zorro-antd/slider";
import "../../node_modules/ng-zorro-antd/ng-zorro-antd.min.css";

const two = (n: number) => String(n).padStart(2, "0");

@Component({
  selector: "app-transfer",
  imports: [NzAlertModule, NzAutocompleteModule, NzButtonModule, NzCardModule, NzCheckboxModule, NzDatePickerModule, NzFormModule, NzInputModule, NzInputNumberModule, NzSegmentedModule, NzSelectModule, NzSliderModule, ReactiveFormsModule],
  template: `
    <nz-card nzTitle="Airport transfer" style="width:600px;margin:24px">
      @if (answer(); as a) { <nz-alert [nzType]="a.ok ? 'success' : 'error'" [nzMessage]="a.text" nzShowIcon /> }
      <form nz-form nzLayout="vertical" [formGroup]="form" (ngSubmit)="submitForm()">
        <nz-form-item>
          <nz-form-label nzFor="passenger" nzRequired>Passenger</nz-form-label>
          <nz-form-control nzErrorTip="Please input the passenger's name"><input nz-input id="passenger" formControlName="passenger" /></nz-form-control>
        </nz-form-item>
        <nz-form-item>
          <nz-form-label nzFor="hotel" nzRequired>Hotel</nz-form-label>
          <nz-form-control nzErrorTip="Please choose your hotel">
            <input nz-input id="hotel" placeholder="Type the name" formControlName="hotel" [nzAutocomplete]="auto" (input)="search($event)" />
            <nz-autocomplete #auto>
              @for (name of hotels(); track name) { <nz-auto-option [nzValue]="name" [nzLabel]="name">{{ name }}</nz-auto-option> }
            </nz-autocomplete>
          </nz-form-control>
        </nz-form-item>
        <nz-form-item>
          <nz-form-label nzFor="landing">Landing</nz-form-label>
          <nz-form-control><nz-date-picker nzId="landing" formControlName="landing" [nzShowTime]="{ nzFormat: 'HH:mm' }" nzFormat="yyyy-MM-dd HH:mm" /></nz-form-control>
        </nz-form-item>
        <nz-form-item>
          <nz-form-label nzFor="vehicle">Vehicle</nz-form-label>
          <nz-form-control>
            <nz-select nzId="vehicle" formControlName="vehicle" nzAllowClear nzPlaceHolder="Choose">
              @for (v of vehicles; track v.id) { <nz-option [nzValue]="v.id" [nzLabel]="v.name" /> }
            </nz-select>
          </nz-form-control>
        </nz-form-item>
        <nz-form-item>
          <nz-form-label nzFor="persons">Persons</nz-form-label>
          <nz-form-control><nz-input-number nzId="persons" formControlName="persons" [nzMin]="1" [nzMax]="50" /></nz-form-control>
        </nz-form-item>
        <nz-form-item>
          <nz-form-label>Pieces of luggage</nz-form-label>
          <nz-form-control><nz-slider formControlName="luggage" [nzMin]="0" [nzMax]="20" /></nz-form-control>
        </nz-form-item>
        <nz-form-item>
          <nz-form-label nzFor="extras">Extras</nz-form-label>
          <nz-form-control>
            <nz-select nzId="extras" nzMode="multiple" formControlName="extras" nzPlaceHolder="Please select">
              @for (e of extras; track e) { <nz-option [nzValue]="e" [nzLabel]="e" /> }
            </nz-select>
          </nz-form-control>
        </nz-form-item>
        <nz-form-item>
          <nz-form-label>Payment</nz-form-label>
          <nz-form-control><nz-segmented formControlName="payment" [nzOptions]="payments" /></nz-form-control>
        </nz-form-item>
        <nz-form-item><nz-form-control><label nz-checkbox formControlName="back">Book the way back too</label></nz-form-control></nz-form-item>
        <button nz-button nzType="primary" [nzLoading]="busy()">Book transfer</button>
      </form>
    </nz-card>`,
})
class Transfer {
  readonly vehicles = [{ id: "sedan", name: "Sedan" }, { id: "minivan", name: "Minivan" }, { id: "coach", name: "Coach" }, { id: "limo", name: "Limousine" }];
  readonly extras = ["Child seat", "Meet and greet", "Ski rack", "Water"];
  readonly payments = [{ label: "In cash", value: "CASH" }, { label: "By card", value: "CARD" }, { label: "On account", value: "ACCOUNT" }];
  readonly hotels = signal<string[]>([]);
  readonly answer = signal<{ ok: boolean; text: string } | null>(null);
  readonly busy = signal(false);
  private readonly fb = inject(NonNullableFormBuilder);
  readonly form = this.fb.group({
    passenger: ["", [Validators.required, Validators.minLength(3)]],
    hotel: ["", Validators.required],
    landing: [null as Date | null],
    vehicle: [null as string | null],
    persons: [1],
    luggage: [2],
    extras: [[] as string[]],
    payment: ["CASH"],
    back: [false],
  });
  async search(event: Event) {
    const q = (event.target as HTMLInputElement).value;
    this.hotels.set(q ? await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(q)}`)).json() : []);
  }
  async submitForm() {
    if (this.form.invalid) {
      for (const control of Object.values(this.form.controls)) {
        control.markAsDirty();
        control.updateValueAndValidity({ onlySelf: true });
      }
      return;
    }
    this.busy.set(true);
    const { landing: d, ...rest } = this.form.getRawValue();
    const landing = d && `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}T${two(d.getHours())}:${two(d.getMinutes())}`;
    const response = await fetch(`${location.pathname}/send`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...rest, landing }),
    });
    this.busy.set(false);
    this.answer.set(response.ok ? { ok: true, text: "Your transfer is booked." } : { ok: false, text: "The booking failed." });
  }
}
document.querySelector("#app")?.append(document.createElement("app-transfer"));
bootstrapApplication(Transfer, { providers: [provideNoopAnimations(), provideNzI18n(en_US)] });
