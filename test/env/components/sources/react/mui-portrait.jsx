import { yupResolver } from "@hookform/resolvers/yup";
import { Alert, Autocomplete, Box, Button, Checkbox, FormControl, FormControlLabel, FormHelperText, FormLabel, InputLabel, MenuItem, Radio, RadioGroup, Select, Stack, TextField, Typography } from "@mui/material";
import { DatePicker, LocalizationProvider, TimePicker } from "@mui/x-date-pickers";
import { AdapterDayjs } from "@mui/x-date-pickers/AdapterDayjs";
import { useState } from "react";
import { Controller, useForm } from "react-hook-form";
import * as yup from "yup";
import { json, SEND, start } from "./start.jsx";

const EXTRAS = ["Retouching", "Prints", "Photo album", "Wooden frame", "Make-up"];
const schema = yup.object({
  name: yup.string().required("Please enter your name"),
  email: yup.string().email("This is not an email address").required("Please enter your email"),
  session: yup.string().required("Please choose a session"),
  date: yup.mixed().nullable().test("day", "Please choose a date", (value) => value?.isValid?.() ?? false),
  time: yup.mixed().nullable(),
  extras: yup.array().of(yup.string()),
  place: yup.string(),
  publish: yup.boolean(),
});

start(function Portrait() {
  const [answer, setAnswer] = useState(null);
  const { control, register, handleSubmit, reset, formState: { errors, isSubmitting } } = useForm({
    resolver: yupResolver(schema),
    defaultValues: { name: "", email: "", session: "", date: null, time: null, extras: [], place: "studio", publish: false },
  });
  const onSubmit = async ({ date, time, ...rest }) => {
    const response = await fetch(SEND, json("POST", { ...rest, date: date.format("YYYY-MM-DD"), time: time?.format("HH:mm") ?? null }));
    setAnswer(response.ok);
    if (response.ok) reset();
  };
  return (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <Box component="form" onSubmit={handleSubmit(onSubmit)} noValidate sx={{ maxWidth: 480, m: 4 }}>
        <Typography variant="h5" gutterBottom>Book a photo session</Typography>
        <Stack spacing={2}>
          {answer === true && <Alert severity="success">Thank you! We will confirm your session by email.</Alert>}
          {answer === false && <Alert severity="error">Something went wrong, please check the form.</Alert>}
          <TextField label="Your name" {...register("name")} error={!!errors.name} helperText={errors.name?.message} fullWidth />
          <TextField label="Email" type="email" {...register("email")} error={!!errors.email} helperText={errors.email?.message} fullWidth />
          <Controller
            name="session"
            control={control}
            render={({ field }) => (
              <FormControl fullWidth error={!!errors.session}>
                <InputLabel id="session-label">Session</InputLabel>
                <Select labelId="session-label" id="session" label="Session" {...field}>
                  <MenuItem value="family">Family portrait</MenuItem>
                  <MenuItem value="newborn">Newborn</MenuItem>
                  <MenuItem value="business">Business portrait</MenuItem>
                  <MenuItem value="passport">Passport photo</MenuItem>
                </Select>
                <FormHelperText>{errors.session?.message}</FormHelperText>
              </FormControl>
            )}
          />
          <Controller name="date" control={control} render={({ field }) => <DatePicker label="Date" value={field.value} onChange={field.onChange} disablePast slotProps={{ textField: { error: !!errors.date, helperText: errors.date?.message } }} />} />
          <Controller name="time" control={control} render={({ field }) => <TimePicker label="Time" value={field.value} onChange={field.onChange} />} />
          <Controller name="extras" control={control} render={({ field }) => <Autocomplete multiple options={EXTRAS} value={field.value} onChange={(_, value) => field.onChange(value)} renderInput={(params) => <TextField {...params} label="Extras" />} />} />
          <FormControl>
            <FormLabel id="place">Location</FormLabel>
            <Controller
              name="place"
              control={control}
              render={({ field }) => (
                <RadioGroup row aria-labelledby="place" {...field}>
                  <FormControlLabel value="studio" control={<Radio />} label="Studio" />
                  <FormControlLabel value="outdoors" control={<Radio />} label="Outdoors" />
                  <FormControlLabel value="home" control={<Radio />} label="At your home" />
                </RadioGroup>
              )}
            />
          </FormControl>
          <Controller name="publish" control={control} render={({ field }) => <FormControlLabel control={<Checkbox checked={field.value} onChange={field.onChange} />} label="You may show my pictures" />} />
          <Button type="submit" variant="contained" disabled={isSubmitting}>Book session</Button>
        </Stack>
      </Box>
    </LocalizationProvider>
  );
});
