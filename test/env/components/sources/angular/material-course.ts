import "@angular/compiler";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormBuilder, ReactiveFormsModule, Validators } from "@angular/forms";
import { MatButtonModule } from "@angular/material/button";
import { MatCardModule } from "@angular/material/card";
import { MatCheckboxModule } from "@angular/material/checkbox";
import { provideNativeDateAdapter } from "@angular/material/core";
import { MatDatepickerModule } from "@angular/material/datepicker";
import { MatFormFieldModule } from "@angular/material/form-field";
import { MatInputModule } from "@angular/material/input";
import { MatRadioModule } from "@angular/material/radio";
import { MatSelectModule } from "@angular/material/select";
import { MatSlideToggleModule } from "@angular/material/slide-toggle";
import { bootstrapApplication } from "@angular/platform-browser";
import "../../node_modules/@angular/material/prebuilt-themes/indigo-pink.css";

@Component({
  selector: "app-course",
  imports: [MatButtonModule, MatCardModule, MatCheckboxModule, MatDatepickerModule, MatFormFieldModule, MatInputModule, MatRadioModule, MatSelectModule, MatSlideToggleModule, ReactiveFormsModule],
  styles: `
    mat-card { max-width: 520px; margin: 24px; }
    mat-form-field { width: 100%; }
    .row { margin-bottom: 16px; }
  `,
  template: `
    <mat-card appearance="outlined">
      <mat-card-header><mat-card-title>Course registration</mat-card-title></mat-card-header>
      <mat-card-content>
        @if (success) { <p class="success" role="status">You are registered. See you soon!</p> }
        @if (error) { <p class="error" role="alert">{{ error }}</p> }
        <form [formGroup]="form" (ngSubmit)="onSubmit()">
          <mat-form-field appearance="outline">
            <mat-label>Full name</mat-label>
            <input matInput formControlName="fullName" />
            @if (form.controls.fullName.hasError('required')) { <mat-error>Full name is required</mat-error> }
          </mat-form-field>
          <mat-form-field appearance="outline">
            <mat-label>Email</mat-label>
            <input matInput type="email" formControlName="email" />
            @if (form.controls.email.hasError('email')) { <mat-error>Please enter a valid email address</mat-error> }
            @if (form.controls.email.hasError('required')) { <mat-error>Email is required</mat-error> }
          </mat-form-field>
          <mat-form-field appearance="outline">
            <mat-label>Date of birth</mat-label>
            <input matInput [matDatepicker]="picker" formControlName="birthday" />
            <mat-hint>MM/DD/YYYY</mat-hint>
            <mat-datepicker-toggle matIconSuffix [for]="picker" />
            <mat-datepicker #picker startView="multi-year" />
          </mat-form-field>
          <mat-form-field appearance="outline">
            <mat-label>Course</mat-label>
            <mat-select formControlName="course">
              @for (course of courses; track course.id) { <mat-option [value]="course.id">{{ course.title }}</mat-option> }
            </mat-select>
            @if (form.controls.course.hasError('required')) { <mat-error>Please choose a course</mat-error> }
          </mat-form-field>
          <mat-form-field appearance="outline">
            <mat-label>Days that suit you</mat-label>
            <mat-select formControlName="days" multiple>
              @for (day of days; track day) { <mat-option [value]="day">{{ day }}</mat-option> }
            </mat-select>
          </mat-form-field>
          <div class="row">
            <label id="level-label">Your level</label>
            <mat-radio-group aria-labelledby="level-label" formControlName="level">
              <mat-radio-button value="BEGINNER">Beginner</mat-radio-button>
              <mat-radio-button value="INTERMEDIATE">Intermediate</mat-radio-button>
              <mat-radio-button value="ADVANCED">Advanced</mat-radio-button>
            </mat-radio-group>
          </div>
          <div class="row"><mat-slide-toggle formControlName="material">I need the course book</mat-slide-toggle></div>
          <mat-form-field appearance="outline">
            <mat-label>Comments</mat-label>
            <textarea matInput rows="3" formControlName="comments"></textarea>
          </mat-form-field>
          <button mat-flat-button color="primary" type="submit">Register</button>
        </form>
      </mat-card-content>
    </mat-card>`,
})
class Course {
  private readonly fb = inject(FormBuilder);
  private readonly changes = inject(ChangeDetectorRef);
  courses = [
    { id: 1, title: "Watercolour painting" },
    { id: 2, title: "Spanish conversation" },
    { id: 3, title: "Home bookkeeping" },
    { id: 4, title: "Woodworking" },
  ];
  days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
  success = false;
  error = "";
  form = this.fb.group({
    fullName: ["", Validators.required],
    email: ["", [Validators.required, Validators.email]],
    birthday: [null as Date | null],
    course: [null as number | null, Validators.required],
    days: [[] as string[]],
    level: ["BEGINNER"],
    material: [false],
    comments: [""],
  });
  async onSubmit() {
    if (this.form.invalid) return;
    const { birthday, course, ...value } = this.form.getRawValue();
    const pad = (n: number) => String(n).padStart(2, "0");
    const born = birthday && `${birthday.getFullYear()}-${pad(birthday.getMonth() + 1)}-${pad(birthday.getDate())}`;
    const response = await fetch(`${location.pathname}/send`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ participant: { ...value, birthday: born }, courseId: course }),
    });
    this.success = response.ok;
    this.error = response.ok ? "" : "The registration failed. Please try again.";
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-course"));
bootstrapApplication(Course, { providers: [provideNativeDateAdapter()] });
