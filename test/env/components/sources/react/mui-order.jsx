import { Alert, Autocomplete, Button, Checkbox, FormControl, FormControlLabel, InputLabel, MenuItem, Select, Slider, Stack, TextField, Typography } from "@mui/material";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const EXTRAS = ["Gift wrap", "Express delivery", "Insurance", "Engraving"];

start(function Order() {
  const [v, set] = useState({ customer: "", size: "", extras: [], quantity: 1, invoice: false });
  const [state, setState] = useState("");
  const change = (part) => set({ ...v, ...part });
  async function submit(event) {
    event.preventDefault();
    const answer = await fetch(SEND, json("POST", { order: v }));
    setState(answer.ok ? "sent" : "refused");
  }
  if (state === "sent") return <Alert severity="success">Your order is on its way.</Alert>;
  return (
    <Stack component="form" spacing={3} sx={{ width: 420, p: 4 }} onSubmit={submit} noValidate>
      <Typography variant="h5">Place an order</Typography>
      {state && <Alert severity="error">Please look at the fields again.</Alert>}
      <TextField label="Customer" required value={v.customer} onChange={(e) => change({ customer: e.target.value })} />
      <FormControl>
        <InputLabel id="size">Box size</InputLabel>
        <Select labelId="size" label="Box size" value={v.size} onChange={(e) => change({ size: e.target.value })}>
          <MenuItem value="s">Small (12 pieces)</MenuItem>
          <MenuItem value="m">Medium (24 pieces)</MenuItem>
          <MenuItem value="l">Large (48 pieces)</MenuItem>
        </Select>
      </FormControl>
      <Autocomplete multiple options={EXTRAS} value={v.extras} onChange={(_, extras) => change({ extras })} renderInput={(props) => <TextField {...props} label="Extras" />} />
      <div>
        <Typography id="quantity">Quantity</Typography>
        <Slider aria-labelledby="quantity" min={1} max={20} value={v.quantity} onChange={(_, quantity) => change({ quantity })} valueLabelDisplay="auto" />
      </div>
      <FormControlLabel label="Send an invoice" control={<Checkbox checked={v.invoice} onChange={(e) => change({ invoice: e.target.checked })} />} />
      <Button type="submit" variant="contained">Place order</Button>
    </Stack>
  );
});
