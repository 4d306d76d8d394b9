import "@angular/compiler";
import { Component } from "@angular/core";
import { FormsModule } from "@angular/forms";
import { MatAutocompleteModule } from "@angular/material/autocomplete";
import { MatButtonModule } from "@angular/material/button";
import { MatButtonToggleModule } from "@angular/material/button-toggle";
import { MatCheckboxModule } from "@angular/material/checkbox";
import { provideNativeDateAdapter } from "@angular/material/core";
import { MatDatepickerModule } from "@angular/material/datepicker";
import { MatInputModule } from "@angular/material/input";
import { MatRadioModule } from "@angular/material/radio";
import { MatSelectModule } from "@angular/material/select";
import { MatSliderModule } from "@angular/material/slider";
import { MatSlideToggleModule } from "@angular/material/slide-toggle";
import "../../node_modules/@angular/material/prebuilt-themes/azure-blue.css";
import { bootstrapApplication } from "@angular/platform-browser";

const two = (n: number) => String(n).padStart(2, "0");

@Component({
  selector: "app-clinic",
  imports: [FormsModule, MatAutocompleteModule, MatButtonModule, MatButtonToggleModule, MatCheckboxModule, MatDatepickerModule, MatInputModule, MatRadioModule, MatSelectModule, MatSliderModule, MatSlideToggleModule],
  template: `
    <form #f="ngForm" (ngSubmit)="send(f.valid)" style="display:grid;gap:12px;width:420px;margin:32px">
      @if (note) { <p role="status">{{ note }}</p> }
      <mat-form-field><mat-label>Pet</mat-label><input matInput name="pet" required [(ngModel)]="v.pet"><mat-error>Who is ill?</mat-error></mat-form-field>
      <mat-form-field><mat-label>Animal</mat-label><mat-select name="animal" [(ngModel)]="v.animal"><mat-option value="c">Cat</mat-option><mat-option value="d">Dog</mat-option><mat-option value="r">Rabbit</mat-option></mat-select></mat-form-field>
      <mat-form-field><mat-label>Vaccines</mat-label><mat-select name="vaccines" multiple [(ngModel)]="v.vaccines"><mat-option value="rab">Rabies</mat-option><mat-option value="par">Parvo</mat-option><mat-option value="flu">Flu</mat-option><mat-option value="lep">Lepto</mat-option></mat-select></mat-form-field>
      <mat-form-field><mat-label>Preferred day</mat-label><input matInput name="day" [matDatepicker]="p" [(ngModel)]="v.day"><mat-datepicker-toggle matIconSuffix [for]="p" /><mat-datepicker #p /></mat-form-field>
      <mat-form-field><mat-label>Breed</mat-label><input matInput name="breed" [matAutocomplete]="a" [(ngModel)]="v.breed"><mat-autocomplete #a>@for (b of breeds; track b) { <mat-option [value]="b">{{ b }}</mat-option> }</mat-autocomplete></mat-form-field>
      <div><label id="who">Vet</label><mat-radio-group name="vet" aria-labelledby="who" [(ngModel)]="v.vet"><mat-radio-button value="1">Dr Moss</mat-radio-button><mat-radio-button value="2">Dr Reed</mat-radio-button><mat-radio-button value="3">Anyone</mat-radio-button></mat-radio-group></div>
      <div><span id="sex">Sex</span><mat-button-toggle-group name="sex" aria-labelledby="sex" [(ngModel)]="v.sex"><mat-button-toggle value="f">Female</mat-button-toggle><mat-button-toggle value="m">Male</mat-button-toggle><mat-button-toggle value="u">Unknown</mat-button-toggle></mat-button-toggle-group></div>
      <div><label>Weight in kg</label><mat-slider min="1" max="60"><input matSliderThumb aria-label="Weight in kg" name="weight" [(ngModel)]="v.weight"></mat-slider></div>
      <mat-slide-toggle name="home" [(ngModel)]="v.home">House call</mat-slide-toggle>
      <mat-checkbox name="first" [(ngModel)]="v.first">First visit</mat-checkbox>
      <button mat-flat-button>Ask for a visit</button>
    </form>`,
})
class Clinic {
  breeds = ["Beagle", "Siamese", "Angora", "Mixed"];
  note = "";
  v = { pet: "", animal: "", vaccines: [] as string[], day: null as Date | null, breed: "", vet: "", sex: "", weight: 1, home: false, first: false };
  async send(valid: boolean | null) {
    if (valid !== true) return;
    const { day } = this.v;
    const body = { ...this.v, day: day && `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}` };
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    this.note = answer.ok ? "We will call you" : "The visit was not asked for";
    changed?.();
  }
}
let changed: (() => void) | undefined;
document.querySelector("#app")?.append(document.createElement("app-clinic"));
bootstrapApplication(Clinic, { providers: [provideNativeDateAdapter()] }).then((app) => {
  changed = () => app.components[0]?.changeDetectorRef.markForCheck();
});
