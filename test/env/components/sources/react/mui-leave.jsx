import { Button, FormControl, FormControlLabel, FormLabel, Radio, RadioGroup, Snackbar, Stack, TextField } from "@mui/material";
import { DatePicker, LocalizationProvider, TimePicker } from "@mui/x-date-pickers";
import { AdapterDayjs } from "@mui/x-date-pickers/AdapterDayjs";
import { useFormik } from "formik";
import { useState } from "react";
import * as yup from "yup";
import { json, SEND, start } from "./start.jsx";

const schema = yup.object({ employee: yup.string().required("Enter your name"), kind: yup.string().required(), from: yup.mixed().required("Choose a day"), at: yup.mixed().nullable() });

start(function Leave() {
  const [note, setNote] = useState("");
  const form = useFormik({
    initialValues: { employee: "", kind: "", from: null, at: null, reason: "" },
    validationSchema: schema,
    onSubmit: async (v, { resetForm }) => {
      const body = { ...v, from: v.from.format("YYYY-MM-DD"), at: v.at?.format("HH:mm") ?? null };
      const answer = await (await fetch(SEND, json("POST", body))).json();
      setNote(answer.ok ? "Leave request submitted" : "The request could not be stored");
      if (answer.ok) resetForm();
    },
  });
  return (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <Stack component="form" spacing={2} sx={{ width: 420, p: 4 }} onSubmit={form.handleSubmit} noValidate>
        <TextField label="Employee" {...form.getFieldProps("employee")} error={form.touched.employee && !!form.errors.employee} helperText={form.touched.employee && form.errors.employee} />
        <FormControl>
          <FormLabel id="kind">Kind of leave</FormLabel>
          <RadioGroup aria-labelledby="kind" row {...form.getFieldProps("kind")}>
            <FormControlLabel value="annual" control={<Radio />} label="Annual" />
            <FormControlLabel value="sick" control={<Radio />} label="Sick" />
            <FormControlLabel value="parental" control={<Radio />} label="Parental" />
          </RadioGroup>
        </FormControl>
        <DatePicker label="First day" value={form.values.from} onChange={(d) => form.setFieldValue("from", d)} slotProps={{ textField: { error: form.touched.from && !!form.errors.from, helperText: form.touched.from && form.errors.from } }} />
        <TimePicker label="Leaving at" value={form.values.at} onChange={(d) => form.setFieldValue("at", d)} />
        <TextField label="Reason" multiline minRows={2} {...form.getFieldProps("reason")} />
        <Button type="submit" variant="outlined">Request leave</Button>
      </Stack>
      <Snackbar open={note !== ""} message={note} onClose={() => setNote("")} />
    </LocalizationProvider>
  );
});
