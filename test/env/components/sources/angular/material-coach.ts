import "@angular/compiler";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormBuilder, ReactiveFormsModule, Validators } from "@angular/forms";
import { MatAutocompleteModule } from "@angular/material/autocomplete";
import { MatButtonModule } from "@angular/material/button";
import { MatButtonToggleModule } from "@angular/material/button-toggle";
import { provideNativeDateAdapter } from "@angular/material/core";
import { MatDatepickerModule } from "@angular/material/datepicker";
import { MatInputModule } from "@angular/material/input";
import { MatSelectModule } from "@angular/material/select";
import { MatSliderModule } from "@angular/material/slider";
import { MatSlideToggleModule } from "@angular/material/slide-toggle";
import { MatSnackBar, MatSnackBarModule } from "@angular/material/snack-bar";
import { bootstrapApplication } from "@angular/platform-browser";
import "../../node_modules/@angular/material/prebuilt-themes/azure-blue.css";

const CITIES = ["Amsterdam", "Antwerp", "Berlin", "Bruges", "Cologne", "Prague", "Vienna"];
const EXTRAS = [
  { id: "city", name: "City tour" },
  { id: "boat", name: "Boat trip" },
  { id: "museum", name: "Museum pass" },
  { id: "opera", name: "Opera evening" },
];

@Component({
  selector: "app-coach",
  imports: [MatAutocompleteModule, MatButtonModule, MatButtonToggleModule, MatDatepickerModule, MatInputModule, MatSelectModule, MatSliderModule, MatSlideToggleModule, MatSnackBarModule, ReactiveFormsModule],
  styles: "form { display: flex; flex-direction: column; gap: 12px; width: 480px; margin: 24px }",
  template: `
    <form [formGroup]="form" (ngSubmit)="book()">
      <h2>Book a coach trip</h2>
      <mat-form-field appearance="outline">
        <mat-label>Full name</mat-label>
        <input matInput formControlName="name" autocomplete="name" />
        @if (form.controls.name.hasError("required")) { <mat-error>Please enter your name</mat-error> }
      </mat-form-field>
      <mat-form-field appearance="outline">
        <mat-label>Email</mat-label>
        <input matInput type="email" formControlName="email" />
        @if (form.controls.email.invalid) { <mat-error>Please enter a valid email address</mat-error> }
      </mat-form-field>
      <mat-form-field appearance="outline">
        <mat-label>Destination</mat-label>
        <input matInput formControlName="city" [matAutocomplete]="auto" />
        <mat-autocomplete #auto="matAutocomplete" autoActiveFirstOption>
          @for (city of found(); track city) { <mat-option [value]="city">{{ city }}</mat-option> }
        </mat-autocomplete>
      </mat-form-field>
      <mat-form-field appearance="outline">
        <mat-label>Departure</mat-label>
        <input matInput [matDatepicker]="picker" formControlName="departure" />
        <mat-hint>MM/DD/YYYY</mat-hint>
        <mat-datepicker-toggle matIconSuffix [for]="picker" />
        <mat-datepicker #picker />
      </mat-form-field>
      <mat-form-field appearance="outline">
        <mat-label>Excursions</mat-label>
        <mat-select formControlName="excursions" multiple>
          @for (extra of extras; track extra.id) { <mat-option [value]="extra.id">{{ extra.name }}</mat-option> }
        </mat-select>
      </mat-form-field>
      <label id="board">Board</label>
      <mat-button-toggle-group formControlName="board" aria-labelledby="board">
        <mat-button-toggle value="BB">Breakfast</mat-button-toggle>
        <mat-button-toggle value="HB">Half board</mat-button-toggle>
        <mat-button-toggle value="FB">Full board</mat-button-toggle>
      </mat-button-toggle-group>
      <label id="nights">Number of nights: {{ form.value.nights }}</label>
      <mat-slider min="1" max="14" discrete><input matSliderThumb formControlName="nights" aria-labelledby="nights" /></mat-slider>
      <mat-slide-toggle formControlName="insured">Travel insurance</mat-slide-toggle>
      <div><button mat-flat-button type="submit">Book now</button></div>
    </form>`,
})
class Coach {
  private readonly changes = inject(ChangeDetectorRef);
  private readonly bar = inject(MatSnackBar);
  extras = EXTRAS;
  form = inject(FormBuilder).group({
    name: ["", Validators.required],
    email: ["", [Validators.required, Validators.email]],
    city: ["", Validators.required],
    departure: [null as Date | null],
    excursions: [[] as string[]],
    board: ["BB"],
    nights: [3],
    insured: [false],
  });
  found() {
    const text = (this.form.value.city ?? "").toLowerCase();
    return CITIES.filter((city) => city.toLowerCase().includes(text));
  }
  async book() {
    if (this.form.invalid) return;
    const { departure, ...rest } = this.form.getRawValue();
    const two = (n: number) => String(n).padStart(2, "0");
    const date = departure && `${departure.getFullYear()}-${two(departure.getMonth() + 1)}-${two(departure.getDate())}`;
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ...rest, departure: date }) });
    this.bar.open(answer.ok ? "Your trip is booked" : "The trip could not be booked", "OK", { duration: 5000 });
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-coach"));
bootstrapApplication(Coach, { providers: [provideNativeDateAdapter()] });
