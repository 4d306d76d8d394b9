import "@angular/compiler";
import { LiveAnnouncer } from "@angular/cdk/a11y";
import { Component, computed, inject, signal } from "@angular/core";
import { FormControl, FormGroup, FormsModule, ReactiveFormsModule, Validators } from "@angular/forms";
import { MatAutocompleteModule, type MatAutocompleteSelectedEvent } from "@angular/material/autocomplete";
import { MatButtonModule } from "@angular/material/button";
import { MatCheckboxModule } from "@angular/material/checkbox";
import { MatChipsModule } from "@angular/material/chips";
import { provideNativeDateAdapter } from "@angular/material/core";
import { MatDatepickerModule } from "@angular/material/datepicker";
import { MatFormFieldModule } from "@angular/material/form-field";
import { MatInputModule } from "@angular/material/input";
import { MatRadioModule } from "@angular/material/radio";
import { MatSelectModule } from "@angular/material/select";
import { MatSlideToggleModule } from "@angular/material/slide-toggle";
import { MatTimepickerModule } from "@angular/material/timepicker";
import { bootstrapApplication } from "@angular/platform-browser";
import "../../node_modules/@angular/material/prebuilt-themes/indigo-pink.css";

const pad = (n: number) => String(n).padStart(2, "0");

@Component({
  selector: "app-enrol",
  imports: [FormsModule, MatAutocompleteModule, MatButtonModule, MatCheckboxModule, MatChipsModule, MatDatepickerModule, MatFormFieldModule, MatInputModule, MatRadioModule, MatSelectModule, MatSlideToggleModule, MatTimepickerModule, ReactiveFormsModule],
  template: `
    <h2>Course enrolment</h2>
    @if (banner(); as text) { <div role="alert">{{ text }}</div> }
    <form [formGroup]="form" (ngSubmit)="submit()" style="display:flex;flex-direction:column;width:460px">
      <mat-form-field appearance="outline"><mat-label>Participant</mat-label><input matInput formControlName="participant" />@if (form.controls.participant.hasError('required')) { <mat-error>Participant is <strong>required</strong></mat-error> }</mat-form-field>
      <mat-form-field appearance="outline">
        <mat-label>Course</mat-label>
        <mat-select formControlName="course">
          <mat-option>None</mat-option>
          @for (course of courses; track course.id) { <mat-option [value]="course.id">{{ course.title }}</mat-option> }
        </mat-select>
        <mat-error>Please choose a course</mat-error>
      </mat-form-field>
      <mat-form-field appearance="outline"><mat-label>First day</mat-label><input matInput [matDatepicker]="picker" formControlName="start" /><mat-hint>MM/DD/YYYY</mat-hint><mat-datepicker-toggle matIconSuffix [for]="picker" /><mat-datepicker #picker /><mat-error>Please choose a day</mat-error></mat-form-field>
      <mat-form-field appearance="outline"><mat-label>Lessons begin at</mat-label><input matInput [matTimepicker]="clock" formControlName="time" /><mat-timepicker-toggle matIconSuffix [for]="clock" /><mat-timepicker #clock /></mat-form-field>
      <mat-form-field appearance="outline">
        <mat-label>Interests</mat-label>
        <mat-chip-grid #chipGrid aria-label="Interest selection">
          @for (item of interests(); track $index) { <mat-chip-row (removed)="remove(item)">{{ item }}<button matChipRemove type="button" [attr.aria-label]="'remove ' + item">×</button></mat-chip-row> }
        </mat-chip-grid>
        <input name="currentInterest" placeholder="New interest..." #interestInput [value]="current()" (input)="current.set(interestInput.value)" [matChipInputFor]="chipGrid" [matAutocomplete]="auto" />
        <mat-autocomplete #auto="matAutocomplete" (optionSelected)="selected($event); interestInput.value = ''">
          @for (item of filtered(); track item) { <mat-option [value]="item">{{ item }}</mat-option> }
        </mat-autocomplete>
      </mat-form-field>
      <label id="level-label">Previous knowledge</label>
      <mat-radio-group aria-labelledby="level-label" formControlName="level">
        @for (level of levels; track level) { <mat-radio-button [value]="level">{{ level }}</mat-radio-button> }
      </mat-radio-group>
      <mat-slide-toggle formControlName="certificate">I need a certificate</mat-slide-toggle>
      <mat-form-field appearance="outline"><mat-label>Comment</mat-label><textarea matInput cdkTextareaAutosize formControlName="comment"></textarea></mat-form-field>
      <button mat-raised-button color="primary" type="submit">Enrol</button>
    </form>`,
})
class Enrol {
  readonly announcer = inject(LiveAnnouncer);
  readonly courses = [{ id: "C-100", title: "Photography" }, { id: "C-210", title: "Pottery" }, { id: "C-305", title: "Spanish for travellers" }, { id: "C-411", title: "Yoga" }];
  readonly levels = ["Beginner", "Some experience", "Advanced"];
  readonly all = ["Art", "Cooking", "History", "Languages", "Music", "Sports"];
  readonly banner = signal("");
  readonly current = signal("");
  readonly interests = signal<string[]>([]);
  readonly filtered = computed(() => this.all.filter((item) => !this.interests().includes(item) && item.toLowerCase().includes(this.current().toLowerCase())));
  form = new FormGroup({
    participant: new FormControl("", Validators.required),
    course: new FormControl<string | null>(null, Validators.required),
    start: new FormControl<Date | null>(null, Validators.required),
    time: new FormControl<Date | null>(null),
    level: new FormControl<string | null>(null),
    certificate: new FormControl(false),
    comment: new FormControl(""),
  });
  remove(item: string) {
    this.interests.update((items) => items.filter((one) => one !== item));
    this.announcer.announce(`removed ${item}`);
  }
  selected(event: MatAutocompleteSelectedEvent) {
    this.interests.update((items) => [...items, event.option.viewValue]);
    this.current.set("");
    event.option.deselect();
  }
  async submit() {
    if (this.form.invalid) return;
    const { start, time, ...rest } = this.form.getRawValue();
    const body = { ...rest, interests: this.interests(), start: start && `${start.getFullYear()}-${pad(start.getMonth() + 1)}-${pad(start.getDate())}`, time: time && `${pad(time.getHours())}:${pad(time.getMinutes())}` };
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    this.banner.set(answer.ok ? `Welcome! ${this.form.value.participant} is enrolled.` : "We could not enrol you.");
  }
}
document.querySelector("#app")?.append(document.createElement("app-enrol"));
bootstrapApplication(Enrol, { providers: [provideNativeDateAdapter()] });
