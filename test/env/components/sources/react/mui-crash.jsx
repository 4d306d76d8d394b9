import { zodResolver } from "@hookform/resolvers/zod";
import { Autocomplete, Button, Chip, Dialog, DialogActions, DialogContent, DialogTitle, FormControlLabel, FormLabel, MenuItem, Stack, Switch, TextField, ToggleButton, ToggleButtonGroup } from "@mui/material";
import { DateTimePicker, LocalizationProvider } from "@mui/x-date-pickers";
import { AdapterDayjs } from "@mui/x-date-pickers/AdapterDayjs";
import { useEffect, useState } from "react";
import { Controller, useForm } from "react-hook-form";
import { NumericFormat } from "react-number-format";
import { z } from "zod";
import { json, SEND, start } from "./start.jsx";

const PARTS = { bmp: "Bumper", dor: "Door", lmp: "Headlamp", scr: "Windscreen" };
const schema = z.object({
  holder: z.string().min(2, "Enter the policy holder"),
  garage: z.string({ error: "Choose a garage" }),
  at: z.any().refine((value) => value?.isValid(), "When did it happen?"),
  role: z.string().nullable(),
  parts: z.array(z.string()),
  cost: z.number().optional(),
  rental: z.boolean(),
  story: z.string(),
});

/** An autocomplete whose options come from the server while one types. */
function Garage({ field, error }) {
  const [text, setText] = useState("");
  const [options, setOptions] = useState([]);
  useEffect(() => {
    if (text.length < 2) return setOptions([]);
    const timer = setTimeout(async () => setOptions(await (await fetch(`${location.pathname}/lookup?q=${encodeURIComponent(text)}`)).json()), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return <Autocomplete options={options} filterOptions={(all) => all} value={field.value ?? null} onChange={(_, value) => field.onChange(value)} onInputChange={(_, value) => setText(value)} noOptionsText="Type two letters" renderInput={(props) => <TextField {...props} label="Garage" error={!!error} helperText={error?.message} />} />;
}

start(function Crash() {
  const [asked, setAsked] = useState(null);
  const [state, setState] = useState("");
  const { control, register, handleSubmit, formState: { errors } } = useForm({ resolver: zodResolver(schema), defaultValues: { holder: "", at: null, role: null, parts: [], rental: false, story: "" } });
  async function send() {
    const { at, cost, ...rest } = asked;
    setAsked(null);
    const answer = await fetch(SEND, json("POST", { claim: { ...rest, at: at.format("YYYY-MM-DDTHH:mm:ss"), cost_cents: cost === undefined ? null : Math.round(cost * 100) } }));
    setState(answer.ok ? "Claim received. A clerk will write to you." : "The claim is not complete.");
  }
  return (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <Stack component="form" spacing={2} sx={{ width: 460, p: 4 }} onSubmit={handleSubmit(setAsked)} noValidate>
        {state && <p role="status">{state}</p>}
        <TextField label="Policy holder" {...register("holder")} error={!!errors.holder} helperText={errors.holder?.message} />
        <Controller name="garage" control={control} render={({ field }) => <Garage field={field} error={errors.garage} />} />
        <Controller name="at" control={control} render={({ field }) => <DateTimePicker label="Time of the accident" ampm={false} format="DD.MM.YYYY HH:mm" value={field.value} onChange={field.onChange} slotProps={{ textField: { error: !!errors.at, helperText: errors.at?.message } }} />} />
        <div>
          <FormLabel id="role">You were</FormLabel>
          <Controller name="role" control={control} render={({ field }) => <ToggleButtonGroup exclusive aria-labelledby="role" sx={{ display: "flex" }} value={field.value} onChange={(_, value) => field.onChange(value)}><ToggleButton value="drv">Driver</ToggleButton><ToggleButton value="pas">Passenger</ToggleButton><ToggleButton value="not">Not there</ToggleButton></ToggleButtonGroup>} />
        </div>
        <Controller name="parts" control={control} render={({ field }) => <TextField select label="Damaged parts" {...field} slotProps={{ select: { multiple: true, renderValue: (chosen) => chosen.map((key) => <Chip key={key} size="small" label={PARTS[key]} />) } }}>{Object.entries(PARTS).map(([key, name]) => <MenuItem key={key} value={key}>{name}</MenuItem>)}</TextField>} />
        <Controller name="cost" control={control} render={({ field }) => <NumericFormat customInput={TextField} label="Estimated cost" prefix="€ " thousandSeparator="," decimalScale={2} value={field.value ?? ""} onValueChange={(value) => field.onChange(value.floatValue)} />} />
        <FormControlLabel label="I need a rental car" control={<Controller name="rental" control={control} render={({ field }) => <Switch checked={field.value} onChange={(_, on) => field.onChange(on)} />} />} />
        <TextField label="What happened" multiline minRows={3} {...register("story")} />
        <Button type="submit" variant="contained">Report accident</Button>
      </Stack>
      <Dialog open={asked !== null} onClose={() => setAsked(null)}>
        <DialogTitle>Send this claim?</DialogTitle>
        <DialogContent>It cannot be changed afterwards.</DialogContent>
        <DialogActions><Button onClick={() => setAsked(null)}>Back</Button><Button variant="contained" onClick={send}>Yes, send</Button></DialogActions>
      </Dialog>
    </LocalizationProvider>
  );
});
