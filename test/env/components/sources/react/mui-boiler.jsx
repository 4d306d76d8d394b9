import { zodResolver } from "@hookform/resolvers/zod";
import { Alert, Autocomplete, Box, Button, Checkbox, Chip, Container, FormControl, FormControlLabel, FormHelperText, FormLabel, InputLabel, ListItemText, MenuItem, OutlinedInput, Select, Slider, Stack, Switch, TextField, Typography } from "@mui/material";
import { DatePicker, LocalizationProvider } from "@mui/x-date-pickers";
import { AdapterDayjs } from "@mui/x-date-pickers/AdapterDayjs";
import dayjs from "dayjs";
import { useState } from "react";
import { useDropzone } from "react-dropzone";
import { Controller, FormProvider, useForm, useFormContext } from "react-hook-form";
import { z } from "zod";
import { SEND, start } from "./start.jsx";

const BOILERS = [
  { id: "AR-24", maker: "Arcadia", model: "Compact 24" },
  { id: "AR-30", maker: "Arcadia", model: "Family 30" },
  { id: "BO-18", maker: "Borealis", model: "Nordic 18" },
  { id: "BO-35", maker: "Borealis", model: "Nordic 35" },
  { id: "CA-20", maker: "Caldera", model: "Wall 20" },
];
const SYMPTOMS = ["No hot water", "Pressure drops", "Strange noises", "Leaks water", "Shows an error"];
const WINDOWS = [["early", "8 - 10 am"], ["late", "10 am - 12 noon"], ["after", "1 - 4 pm"], ["evening", "4 - 6 pm"]];

const schema = z.object({
  name: z.string().min(1, "Please enter your name"),
  boiler: z.object({ id: z.string() }, { error: "Please choose your boiler" }),
  symptoms: z.array(z.string()).min(1, "Please choose at least one"),
  day: z.custom((value) => dayjs.isDayjs(value) && value.isValid(), "Please choose a day"),
  window: z.string(),
  urgency: z.number(),
  photo: z.instanceof(File).nullable(),
  allDay: z.boolean(),
});

function Photo() {
  const { watch, setValue } = useFormContext();
  const photo = watch("photo");
  const { getRootProps, getInputProps, isDragActive } = useDropzone({
    accept: { "image/*": [".png", ".jpg", ".jpeg"] },
    maxFiles: 1,
    onDrop: ([file]) => file && setValue("photo", file, { shouldDirty: true }),
  });
  return (
    <FormControl>
      <FormLabel>Photo of the boiler</FormLabel>
      <Box {...getRootProps()} sx={{ border: "1px dashed grey", borderRadius: 1, p: 3, textAlign: "center", cursor: "pointer", bgcolor: isDragActive ? "action.hover" : "transparent" }}>
        <input {...getInputProps()} />
        <Typography>{photo ? photo.name : "Drag a picture here, or click to select one"}</Typography>
      </Box>
    </FormControl>
  );
}

function Fields() {
  const { control, register, formState: { errors } } = useFormContext();
  return (
    <>
      <TextField label="Full name" required {...register("name")} error={!!errors.name} helperText={errors.name?.message} />
      <Controller name="boiler" control={control} render={({ field: { onChange, ...field } }) => (
        <Autocomplete
          {...field}
          options={BOILERS}
          groupBy={(boiler) => boiler.maker}
          getOptionLabel={(boiler) => `${boiler.maker} ${boiler.model}`}
          isOptionEqualToValue={(one, other) => one.id === other.id}
          onChange={(_, boiler) => onChange(boiler)}
          renderInput={(params) => <TextField {...params} label="Boiler" required error={!!errors.boiler} helperText={errors.boiler?.message} />}
        />
      )} />
      <Controller name="symptoms" control={control} render={({ field }) => (
        <FormControl error={!!errors.symptoms}>
          <InputLabel id="symptoms-label">Symptoms</InputLabel>
          <Select
            {...field}
            labelId="symptoms-label"
            id="symptoms"
            multiple
            input={<OutlinedInput label="Symptoms" />}
            renderValue={(selected) => <Box sx={{ display: "flex", flexWrap: "wrap", gap: 0.5 }}>{selected.map((value) => <Chip key={value} label={value} size="small" />)}</Box>}
          >
            {SYMPTOMS.map((name) => <MenuItem key={name} value={name}><Checkbox checked={field.value.includes(name)} /><ListItemText primary={name} /></MenuItem>)}
          </Select>
          <FormHelperText>{errors.symptoms?.message}</FormHelperText>
        </FormControl>
      )} />
      <Stack direction="row" spacing={2}>
        <Controller name="day" control={control} render={({ field: { ref, ...field } }) => (
          <DatePicker {...field} inputRef={ref} label="Day of the visit" format="DD.MM.YYYY" disablePast sx={{ flex: 1 }} slotProps={{ textField: { error: !!errors.day, helperText: errors.day?.message } }} />
        )} />
        <Controller name="window" control={control} render={({ field }) => (
          <TextField {...field} select label="Time of day" sx={{ flex: 1 }}>{WINDOWS.map(([value, text]) => <MenuItem key={value} value={value}>{text}</MenuItem>)}</TextField>
        )} />
      </Stack>
      <Box>
        <Typography id="urgency-label" gutterBottom>How urgent is it?</Typography>
        <Controller name="urgency" control={control} render={({ field }) => (
          <Slider {...field} onChange={(_, value) => field.onChange(value)} aria-labelledby="urgency-label" min={1} max={10} step={1} marks valueLabelDisplay="auto" />
        )} />
      </Box>
      <Photo />
      <Controller name="allDay" control={control} render={({ field: { value, ...field } }) => (
        <FormControlLabel label="Someone is at home all day" control={<Switch {...field} checked={value} />} />
      )} />
    </>
  );
}

start(function Service() {
  const form = useForm({
    resolver: zodResolver(schema),
    defaultValues: { name: "", boiler: null, symptoms: [], day: null, window: "", urgency: 5, photo: null, allDay: false },
  });
  const [answer, setAnswer] = useState(null);
  const onSubmit = form.handleSubmit(async (values) => {
    const data = new FormData();
    data.append("customer", values.name);
    data.append("boiler", values.boiler.id);
    for (const symptom of values.symptoms) data.append("symptoms", symptom);
    data.append("day", values.day.format("YYYY-MM-DD"));
    data.append("window", values.window);
    data.append("urgency", String(values.urgency));
    if (values.photo) data.append("photo", values.photo);
    data.append("all_day", values.allDay ? "1" : "0");
    const response = await fetch(SEND, { method: "POST", body: data });
    setAnswer(await response.json());
  });
  return (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <Container maxWidth="sm" sx={{ py: 4 }}>
        <Typography variant="h4" component="h1" gutterBottom>Boiler service</Typography>
        {answer?.ticket ? (
          <Alert severity="success">Thank you. Your ticket has the number {answer.ticket}.</Alert>
        ) : (
          <FormProvider {...form}>
            <Stack component="form" spacing={3} onSubmit={onSubmit} noValidate>
              {answer?.error && <Alert severity="error">{answer.error}</Alert>}
              <Fields />
              <Button type="submit" variant="contained" loading={form.formState.isSubmitting}>Request a visit</Button>
            </Stack>
          </FormProvider>
        )}
      </Container>
    </LocalizationProvider>
  );
});
