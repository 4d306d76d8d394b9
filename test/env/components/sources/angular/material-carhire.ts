import "@angular/compiler";
import { Component, inject, signal } from "@angular/core";
import { FormBuilder, ReactiveFormsModule, Validators } from "@angular/forms";
import { MatAutocompleteModule } from "@angular/material/autocomplete";
import { MatButtonModule } from "@angular/material/button";
import { MatCardModule } from "@angular/material/card";
import { MatCheckboxModule } from "@angular/material/checkbox";
import { MatChipsModule } from "@angular/material/chips";
import { provideNativeDateAdapter } from "@angular/material/core";
import { MatDatepickerModule } from "@angular/material/datepicker";
import { MatInputModule } from "@angular/material/input";
import { MatProgressBarModule } from "@angular/material/progress-bar";
import { MatSliderModule } from "@angular/material/slider";
import { bootstrapApplication } from "@angular/platform-browser";
import { debounceTime, distinctUntilChanged, filter, Subject, switchMap } from "rxjs";
import "../../node_modules/@angular/material/prebuilt-themes/rose-red.css";

const two = (n: number) => String(n).padStart(2, "0");
const iso = (date: Date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

@Component({
  selector: "app-car-hire",
  imports: [MatAutocompleteModule, MatButtonModule, MatCardModule, MatCheckboxModule, MatChipsModule, MatDatepickerModule, MatInputModule, MatProgressBarModule, MatSliderModule, ReactiveFormsModule],
  styles: `
    mat-card { width: 540px; margin: 24px }
    form { display: flex; flex-direction: column; gap: 8px }
    .error { color: #b3261e }
  `,
  template: `
    <mat-card appearance="outlined">
      <mat-card-header><mat-card-title>Hire a car</mat-card-title></mat-card-header>
      @if (busy()) { <mat-progress-bar mode="indeterminate" /> }
      <mat-card-content>
        @switch (result()) {
          @case ("reserved") { <p role="status">Your car is reserved. We sent you a confirmation.</p> }
          @case ("failed") { <p class="error" role="alert">We could not reserve a car. Please check the form.</p> }
        }
        <form [formGroup]="form" (ngSubmit)="reserve()">
          <mat-form-field>
            <mat-label>Driver</mat-label>
            <input matInput formControlName="driver" autocomplete="name" />
            <mat-error>Please enter the driver's name</mat-error>
          </mat-form-field>
          <mat-form-field>
            <mat-label>Pick-up station</mat-label>
            <input #city matInput formControlName="station" placeholder="Type a city" [matAutocomplete]="stations" (input)="typed.next(city.value)" />
            <mat-autocomplete #stations="matAutocomplete" requireSelection>
              @for (station of found(); track station) { <mat-option [value]="station">{{ station }}</mat-option> }
            </mat-autocomplete>
            <mat-error>Please choose a station</mat-error>
          </mat-form-field>
          <mat-form-field>
            <mat-label>Rental period</mat-label>
            <mat-date-range-input [rangePicker]="picker">
              <input matStartDate placeholder="Start date" formControlName="from" />
              <input matEndDate placeholder="End date" formControlName="to" />
            </mat-date-range-input>
            <mat-hint>MM/DD/YYYY – MM/DD/YYYY</mat-hint>
            <mat-datepicker-toggle matIconSuffix [for]="picker" />
            <mat-date-range-picker #picker />
            <mat-error>Please choose both days</mat-error>
          </mat-form-field>
          <mat-form-field>
            <mat-label>Car class</mat-label>
            <select matNativeControl formControlName="carClass">
              <option value=""></option>
              @for (item of classes; track item.code) { <option [value]="item.code">{{ item.name }}</option> }
            </select>
          </mat-form-field>
          <div>
            <label id="km">Kilometres a day: {{ form.value.km }}</label>
            <mat-slider min="50" max="500" step="50" discrete showTickMarks><input matSliderThumb formControlName="km" aria-labelledby="km" /></mat-slider>
          </div>
          <div>
            <div id="extras">Extras</div>
            <mat-chip-listbox multiple formControlName="extras" aria-labelledby="extras">
              @for (item of extras; track item.code) { <mat-chip-option [value]="item.code">{{ item.name }}</mat-chip-option> }
            </mat-chip-listbox>
          </div>
          <div>
            <span>Driving licence</span>
            <button mat-stroked-button type="button" (click)="file.click()">Choose file</button> {{ licence()?.name }}
            <input #file type="file" accept="image/*,.pdf" hidden (change)="licence.set(file.files?.[0])" />
          </div>
          <mat-checkbox formControlName="abroad">I will drive abroad</mat-checkbox>
          <div><button mat-flat-button type="submit" [disabled]="busy()">Reserve car</button></div>
        </form>
      </mat-card-content>
    </mat-card>`,
})
class CarHire {
  readonly classes = [{ code: "ECAR", name: "Economy" }, { code: "CCAR", name: "Compact" }, { code: "SUVR", name: "SUV" }, { code: "VANR", name: "Van" }];
  readonly extras = [{ code: "NAV", name: "Navigation" }, { code: "SNO", name: "Snow chains" }, { code: "CST", name: "Child seat" }, { code: "ROO", name: "Roof box" }];
  readonly typed = new Subject<string>();
  readonly found = signal<string[]>([]);
  readonly licence = signal<File | undefined>(undefined);
  readonly busy = signal(false);
  readonly result = signal("");
  readonly form = inject(FormBuilder).nonNullable.group({
    driver: ["", Validators.required],
    station: ["", Validators.required],
    from: [null as Date | null, Validators.required],
    to: [null as Date | null, Validators.required],
    carClass: [""],
    km: [200],
    extras: [[] as string[]],
    abroad: [false],
  });
  constructor() {
    // the control has no value until an option is selected
    this.typed
      .pipe(
        debounceTime(200),
        distinctUntilChanged(),
        filter((text) => text.length > 1),
        switchMap(async (text) => (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(text)}`)).json()),
      )
      .subscribe((stations: string[]) => this.found.set(stations));
  }
  async reserve() {
    if (this.form.invalid) return;
    this.busy.set(true);
    const { from, to, extras, ...rest } = this.form.getRawValue();
    const body = new FormData();
    for (const [key, value] of Object.entries(rest)) body.set(key, String(value));
    if (from && to) body.set("period", `${iso(from)}/${iso(to)}`);
    for (const extra of extras) body.append("extras", extra);
    const licence = this.licence();
    if (licence) body.set("licence", licence);
    const response = await fetch(`${location.pathname}/send`, { method: "POST", body });
    this.busy.set(false);
    this.result.set(response.ok ? "reserved" : "failed");
  }
}
document.querySelector("#app")?.append(document.createElement("app-car-hire"));
bootstrapApplication(CarHire, { providers: [provideNativeDateAdapter()] });
