import "bootstrap/dist/css/bootstrap.min.css";
import "react-datepicker/dist/react-datepicker.css";
import { format } from "date-fns";
import { useCombobox, useMultipleSelection } from "downshift";
import { ErrorMessage, Field, Form as FormikForm, Formik } from "formik";
import { useEffect, useState } from "react";
import { Alert, Badge, Button, Card, CloseButton, Col, Form, Row, ToggleButton, ToggleButtonGroup } from "react-bootstrap";
import DatePicker from "react-datepicker";
import * as Yup from "yup";
import { SEND, start } from "./start.jsx";

const SUBJECTS = ["Biology", "Chemistry", "English", "French", "History", "Mathematics", "Physics"];

const schema = Yup.object({
  pupil: Yup.string().trim().required("Please enter the pupil's name"),
  school: Yup.string().nullable().required("Please choose a school"),
  subjects: Yup.array().min(1, "Please choose a subject"),
  day: Yup.date().nullable().required("Please choose a day"),
  time: Yup.date().nullable(),
});

const Problem = ({ name }) => <ErrorMessage name={name}>{(text) => <Form.Text className="text-danger">{text}</Form.Text>}</ErrorMessage>;

const Menu = ({ box, items }) => (
  <ul {...box.getMenuProps()} className="list-group position-absolute w-100 shadow-sm" style={{ zIndex: 5 }}>
    {box.isOpen && items.map((item, index) => <li key={item} className={`list-group-item ${box.highlightedIndex === index ? "active" : ""}`} {...box.getItemProps({ item, index })}>{item}</li>)}
  </ul>
);

function School({ value, onChange }) {
  const [items, setItems] = useState([]);
  const [query, setQuery] = useState("");
  useEffect(() => {
    if (query.length < 2) return setItems([]);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      fetch(`${location.pathname}/lookup?q=${encodeURIComponent(query)}`, { signal: abort.signal })
        .then((response) => response.json())
        .then(setItems)
        .catch(() => {});
    }, 250);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query]);
  const box = useCombobox({
    items,
    selectedItem: value,
    onInputValueChange: ({ inputValue }) => setQuery(inputValue),
    onSelectedItemChange: ({ selectedItem }) => onChange(selectedItem),
  });
  return (
    <Form.Group className="mb-3 position-relative">
      <Form.Label {...box.getLabelProps()}>School</Form.Label>
      <Form.Control placeholder="Type the first letters" {...box.getInputProps()} />
      <Menu box={box} items={items} />
      <Problem name="school" />
    </Form.Group>
  );
}

function Subjects({ value, onChange }) {
  const [inputValue, setInputValue] = useState("");
  const items = SUBJECTS.filter((name) => !value.includes(name) && name.toLowerCase().startsWith(inputValue.toLowerCase()));
  const { getSelectedItemProps, getDropdownProps, removeSelectedItem } = useMultipleSelection({
    selectedItems: value,
    onStateChange: ({ selectedItems, type }) => {
      const { SelectedItemKeyDownBackspace, SelectedItemKeyDownDelete, DropdownKeyDownBackspace, FunctionRemoveSelectedItem } = useMultipleSelection.stateChangeTypes;
      if ([SelectedItemKeyDownBackspace, SelectedItemKeyDownDelete, DropdownKeyDownBackspace, FunctionRemoveSelectedItem].includes(type)) onChange(selectedItems);
    },
  });
  const box = useCombobox({
    items,
    inputValue,
    selectedItem: null,
    defaultHighlightedIndex: 0,
    stateReducer: (_, { type, changes }) => {
      const { InputKeyDownEnter, ItemClick } = useCombobox.stateChangeTypes;
      return type === InputKeyDownEnter || type === ItemClick ? { ...changes, isOpen: true, highlightedIndex: 0, inputValue: "" } : changes;
    },
    onStateChange: ({ type, inputValue: text, selectedItem }) => {
      const { InputKeyDownEnter, ItemClick, InputBlur, InputChange } = useCombobox.stateChangeTypes;
      if ([InputKeyDownEnter, ItemClick, InputBlur].includes(type) && selectedItem) {
        onChange([...value, selectedItem]);
        setInputValue("");
      }
      if (type === InputChange) setInputValue(text);
    },
  });
  return (
    <Form.Group className="mb-3 position-relative">
      <Form.Label {...box.getLabelProps()}>Subjects</Form.Label>
      <div className="form-control d-flex flex-wrap gap-1">
        {value.map((selectedItem, index) => (
          <Badge key={selectedItem} bg="secondary" className="d-flex align-items-center" {...getSelectedItemProps({ selectedItem, index })}>
            {selectedItem}
            <CloseButton variant="white" className="ms-1" style={{ fontSize: 8 }} aria-label={`Remove ${selectedItem}`} onClick={(event) => { event.stopPropagation(); removeSelectedItem(selectedItem); }} />
          </Badge>
        ))}
        <input className="border-0 flex-grow-1" style={{ outline: 0 }} placeholder="Add a subject" {...box.getInputProps(getDropdownProps({ preventKeyAction: box.isOpen }))} />
        <button type="button" className="btn btn-sm" aria-label="toggle menu" {...box.getToggleButtonProps()}>▾</button>
      </div>
      <Menu box={box} items={items} />
      <Problem name="subjects" />
    </Form.Group>
  );
}

const Lessons = ({ values, setFieldValue }) => (
  <>
    <Row>
      <Form.Group as={Col} className="mb-3">
        <Form.Label htmlFor="day">First lesson</Form.Label>
        <div><DatePicker id="day" className="form-control" selected={values.day} onChange={(day) => setFieldValue("day", day)} dateFormat="EEE, d MMM yyyy" minDate={new Date()} autoComplete="off" /></div>
        <Problem name="day" />
      </Form.Group>
      <Form.Group as={Col} className="mb-3">
        <Form.Label htmlFor="time">Begins at</Form.Label>
        <div><DatePicker id="time" className="form-control" selected={values.time} onChange={(time) => setFieldValue("time", time)} showTimeSelect showTimeSelectOnly timeIntervals={15} timeCaption="Time" dateFormat="HH:mm" timeFormat="HH:mm" autoComplete="off" /></div>
      </Form.Group>
    </Row>
    <Form.Group className="mb-3">
      <Form.Label htmlFor="weekly">Lessons a week: {values.weekly}</Form.Label>
      <Field as={Form.Range} id="weekly" name="weekly" min={1} max={8} />
    </Form.Group>
    <Form.Group className="mb-3">
      <Form.Label className="d-block" id="place-label">Place</Form.Label>
      <ToggleButtonGroup type="radio" name="place" value={values.place} onChange={(place) => setFieldValue("place", place)} aria-labelledby="place-label">
        {[["home", "At home"], ["library", "Library"], ["online", "Online"]].map(([value, text]) => <ToggleButton key={value} id={`place-${value}`} value={value} variant="outline-primary">{text}</ToggleButton>)}
      </ToggleButtonGroup>
    </Form.Group>
    <Field name="siblings">{({ field }) => <Form.Check id="siblings" type="checkbox" className="mb-3" label="Brothers or sisters come too" {...field} checked={field.value} />}</Field>
  </>
);

start(function Tutoring() {
  const [status, setStatus] = useState(null);
  const initialValues = { pupil: "", school: null, subjects: [], day: null, time: null, weekly: "2", place: "", siblings: false };
  const onSubmit = async (values, { resetForm }) => {
    const body = new URLSearchParams({ pupil: values.pupil, school: values.school, day: format(values.day, "yyyy-MM-dd"), weekly: values.weekly, place: values.place, siblings: values.siblings ? "yes" : "no" });
    for (const subject of values.subjects) body.append("subjects", subject);
    if (values.time) body.set("time", format(values.time, "HH:mm"));
    const response = await fetch(SEND, { method: "POST", body });
    setStatus(response.ok ? "success" : "danger");
    if (response.ok) resetForm();
  };
  return (
    <Card className="m-4" style={{ maxWidth: 620 }}>
      <Card.Header as="h1" className="h4">Find a tutor</Card.Header>
      <Card.Body>
        {status && <Alert variant={status} dismissible onClose={() => setStatus(null)}>{status === "success" ? "Thank you! We will call you." : "Your request could not be sent."}</Alert>}
        <Formik initialValues={initialValues} validationSchema={schema} onSubmit={onSubmit}>
          {({ values, setFieldValue, isSubmitting }) => (
            <FormikForm noValidate>
              <Form.Group className="mb-3" controlId="pupil"><Form.Label>Pupil</Form.Label><Field as={Form.Control} name="pupil" /><Problem name="pupil" /></Form.Group>
              <School value={values.school} onChange={(school) => setFieldValue("school", school)} />
              <Subjects value={values.subjects} onChange={(subjects) => setFieldValue("subjects", subjects)} />
              <Lessons values={values} setFieldValue={setFieldValue} />
              <Button type="submit" disabled={isSubmitting}>Send request</Button>
            </FormikForm>
          )}
        </Formik>
      </Card.Body>
    </Card>
  );
});
