import { Alert, Autocomplete, Button, Checkbox, Chip, FormControl, FormControlLabel, FormHelperText, FormLabel, Grid, InputLabel, ListItemText, MenuItem, Paper, Select, Switch, TextField, ToggleButton, ToggleButtonGroup, Typography } from "@mui/material";
import { DateTimePicker, LocalizationProvider, MobileDatePicker } from "@mui/x-date-pickers";
import { AdapterDayjs } from "@mui/x-date-pickers/AdapterDayjs";
import dayjs from "dayjs";
import { useFormik } from "formik";
import { useState } from "react";
import * as Yup from "yup";
import { json, SEND, start } from "./start.jsx";

const CLUBS = [
  { id: 11, name: "Riverside", city: "Oslo" },
  { id: 12, name: "Central Station", city: "Oslo" },
  { id: 21, name: "Old Harbour", city: "Bergen" },
  { id: 22, name: "University", city: "Bergen" },
  { id: 31, name: "North Gate", city: "Trondheim" },
];
const CLASSES = ["Yoga", "Spinning", "Boxing", "Pilates", "Zumba"];

const schema = Yup.object({
  firstName: Yup.string().trim().required("Required"),
  lastName: Yup.string().trim().required("Required"),
  club: Yup.object().nullable().required("Choose your home club"),
  plan: Yup.string().required("Choose a plan"),
  startsOn: Yup.mixed().required("When do you want to start?"),
  trial: Yup.mixed().nullable(),
});

start(function Membership() {
  const [status, setStatus] = useState(null);
  const formik = useFormik({
    initialValues: { firstName: "", lastName: "", club: null, plan: "", startsOn: null, trial: null, classes: [], locker: false },
    validationSchema: schema,
    onSubmit: async (values, { setSubmitting }) => {
      const body = {
        member: { firstName: values.firstName, lastName: values.lastName },
        clubId: values.club.id,
        plan: values.plan,
        startsOn: dayjs(values.startsOn).format("YYYY-MM-DD"),
        trial: values.trial ? dayjs(values.trial).format("YYYY-MM-DDTHH:mm") : null,
        classes: values.classes,
        locker: values.locker,
      };
      const response = await fetch(SEND, json("POST", body));
      setStatus(response.ok ? "ok" : "failed");
      setSubmitting(false);
    },
  });
  const { values, errors, touched } = formik;
  if (status === "ok") return <Alert severity="success" sx={{ m: 4 }}>Welcome to the club, {values.firstName}! Your card is on its way.</Alert>;
  const text = (name, label, props) => <TextField fullWidth id={name} name={name} label={label} value={values[name]} onChange={formik.handleChange} onBlur={formik.handleBlur} error={touched[name] && Boolean(errors[name])} helperText={touched[name] && errors[name]} {...props} />;
  return (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <Paper sx={{ maxWidth: 720, m: 4, p: 3 }}>
        <Typography variant="h5" component="h1" sx={{ mb: 2 }}>Become a member</Typography>
        {status === "failed" && <Alert severity="error" sx={{ mb: 2 }}>We could not save your membership. Please check the form.</Alert>}
        <form onSubmit={formik.handleSubmit} noValidate>
          <Grid container spacing={2}>
            <Grid size={6}>{text("firstName", "First name")}</Grid>
            <Grid size={6}>{text("lastName", "Last name")}</Grid>
            <Grid size={12}>
              <Autocomplete
                id="club"
                options={CLUBS}
                groupBy={(club) => club.city}
                getOptionLabel={(club) => `${club.name}, ${club.city}`}
                isOptionEqualToValue={(a, b) => a.id === b.id}
                value={values.club}
                onChange={(_, club) => formik.setFieldValue("club", club)}
                renderInput={(params) => <TextField {...params} label="Home club" error={touched.club && Boolean(errors.club)} helperText={touched.club && errors.club} />}
              />
            </Grid>
            <Grid size={12}>
              <FormControl error={touched.plan && Boolean(errors.plan)}>
                <FormLabel id="plan-label">Plan</FormLabel>
                <ToggleButtonGroup exclusive color="primary" aria-labelledby="plan-label" value={values.plan} onChange={(_, plan) => plan !== null && formik.setFieldValue("plan", plan)}>
                  <ToggleButton value="basic">Basic</ToggleButton>
                  <ToggleButton value="plus">Plus</ToggleButton>
                  <ToggleButton value="family">Family</ToggleButton>
                  <ToggleButton value="student">Student</ToggleButton>
                </ToggleButtonGroup>
                <FormHelperText>{touched.plan && errors.plan}</FormHelperText>
              </FormControl>
            </Grid>
            <Grid size={6}><MobileDatePicker label="Starts on" value={values.startsOn} onChange={(date) => formik.setFieldValue("startsOn", date)} slotProps={{ textField: { fullWidth: true, error: touched.startsOn && Boolean(errors.startsOn), helperText: touched.startsOn && errors.startsOn } }} /></Grid>
            <Grid size={6}><DateTimePicker label="Trial session" ampm={false} value={values.trial} onChange={(date) => formik.setFieldValue("trial", date)} slotProps={{ textField: { fullWidth: true } }} /></Grid>
            <Grid size={12}>
              <FormControl fullWidth>
                <InputLabel id="classes-label">Classes</InputLabel>
                <Select labelId="classes-label" id="classes" name="classes" multiple label="Classes" value={values.classes} onChange={formik.handleChange} renderValue={(selected) => selected.map((item) => <Chip key={item} label={item} size="small" />)}>
                  {CLASSES.map((item) => <MenuItem key={item} value={item}><Checkbox checked={values.classes.includes(item)} /><ListItemText primary={item} /></MenuItem>)}
                </Select>
              </FormControl>
            </Grid>
            <Grid size={12}><FormControlLabel control={<Switch name="locker" checked={values.locker} onChange={formik.handleChange} />} label="I need a locker" /></Grid>
            <Grid size={12}><Button type="submit" variant="contained" loading={formik.isSubmitting}>Join now</Button></Grid>
          </Grid>
        </form>
      </Paper>
    </LocalizationProvider>
  );
});
