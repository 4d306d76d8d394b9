import "@angular/compiler";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormBuilder, FormsModule, ReactiveFormsModule, Validators } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import { provideNoopAnimations } from "@angular/platform-browser/animations";
import { NzAlertModule } from "ng-zorro-antd/alert";
import { NzButtonModule } from "ng-zorro-antd/button";
import { NzCheckboxModule } from "ng-zorro-antd/checkbox";
import { NzDatePickerModule } from "ng-zorro-antd/date-picker";
import { NzFormModule } from "ng-zorro-antd/form";
import { en_US, provideNzI18n } from "ng-zorro-antd/i18n";
import { NzInputModule } from "ng-zorro-antd/input";
import { NzInputNumberModule } from "ng-zorro-antd/input-number";
import { NzRadioModule } from "ng-zorro-antd/radio";
import { NzSelectModule } from "ng-zorro-antd/select";
import { NzSwitchModule } from "ng-zorro-antd/switch";
import { NzTimePickerModule } from "ng-zorro-antd/time-picker";
import "../../node_modules/ng-zorro-antd/ng-zorro-antd.min.css";

@Component({
  selector: "app-gym",
  imports: [FormsModule, NzAlertModule, NzButtonModule, NzCheckboxModule, NzDatePickerModule, NzFormModule, NzInputModule, NzInputNumberModule, NzRadioModule, NzSelectModule, NzSwitchModule, NzTimePickerModule, ReactiveFormsModule],
  template: `
    <form nz-form [formGroup]="form" (ngSubmit)="join()" style="width:640px;margin:32px">
      @if (done) { <nz-alert nzType="success" nzMessage="Welcome to the gym!" /> }
      @if (failed) { <nz-alert nzType="error" nzMessage="Your registration was not saved." /> }
      <nz-form-item>
        <nz-form-label [nzSpan]="8" nzFor="name" nzRequired>Full name</nz-form-label>
        <nz-form-control [nzSpan]="16" nzErrorTip="Please input your name"><input nz-input id="name" formControlName="name" /></nz-form-control>
      </nz-form-item>
      <nz-form-item>
        <nz-form-label [nzSpan]="8" nzFor="studio" nzRequired>Studio</nz-form-label>
        <nz-form-control [nzSpan]="16" nzErrorTip="Please choose a studio">
          <nz-select nzId="studio" formControlName="studio" nzPlaceHolder="Select a studio">
            @for (item of studios; track item.code) { <nz-option [nzValue]="item.code" [nzLabel]="item.name" /> }
          </nz-select>
        </nz-form-control>
      </nz-form-item>
      <nz-form-item>
        <nz-form-label [nzSpan]="8" nzFor="start">Start of membership</nz-form-label>
        <nz-form-control [nzSpan]="16"><nz-date-picker nzId="start" formControlName="start" nzFormat="dd/MM/yyyy" /></nz-form-control>
      </nz-form-item>
      <nz-form-item>
        <nz-form-label [nzSpan]="8" nzFor="trial">Time of first training</nz-form-label>
        <nz-form-control [nzSpan]="16"><nz-time-picker nzId="trial" formControlName="trial" nzFormat="HH:mm" [nzMinuteStep]="15" /></nz-form-control>
      </nz-form-item>
      <nz-form-item>
        <nz-form-label [nzSpan]="8" nzFor="weight">Body weight</nz-form-label>
        <nz-form-control [nzSpan]="16"><nz-input-number nzId="weight" formControlName="weight" [nzMin]="30" [nzMax]="250" /></nz-form-control>
      </nz-form-item>
      <nz-form-item>
        <nz-form-label [nzSpan]="8">Interests</nz-form-label>
        <nz-form-control [nzSpan]="16">
          <nz-checkbox-group formControlName="interests">
            @for (item of interests; track item.value) { <label nz-checkbox [nzValue]="item.value">{{ item.label }}</label> }
          </nz-checkbox-group>
        </nz-form-control>
      </nz-form-item>
      <nz-form-item>
        <nz-form-label [nzSpan]="8">Contract</nz-form-label>
        <nz-form-control [nzSpan]="16">
          <nz-radio-group formControlName="contract">
            <label nz-radio nzValue="1">Monthly</label><label nz-radio nzValue="12">One year</label><label nz-radio nzValue="24">Two years</label>
          </nz-radio-group>
        </nz-form-control>
      </nz-form-item>
      <nz-form-item>
        <nz-form-label [nzSpan]="8">Newsletter</nz-form-label>
        <nz-form-control [nzSpan]="16"><nz-switch formControlName="newsletter" nzCheckedChildren="Yes" nzUnCheckedChildren="No" /></nz-form-control>
      </nz-form-item>
      <nz-form-item><nz-form-control [nzOffset]="8"><button nz-button nzType="primary">Join now</button></nz-form-control></nz-form-item>
    </form>`,
})
class Gym {
  private readonly changes = inject(ChangeDetectorRef);
  done = false;
  failed = false;
  studios = [{ code: "S01", name: "Riverside" }, { code: "S02", name: "Central Station" }, { code: "S03", name: "Old Brewery" }];
  interests = [{ label: "Yoga", value: "yoga" }, { label: "Weights", value: "weights" }, { label: "Swimming", value: "swim" }, { label: "Spinning", value: "spin" }];
  form = inject(FormBuilder).group({
    name: ["", Validators.required],
    studio: [null as string | null, Validators.required],
    start: [null as Date | null],
    trial: [null as Date | null],
    weight: [null as number | null],
    interests: [[] as string[]],
    contract: [null as string | null],
    newsletter: [false],
  });
  async join() {
    if (this.form.invalid) {
      for (const control of Object.values(this.form.controls)) {
        control.markAsDirty();
        control.updateValueAndValidity({ onlySelf: true });
      }
      return;
    }
    const two = (n: number) => String(n).padStart(2, "0");
    const { start, trial, ...rest } = this.form.getRawValue();
    const member = {
      ...rest,
      startDate: start && `${start.getFullYear()}-${two(start.getMonth() + 1)}-${two(start.getDate())}`,
      firstTraining: trial && `${two(trial.getHours())}:${two(trial.getMinutes())}`,
    };
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ member }) });
    this.done = answer.ok;
    this.failed = !answer.ok;
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-gym"));
bootstrapApplication(Gym, { providers: [provideNoopAnimations(), provideNzI18n(en_US)] });
