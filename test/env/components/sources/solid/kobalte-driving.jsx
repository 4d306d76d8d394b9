import { Checkbox } from "@kobalte/core/checkbox";
import { Rating } from "@kobalte/core/rating";
import { Select } from "@kobalte/core/select";
import { Slider } from "@kobalte/core/slider";
import { TextField } from "@kobalte/core/text-field";
import { TimeField } from "@kobalte/core/time-field";
import { createForm, required, setValue } from "@modular-forms/solid";
import { createSignal, For, Match, Show, Switch } from "solid-js";
import { render } from "solid-js/web";

const STYLE = `
  form { display: grid; gap: 18px; width: 440px; margin: 32px; font-family: sans-serif }
  .field { display: grid; gap: 4px }
  .error { color: #b00020; font-size: 14px }
  .list { background: #fff; border: 1px solid #999; list-style: none; padding: 4px; margin: 0; max-height: 260px; overflow: auto }
  .list [data-highlighted] { background: #e6eefc }
  .time { display: flex; width: 90px; border: 1px solid #777; padding: 4px }
  .stars { display: flex; gap: 4px; font-size: 24px; cursor: pointer; color: #bbb }
  .stars [data-highlighted] { color: #e0a100 }
  .track { position: relative; height: 6px; margin: 8px 9px; background: #ccc }
  .fill { position: absolute; height: 100%; background: #2457c5 }
  .thumb { display: block; width: 18px; height: 18px; top: -6px; border-radius: 9px; background: #2457c5 }
  .check { display: flex; gap: 8px; align-items: center }
  .box { width: 18px; height: 18px; border: 1px solid #555; line-height: 18px; text-align: center }`;

const INSTRUCTORS = [
  { town: "Ballard office", people: [{ id: "T-11", name: "Grace Hopkins" }, { id: "T-12", name: "Omar Haddad" }] },
  { town: "Fremont office", people: [{ id: "T-21", name: "Petra Novak" }, { id: "T-22", name: "Sam Whitfield" }] },
];
const TOPICS = ["Motorway", "Night driving", "Parking", "Roundabouts", "Winter roads"];

const QUERY = "mutation BookLessons($lesson: LessonInput!) { bookLessons(lesson: $lesson) { id } }";
const two = (n) => String(n ?? 0).padStart(2, "0");

function Driving() {
  const [lessonForm, { Form, Field }] = createForm({ initialValues: { pupil: "", instructor: "", day: "", pickup: "", topics: [], lessons: 4, confidence: 0, automatic: false } });
  const [instructor, setInstructor] = createSignal(null);
  const [pickup, setPickup] = createSignal();
  const [state, setState] = createSignal("");
  const set = (name, value) => setValue(lessonForm, name, value);

  async function submit({ pupil, instructor, day, pickup, topics, lessons, confidence, automatic }) {
    const lesson = { pupil, instructorId: instructor, firstDay: day || null, pickupAt: pickup || null, topics, count: lessons, confidence, automatic };
    const answer = await fetch(`${location.pathname}/send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query: QUERY, variables: { lesson } }) });
    const { errors } = await answer.json();
    setState(errors ? errors[0].message : "booked");
  }

  return (
    <Switch>
      <Match when={state() === "booked"}><h2>Your lessons are booked</h2></Match>
      <Match when={true}>
        <style>{STYLE}</style>
        <Form onSubmit={submit}>
          <h1>Driving lessons</h1>
          <Show when={state()}><p class="error" role="alert">{state()}</p></Show>
          <Field name="pupil" validate={required("Please enter your name.")}>
            {(field, props) => (
              <TextField class="field" name={field.name} value={field.value} validationState={field.error ? "invalid" : "valid"}>
                <TextField.Label>Pupil</TextField.Label>
                <TextField.Input {...props} type="text" />
                <TextField.ErrorMessage class="error">{field.error}</TextField.ErrorMessage>
              </TextField>
            )}
          </Field>
          <Field name="instructor" validate={required("Please choose an instructor.")}>
            {(field) => (
              <Select
                class="field"
                options={INSTRUCTORS}
                optionValue="id"
                optionTextValue="name"
                optionGroupChildren="people"
                placeholder="Select an instructor"
                value={instructor()}
                onChange={(person) => { setInstructor(person); set("instructor", person?.id ?? ""); }}
                validationState={field.error ? "invalid" : "valid"}
                itemComponent={(props) => <Select.Item item={props.item}><Select.ItemLabel>{props.item.rawValue.name}</Select.ItemLabel><Select.ItemIndicator>✓</Select.ItemIndicator></Select.Item>}
                sectionComponent={(props) => <Select.Section><b>{props.section.rawValue.town}</b></Select.Section>}
              >
                <Select.Label>Instructor</Select.Label>
                <Select.Trigger><Select.Value>{(selected) => selected.selectedOption().name}</Select.Value> <Select.Icon>▾</Select.Icon></Select.Trigger>
                <Select.ErrorMessage class="error">{field.error}</Select.ErrorMessage>
                <Select.Portal><Select.Content><Select.Listbox class="list" /></Select.Content></Select.Portal>
              </Select>
            )}
          </Field>
          <Field name="day">
            {(field, props) => <TextField class="field" name={field.name} value={field.value}><TextField.Label>First lesson</TextField.Label><TextField.Input {...props} type="date" /></TextField>}
          </Field>
          <Field name="pickup">
            {() => (
              <TimeField class="field" value={pickup()} hourCycle={24} forceLeadingZeros onChange={(time) => { setPickup(time); set("pickup", `${two(time.hour)}:${two(time.minute)}`); }}>
                <TimeField.Label>Pick me up at</TimeField.Label>
                <TimeField.Input class="time">{(segment) => <TimeField.Segment segment={segment()} />}</TimeField.Input>
              </TimeField>
            )}
          </Field>
          <Field name="topics" type="string[]">
            {(field) => (
              <Select multiple class="field" options={TOPICS} value={field.value} onChange={(topics) => set("topics", topics)} placeholder="Nothing special" itemComponent={(props) => <Select.Item item={props.item}><Select.ItemLabel>{props.item.rawValue}</Select.ItemLabel><Select.ItemIndicator>✓</Select.ItemIndicator></Select.Item>}>
                <Select.Label>Topics to practise</Select.Label>
                <Select.Trigger><Select.Value>{(selected) => selected.selectedOptions().join(", ")}</Select.Value> <Select.Icon>▾</Select.Icon></Select.Trigger>
                <Select.Portal><Select.Content><Select.Listbox class="list" /></Select.Content></Select.Portal>
              </Select>
            )}
          </Field>
          <Field name="lessons" type="number">
            {(field) => (
              <Slider class="field" minValue={1} maxValue={20} value={[field.value]} onChange={([count]) => set("lessons", count)}>
                <Slider.Label>Number of lessons</Slider.Label>
                <Slider.ValueLabel />
                <Slider.Track class="track"><Slider.Fill class="fill" /><Slider.Thumb class="thumb"><Slider.Input /></Slider.Thumb></Slider.Track>
              </Slider>
            )}
          </Field>
          <Field name="confidence" type="number">
            {(field) => (
              <Rating class="field" value={field.value} onChange={(stars) => set("confidence", stars)}>
                <Rating.Label>How sure do you feel?</Rating.Label>
                <Rating.Control class="stars"><For each={[1, 2, 3, 4, 5]}>{() => <Rating.Item><Rating.ItemControl>★</Rating.ItemControl></Rating.Item>}</For></Rating.Control>
              </Rating>
            )}
          </Field>
          <Field name="automatic" type="boolean">
            {(field) => (
              <Checkbox class="check" checked={field.value} onChange={(on) => set("automatic", on)}>
                <Checkbox.Input />
                <Checkbox.Control class="box"><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Control>
                <Checkbox.Label>I drive automatic only</Checkbox.Label>
              </Checkbox>
            )}
          </Field>
          <button type="submit" disabled={lessonForm.submitting}>Book lessons</button>
        </Form>
      </Match>
    </Switch>
  );
}
render(() => <Driving />, document.getElementById("app"));
