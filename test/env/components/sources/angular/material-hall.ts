import "@angular/compiler";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormBuilder, ReactiveFormsModule, Validators } from "@angular/forms";
import { MatButtonModule } from "@angular/material/button";
import { MatCheckboxModule } from "@angular/material/checkbox";
import { type MatChipInputEvent, MatChipsModule } from "@angular/material/chips";
import { provideNativeDateAdapter } from "@angular/material/core";
import { MatDatepickerModule } from "@angular/material/datepicker";
import { MatInputModule } from "@angular/material/input";
import { MatListModule } from "@angular/material/list";
import { MatSelectModule } from "@angular/material/select";
import { MatSnackBar, MatSnackBarModule } from "@angular/material/snack-bar";
import { MatStepperModule } from "@angular/material/stepper";
import { MatTimepickerModule } from "@angular/material/timepicker";
import { bootstrapApplication } from "@angular/platform-browser";
import "../../node_modules/@angular/material/prebuilt-themes/azure-blue.css";

const two = (n: number) => String(n).padStart(2, "0");
const iso = (date: Date | null | undefined) => date && `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

@Component({
  selector: "app-hall",
  imports: [MatButtonModule, MatCheckboxModule, MatChipsModule, MatDatepickerModule, MatInputModule, MatListModule, MatSelectModule, MatSnackBarModule, MatStepperModule, MatTimepickerModule, ReactiveFormsModule],
  template: `
    <mat-stepper linear #stepper style="width:620px;margin:32px">
      <mat-step [stepControl]="what" label="The event"><form [formGroup]="what" style="display:grid;gap:8px">
        <mat-form-field><mat-label>Organiser</mat-label><input matInput formControlName="organiser" /><mat-error>Who organises it?</mat-error></mat-form-field>
        <mat-form-field><mat-label>Room</mat-label><mat-select formControlName="room">@for (group of rooms; track group.name) { <mat-optgroup [label]="group.name">@for (room of group.rooms; track room.id) { <mat-option [value]="room.id">{{ room.name }}</mat-option> }</mat-optgroup> }</mat-select><mat-hint>All rooms have a screen</mat-hint></mat-form-field>
        <mat-form-field><mat-label>Guests</mat-label><input matInput type="number" min="1" formControlName="guests" /><span matTextSuffix>&nbsp;persons</span></mat-form-field>
        <mat-form-field><mat-label>Keywords</mat-label><mat-chip-grid #grid formControlName="keywords">@for (word of words(); track word) { <mat-chip-row (removed)="drop(word)">{{ word }}<button matChipRemove type="button" [attr.aria-label]="'remove ' + word">×</button></mat-chip-row> }</mat-chip-grid><input [matChipInputFor]="grid" [matChipInputAddOnBlur]="true" (matChipInputTokenEnd)="add($event)" /></mat-form-field>
        <div><button mat-flat-button type="button" matStepperNext>Continue</button></div>
      </form></mat-step>
      <mat-step [stepControl]="when" label="The booking"><form [formGroup]="when" (ngSubmit)="send()" style="display:grid;gap:8px">
        <mat-form-field><mat-label>Period</mat-label><mat-date-range-input [rangePicker]="picker"><input matStartDate formControlName="from" placeholder="Start" /><input matEndDate formControlName="to" placeholder="End" /></mat-date-range-input><mat-datepicker-toggle matIconSuffix [for]="picker" /><mat-date-range-picker #picker /></mat-form-field>
        <mat-form-field><mat-label>Doors open at</mat-label><input matInput [matTimepicker]="clock" formControlName="doors" /><mat-timepicker-toggle matIconSuffix [for]="clock" /><mat-timepicker #clock interval="30min" /></mat-form-field>
        <p id="serv">Services</p><mat-selection-list aria-labelledby="serv" formControlName="services"><mat-list-option value="cat">Catering</mat-list-option><mat-list-option value="snd">Sound</mat-list-option><mat-list-option value="cln">Cleaning</mat-list-option><mat-list-option value="grd">Guards</mat-list-option></mat-selection-list>
        <mat-checkbox formControlName="ramp">A ramp is needed</mat-checkbox>
        <mat-form-field><mat-label>Message</mat-label><textarea matInput rows="2" formControlName="message"></textarea></mat-form-field>
        <div><button mat-button type="button" matStepperPrevious>Back</button><button mat-flat-button type="submit">Book the room</button></div>
      </form></mat-step>
    </mat-stepper>`,
})
class Hall {
  private readonly build = inject(FormBuilder);
  private readonly bar = inject(MatSnackBar);
  private readonly changes = inject(ChangeDetectorRef);
  rooms = [{ name: "Ground floor", rooms: [{ id: 101, name: "Garden room" }, { id: 102, name: "Library" }] }, { name: "Upper floor", rooms: [{ id: 201, name: "Ballroom" }, { id: 202, name: "Studio" }] }];
  what = this.build.group({ organiser: ["", Validators.required], room: [null as number | null, Validators.required], guests: [null as number | null], keywords: [[] as string[]] });
  when = this.build.group({ from: [null as Date | null, Validators.required], to: [null as Date | null, Validators.required], doors: [null as Date | null], services: [[] as string[]], ramp: [false], message: [""] });
  words = () => this.what.value.keywords ?? [];
  add(event: MatChipInputEvent) {
    const word = event.value.trim();
    if (word !== "") this.what.controls.keywords.setValue([...this.words(), word]);
    event.chipInput.clear();
  }
  drop(word: string) {
    this.what.controls.keywords.setValue(this.words().filter((item) => item !== word));
  }
  async send() {
    if (this.when.invalid) return;
    const { from, to, doors, ...rest } = this.when.getRawValue();
    const booking = { ...this.what.getRawValue(), ...rest, period: { from: iso(from), to: iso(to) }, doors: doors && `${two(doors.getHours())}:${two(doors.getMinutes())}` };
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ booking }) });
    this.bar.open(answer.ok ? "The room is booked" : "The room could not be booked", "Close");
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-hall"));
bootstrapApplication(Hall, { providers: [provideNativeDateAdapter()] });
