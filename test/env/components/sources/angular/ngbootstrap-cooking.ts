import "@angular/localize/init";
import "@angular/compiler";
import "bootstrap/dist/css/bootstrap.css";
import { Component, Injectable, inject, signal, ViewChild } from "@angular/core";
import { FormBuilder, FormControl, ReactiveFormsModule, Validators } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import { NgbAlertModule, NgbDateParserFormatter, NgbDatepickerModule, type NgbDateStruct, NgbTimepickerModule, type NgbTimeStruct, NgbTypeahead, NgbTypeaheadModule } from "@ng-bootstrap/ng-bootstrap";
import { debounceTime, distinctUntilChanged, filter, map, merge, type Observable, Subject } from "rxjs";

const two = (n: number) => String(n).padStart(2, "0");

@Injectable()
class GermanDate extends NgbDateParserFormatter {
  parse(value: string): NgbDateStruct | null {
    const [day, month, year] = value.split(".").map((part) => Number.parseInt(part, 10));
    return day && month && year ? { day, month, year } : null;
  }
  format(date: NgbDateStruct | null): string {
    return date ? `${two(date.day)}.${two(date.month)}.${date.year}` : "";
  }
}

const COURSES = ["Asian street food", "Bread and rolls", "Fresh pasta", "Sushi for beginners", "Vegan desserts"];

@Component({
  selector: "app-cooking",
  imports: [NgbAlertModule, NgbDatepickerModule, NgbTimepickerModule, NgbTypeaheadModule, ReactiveFormsModule],
  template: `
    <div class="container py-4" style="max-width: 560px">
      <h1 class="h3">Cooking school</h1>
      @if (message(); as m) { <ngb-alert [type]="m.type" (closed)="message.set(null)">{{ m.text }}</ngb-alert> }
      <form [formGroup]="form" (ngSubmit)="onSubmit()" novalidate>
        <div class="mb-3">
          <label for="name" class="form-label">Your name</label>
          <input id="name" class="form-control" formControlName="name" [class.is-invalid]="bad('name')" />
          <div class="invalid-feedback">Please enter your name.</div>
        </div>
        <div class="mb-3">
          <label for="email" class="form-label">E-mail</label>
          <input id="email" type="email" class="form-control" formControlName="email" [class.is-invalid]="bad('email')" />
          <div class="invalid-feedback">Please enter a valid address.</div>
        </div>
        <div class="mb-3">
          <label for="course" class="form-label">Course</label>
          <input id="course" class="form-control" formControlName="course" [class.is-invalid]="bad('course')" [ngbTypeahead]="search" [editable]="false" (focus)="focus$.next($any($event).target.value)" (click)="click$.next($any($event).target.value)" #instance="ngbTypeahead" />
          <div class="invalid-feedback">Please choose a course from the list.</div>
        </div>
        <div class="row mb-3">
          <div class="col-7">
            <label for="date" class="form-label">Date</label>
            <div class="input-group">
              <input id="date" class="form-control" placeholder="dd.mm.yyyy" formControlName="date" ngbDatepicker #d="ngbDatepicker" />
              <button class="btn btn-outline-secondary" type="button" aria-label="Open the calendar" (click)="d.toggle()">📅</button>
            </div>
          </div>
          <div class="col-5"><span class="form-label">Start</span><ngb-timepicker formControlName="start" [minuteStep]="15" /></div>
        </div>
        <div class="mb-3">
          <label for="places" class="form-label">Number of places: {{ form.value.places }}</label>
          <input id="places" type="range" class="form-range" min="1" max="12" formControlName="places" />
        </div>
        <fieldset class="mb-3" formGroupName="diet">
          <legend class="fs-6">Diet</legend>
          @for (item of diets; track item.key) {
            <div class="form-check form-check-inline"><input class="form-check-input" type="checkbox" [id]="item.key" [formControlName]="item.key" /><label class="form-check-label" [for]="item.key">{{ item.label }}</label></div>
          }
        </fieldset>
        <fieldset class="mb-3">
          <legend class="fs-6">Payment</legend>
          @for (item of payments; track item.value) {
            <div class="form-check"><input class="form-check-input" type="radio" formControlName="payment" [id]="item.value" [value]="item.value" /><label class="form-check-label" [for]="item.value">{{ item.label }}</label></div>
          }
        </fieldset>
        <button type="submit" class="btn btn-primary">Book course</button>
      </form>
    </div>`,
})
class Cooking {
  @ViewChild("instance", { static: true }) instance!: NgbTypeahead;
  readonly focus$ = new Subject<string>();
  readonly click$ = new Subject<string>();
  readonly message = signal<{ type: string; text: string } | null>(null);
  readonly diets = [{ key: "vegetarian", label: "Vegetarian" }, { key: "gluten", label: "Gluten free" }, { key: "lactose", label: "Lactose free" }];
  readonly payments = [{ value: "transfer", label: "Bank transfer" }, { value: "paypal", label: "PayPal" }, { value: "voucher", label: "Voucher" }];
  private readonly fb = inject(FormBuilder);
  readonly form = this.fb.group({
    name: ["", Validators.required],
    email: ["", [Validators.required, Validators.email]],
    course: ["", Validators.required],
    date: new FormControl<NgbDateStruct | null>(null),
    start: new FormControl<NgbTimeStruct>({ hour: 18, minute: 0, second: 0 }),
    places: [2],
    diet: this.fb.group({ vegetarian: false, gluten: false, lactose: false }),
    payment: [""],
  });
  readonly search = (text$: Observable<string>) => {
    const typed = text$.pipe(debounceTime(200), distinctUntilChanged());
    const clicked = this.click$.pipe(filter(() => !this.instance.isPopupOpen()));
    return merge(typed, this.focus$, clicked).pipe(map((term) => COURSES.filter((course) => course.toLowerCase().includes(term.toLowerCase()))));
  };
  bad(name: string) {
    const control = this.form.get(name);
    return control?.invalid === true && control.touched;
  }
  async onSubmit() {
    this.form.markAllAsTouched();
    if (this.form.invalid) return;
    const { date, start, diet, ...rest } = this.form.getRawValue();
    const body = new URLSearchParams();
    for (const [key, value] of Object.entries(rest)) body.set(key, String(value));
    body.set("date", date ? `${date.year}-${two(date.month)}-${two(date.day)}` : "");
    body.set("start", start ? `${two(start.hour)}:${two(start.minute)}` : "");
    for (const [key, on] of Object.entries(diet)) if (on) body.append("diet[]", key);
    const { success, message } = await (await fetch(`${location.pathname}/send`, { method: "POST", body })).json();
    this.message.set({ type: success ? "success" : "danger", text: message });
    if (success) this.form.reset({ start: { hour: 18, minute: 0, second: 0 }, places: 2 });
  }
}
document.querySelector("#app")?.append(document.createElement("app-cooking"));
bootstrapApplication(Cooking, { providers: [{ provide: NgbDateParserFormatter, useClass: GermanDate }] });
