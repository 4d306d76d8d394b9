import "@angular/localize/init";
import "@angular/compiler";
import "bootstrap/dist/css/bootstrap.css";
import { ChangeDetectorRef, Component, inject } from "@angular/core";
import { FormsModule } from "@angular/forms";
import { bootstrapApplication } from "@angular/platform-browser";
import { NgbDatepickerModule, NgbRatingModule, NgbTimepickerModule, NgbTypeaheadModule } from "@ng-bootstrap/ng-bootstrap";
import { NgxMaskDirective, provideNgxMask } from "ngx-mask";
import { debounceTime, map } from "rxjs";

@Component({
  selector: "app-trial",
  imports: [FormsModule, NgbDatepickerModule, NgbRatingModule, NgbTimepickerModule, NgbTypeaheadModule, NgxMaskDirective],
  template: `
    <form (ngSubmit)="send()" style="width:460px;margin:32px" novalidate>
      @if (note) { <div class="alert alert-info" role="alert">{{ note }}</div> }
      <div class="mb-3"><label class="form-label" for="cyclist">Cyclist</label><input class="form-control" id="cyclist" name="cyclist" [(ngModel)]="v.cyclist"></div>
      <div class="mb-3"><label class="form-label" for="bike">Bicycle</label><input class="form-control" id="bike" name="bike" [(ngModel)]="v.bike" [ngbTypeahead]="search" [editable]="false" [inputFormatter]="say" [resultFormatter]="say"></div>
      <div class="mb-3"><label class="form-label" for="day">Day of the ride</label><div class="input-group"><input class="form-control" id="day" name="day" placeholder="yyyy-mm-dd" [(ngModel)]="v.day" ngbDatepicker #d="ngbDatepicker"><button class="btn btn-outline-secondary" (click)="d.toggle()" type="button">▾</button></div></div>
      <div class="mb-3"><span class="form-label">Pick-up time</span><ngb-timepicker name="time" [(ngModel)]="v.time" [minuteStep]="5"></ngb-timepicker></div>
      <div class="mb-3"><label class="form-label" for="phone">Mobile</label><input class="form-control" id="phone" name="phone" mask="(000) 000-0000" [(ngModel)]="v.phone"></div>
      <div class="mb-3"><label class="form-label">How fit are you</label> <ngb-rating name="fit" [(ngModel)]="v.fit" [max]="5"></ngb-rating></div>
      <div class="mb-3"><label class="form-label" for="size">Frame size</label><select class="form-select" id="size" name="size" [(ngModel)]="v.size"><option value="">Choose</option>@for (s of sizes; track s.id) { <option [value]="s.id">{{ s.name }}</option> }</select></div>
      <div class="btn-group mb-3" role="group" aria-label="Terrain">@for (t of terrains; track t) { <input type="radio" class="btn-check" name="terrain" [id]="t" [value]="t.toLowerCase()" [(ngModel)]="v.terrain"><label class="btn btn-outline-primary" [for]="t">{{ t }}</label> }</div>
      <div class="form-check form-switch mb-3"><input class="form-check-input" type="checkbox" role="switch" id="lights" name="lights" [(ngModel)]="v.lights"><label class="form-check-label" for="lights">Lights needed</label></div>
      <button class="btn btn-primary">Book trial</button>
    </form>`,
})
class Trial {
  private readonly changes = inject(ChangeDetectorRef);
  note = "";
  sizes = [{ id: "48", name: "Small" }, { id: "54", name: "Medium" }, { id: "60", name: "Tall" }];
  terrains = ["Road", "Gravel", "Forest"];
  v = { cyclist: "", bike: null as null | { id: number; name: string }, day: null as null | { year: number; month: number; day: number }, time: { hour: 9, minute: 0 }, phone: "", fit: 0, size: "", terrain: "", lights: false };
  bikes = [{ id: 11, name: "Swift tourer" }, { id: 12, name: "Cargo mule" }, { id: 13, name: "Swan racer" }, { id: 14, name: "Folding wren" }];
  say = (bike: { name: string }) => bike.name;
  search = (text: any) => text.pipe(debounceTime(150), map((term: string) => (term.length < 2 ? [] : this.bikes.filter((bike) => bike.name.toLowerCase().includes(term.toLowerCase())))));
  async send() {
    const { day, time } = this.v;
    const two = (n: number) => String(n).padStart(2, "0");
    const ride = { cyclist: this.v.cyclist, bike: this.v.bike?.id ?? null, day: day ? `${day.year}-${two(day.month)}-${two(day.day)}` : null, time: time ? `${two(time.hour)}:${two(time.minute)}:00` : null, phone: this.v.phone, fit: this.v.fit, size: this.v.size, terrain: this.v.terrain, lights: this.v.lights };
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ride }) });
    this.note = answer.ok ? "See you at the trial" : "We need your name and a bicycle";
    this.changes.markForCheck();
  }
}
document.querySelector("#app")?.append(document.createElement("app-trial"));
bootstrapApplication(Trial, { providers: [provideNgxMask()] });
