import { Alert, Box, Button, ChakraProvider, CheckboxCard, CheckboxGroup, CloseButton, createListCollection, DatePicker, defaultSystem, Field, Fieldset, FileUpload, Heading, Input, InputGroup, NumberInput, Portal, SegmentGroup, Select, SimpleGrid, Stack, Switch } from "@chakra-ui/react";
import { useFormik } from "formik";
import { useState } from "react";
import * as Yup from "yup";
import { SEND, start } from "./start.jsx";

const tuners = createListCollection({
  items: [
    { label: "Elena Sorokin", value: "7" },
    { label: "Henrik Dahl", value: "12" },
    { label: "Mario Conti", value: "15" },
    { label: "Sofia Brandt", value: "21" },
  ],
});
const WORK = [
  { value: "tuning", title: "Tuning", text: "About two hours" },
  { value: "voicing", title: "Voicing", text: "For a softer sound" },
  { value: "repair", title: "Repair", text: "Keys, pedals and strings" },
  { value: "cleaning", title: "Cleaning", text: "Inside and outside" },
];

const Tuner = ({ value, onChange, invalid }) => (
  <Select.Root collection={tuners} value={value ? [value] : []} onValueChange={(e) => onChange(e.value[0])} invalid={invalid}>
    <Select.HiddenSelect />
    <Select.Label>Tuner</Select.Label>
    <Select.Control>
      <Select.Trigger><Select.ValueText placeholder="Select a tuner" /></Select.Trigger>
      <Select.IndicatorGroup><Select.Indicator /></Select.IndicatorGroup>
    </Select.Control>
    <Portal>
      <Select.Positioner>
        <Select.Content>
          {tuners.items.map((item) => <Select.Item item={item} key={item.value}>{item.label}<Select.ItemIndicator /></Select.Item>)}
        </Select.Content>
      </Select.Positioner>
    </Portal>
  </Select.Root>
);

const Day = ({ value, onChange, invalid }) => (
  <DatePicker.Root value={value} onValueChange={(e) => onChange(e.value)} invalid={invalid} startOfWeek={1} locale="en-GB">
    <DatePicker.Label>Day</DatePicker.Label>
    <DatePicker.Control>
      <DatePicker.Input />
      <DatePicker.IndicatorGroup><DatePicker.Trigger>📅</DatePicker.Trigger></DatePicker.IndicatorGroup>
    </DatePicker.Control>
    <Portal>
      <DatePicker.Positioner>
        <DatePicker.Content>
          <DatePicker.View view="day"><DatePicker.Header /><DatePicker.DayTable /></DatePicker.View>
          <DatePicker.View view="month"><DatePicker.Header /><DatePicker.MonthTable /></DatePicker.View>
          <DatePicker.View view="year"><DatePicker.Header /><DatePicker.YearTable /></DatePicker.View>
        </DatePicker.Content>
      </DatePicker.Positioner>
    </Portal>
  </DatePicker.Root>
);

function Piano() {
  const [result, setResult] = useState(null);
  const formik = useFormik({
    initialValues: { name: "", tuner: "", day: [], instrument: "Upright", floor: "0", work: [], photo: null, lift: false },
    validationSchema: Yup.object({
      name: Yup.string().required("Your name is needed"),
      tuner: Yup.string().required("Choose a tuner"),
      day: Yup.array().min(1, "Choose a day"),
    }),
    onSubmit: async (values) => {
      const data = new FormData();
      data.append("name", values.name);
      data.append("tuner", values.tuner);
      data.append("day", values.day[0].toString());
      data.append("instrument", values.instrument);
      data.append("floor", values.floor);
      for (const item of values.work) data.append("work[]", item);
      if (values.photo) data.append("photo", values.photo);
      data.append("lift", values.lift);
      const response = await fetch(SEND, { method: "POST", body: data });
      setResult(response.ok ? "success" : "error");
      if (response.ok) formik.resetForm();
    },
  });
  const { values, errors, touched, setFieldValue } = formik;
  const bad = (name) => !!(touched[name] && errors[name]);
  return (
    <Box maxW="xl" p="8">
      <Heading size="2xl" mb="6">Piano tuning</Heading>
      {result && (
        <Alert.Root status={result} mb="4">
          <Alert.Indicator />
          <Alert.Content><Alert.Title>{result === "success" ? "See you soon" : "Not sent"}</Alert.Title><Alert.Description>{result === "success" ? "Your appointment is booked." : "Please try again later."}</Alert.Description></Alert.Content>
        </Alert.Root>
      )}
      <form onSubmit={formik.handleSubmit} noValidate>
        <Stack gap="5">
          <Field.Root required invalid={bad("name")}>
            <Field.Label>Your name <Field.RequiredIndicator /></Field.Label>
            <Input {...formik.getFieldProps("name")} />
            <Field.ErrorText>{errors.name}</Field.ErrorText>
          </Field.Root>
          <Field.Root invalid={bad("tuner")}>
            <Tuner value={values.tuner} onChange={(value) => setFieldValue("tuner", value)} invalid={bad("tuner")} />
            <Field.ErrorText>{errors.tuner}</Field.ErrorText>
          </Field.Root>
          <Field.Root invalid={bad("day")}>
            <Day value={values.day} onChange={(value) => setFieldValue("day", value)} invalid={bad("day")} />
            <Field.ErrorText>{errors.day}</Field.ErrorText>
          </Field.Root>
          <Fieldset.Root>
            <Fieldset.Legend>Instrument</Fieldset.Legend>
            <SegmentGroup.Root value={values.instrument} onValueChange={(e) => setFieldValue("instrument", e.value)} alignSelf="start">
              <SegmentGroup.Indicator />
              <SegmentGroup.Items items={["Upright", "Grand piano", "Digital piano"]} />
            </SegmentGroup.Root>
          </Fieldset.Root>
          <Field.Root>
            <Field.Label>Floor</Field.Label>
            <NumberInput.Root value={values.floor} min={0} max={20} onValueChange={(e) => setFieldValue("floor", e.value)} width="120px"><NumberInput.Control /><NumberInput.Input /></NumberInput.Root>
          </Field.Root>
          <CheckboxGroup value={values.work} onValueChange={(value) => setFieldValue("work", value)}>
            <Fieldset.Root>
              <Fieldset.Legend>What shall we do?</Fieldset.Legend>
              <SimpleGrid columns={2} gap="2">
                {WORK.map(({ value, title, text }) => (
                  <CheckboxCard.Root key={value} value={value}>
                    <CheckboxCard.HiddenInput />
                    <CheckboxCard.Control>
                      <CheckboxCard.Content><CheckboxCard.Label>{title}</CheckboxCard.Label><CheckboxCard.Description>{text}</CheckboxCard.Description></CheckboxCard.Content>
                      <CheckboxCard.Indicator />
                    </CheckboxCard.Control>
                  </CheckboxCard.Root>
                ))}
              </SimpleGrid>
            </Fieldset.Root>
          </CheckboxGroup>
          <FileUpload.Root accept="image/*" maxFiles={1} acceptedFiles={values.photo ? [values.photo] : []} onFileChange={(e) => setFieldValue("photo", e.acceptedFiles[0] ?? null)}>
            <FileUpload.HiddenInput />
            <FileUpload.Label>Photo of the piano</FileUpload.Label>
            <InputGroup endElement={<FileUpload.ClearTrigger asChild><CloseButton size="xs" variant="plain" /></FileUpload.ClearTrigger>}>
              <Input asChild><FileUpload.Trigger><FileUpload.FileText lineClamp={1} /></FileUpload.Trigger></Input>
            </InputGroup>
          </FileUpload.Root>
          <Switch.Root checked={values.lift} onCheckedChange={(e) => setFieldValue("lift", e.checked)}><Switch.HiddenInput /><Switch.Control /><Switch.Label>There is a lift</Switch.Label></Switch.Root>
          <Button type="submit" loading={formik.isSubmitting} alignSelf="start">Book appointment</Button>
        </Stack>
      </form>
    </Box>
  );
}
start(() => <ChakraProvider value={defaultSystem}><Piano /></ChakraProvider>);
