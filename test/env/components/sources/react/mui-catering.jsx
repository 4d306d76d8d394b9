import { yupResolver } from "@hookform/resolvers/yup";
import { Alert, Autocomplete, Box, Button, Checkbox, FormControl, FormControlLabel, FormHelperText, FormLabel, InputLabel, MenuItem, Radio, RadioGroup, Select, Slider, Snackbar, Stack, TextField, Typography } from "@mui/material";
import { DatePicker, LocalizationProvider, TimePicker } from "@mui/x-date-pickers";
import { AdapterDateFns } from "@mui/x-date-pickers/AdapterDateFns";
import { format } from "date-fns";
import { useState } from "react";
import { Controller, useForm } from "react-hook-form";
import * as yup from "yup";
import { json, SEND, start } from "./start.jsx";

const MENUS = [{ id: 1, title: "Mediterranean" }, { id: 2, title: "Alpine" }, { id: 3, title: "Street food" }, { id: 4, title: "Vegan garden" }];
const DIETS = ["Gluten free", "Halal", "Kosher", "Lactose free", "Nut free"];

const schema = yup.object({
  name: yup.string().required("Please enter your name"),
  date: yup.date().nullable().required("Please choose a date"),
  time: yup.date().nullable(),
  menu: yup.number().required("Please choose a menu").typeError("Please choose a menu"),
  diets: yup.array().of(yup.string()),
  guests: yup.number().min(10),
  service: yup.string(),
  staff: yup.boolean(),
});

start(function Catering() {
  const { control, register, handleSubmit, reset, formState: { errors, isSubmitting } } = useForm({
    resolver: yupResolver(schema),
    defaultValues: { name: "", date: null, time: null, menu: "", diets: [], guests: 30, service: "buffet", staff: false },
  });
  const [toast, setToast] = useState(null);
  const onSubmit = async (data) => {
    const answer = await fetch(SEND, json("POST", { ...data, date: format(data.date, "yyyy-MM-dd"), time: data.time && format(data.time, "HH:mm") }));
    if (answer.ok) {
      setToast({ severity: "success", text: "Thank you! We will send you a quote." });
      reset();
    } else setToast({ severity: "error", text: "Something went wrong, please check the form." });
  };
  return (
    <LocalizationProvider dateAdapter={AdapterDateFns}>
      <Box component="form" onSubmit={handleSubmit(onSubmit)} noValidate sx={{ maxWidth: 520, m: 4 }}>
        <Typography variant="h5" gutterBottom>Catering request</Typography>
        <Stack spacing={2}>
          <TextField label="Contact name" required {...register("name")} error={!!errors.name} helperText={errors.name?.message} />
          <Stack direction="row" spacing={2}>
            <Controller name="date" control={control} render={({ field }) => <DatePicker label="Event date" value={field.value} onChange={field.onChange} slotProps={{ textField: { required: true, error: !!errors.date, helperText: errors.date?.message } }} />} />
            <Controller name="time" control={control} render={({ field }) => <TimePicker label="Serving time" value={field.value} onChange={field.onChange} />} />
          </Stack>
          <Controller
            name="menu"
            control={control}
            render={({ field }) => (
              <FormControl error={!!errors.menu}>
                <InputLabel id="menu-label">Menu</InputLabel>
                <Select labelId="menu-label" label="Menu" {...field}>
                  {MENUS.map((menu) => <MenuItem key={menu.id} value={menu.id}>{menu.title}</MenuItem>)}
                </Select>
                <FormHelperText>{errors.menu?.message}</FormHelperText>
              </FormControl>
            )}
          />
          <Controller name="diets" control={control} render={({ field }) => <Autocomplete multiple options={DIETS} value={field.value} onChange={(_, value) => field.onChange(value)} renderInput={(params) => <TextField {...params} label="Dietary needs" placeholder="Add" />} />} />
          <Box>
            <Typography id="guests-label" gutterBottom>Number of guests</Typography>
            <Controller name="guests" control={control} render={({ field }) => <Slider aria-labelledby="guests-label" min={10} max={150} step={10} marks valueLabelDisplay="auto" value={field.value} onChange={(_, value) => field.onChange(value)} />} />
          </Box>
          <FormControl>
            <FormLabel id="service-label">Service</FormLabel>
            <Controller
              name="service"
              control={control}
              render={({ field }) => (
                <RadioGroup row aria-labelledby="service-label" {...field}>
                  <FormControlLabel value="buffet" control={<Radio />} label="Buffet" />
                  <FormControlLabel value="table" control={<Radio />} label="Table service" />
                  <FormControlLabel value="dropoff" control={<Radio />} label="Drop-off only" />
                </RadioGroup>
              )}
            />
          </FormControl>
          <FormControlLabel control={<Controller name="staff" control={control} render={({ field }) => <Checkbox {...field} checked={field.value} />} />} label="We need staff on site" />
          <Button type="submit" variant="contained" disabled={isSubmitting}>Request a quote</Button>
        </Stack>
        <Snackbar open={toast !== null} autoHideDuration={6000} onClose={() => setToast(null)}>
          <Alert severity={toast?.severity} onClose={() => setToast(null)}>{toast?.text}</Alert>
        </Snackbar>
      </Box>
    </LocalizationProvider>
  );
});
