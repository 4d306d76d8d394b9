import { Alert, Autocomplete, Button, Checkbox, FormControl, FormLabel, Input, Option, Radio, RadioGroup, Select, Slider, Stack, Switch, Textarea } from "@mui/joy";
import { useState } from "react";
import { SEND, start } from "./start.jsx";

const LANGUAGES = ["Danish", "Dutch", "Greek", "Italian", "Polish"];

start(function Guide() {
  const [languages, setLanguages] = useState([]);
  const [rate, setRate] = useState(20);
  const [insured, setInsured] = useState(false);
  const [state, setState] = useState();
  async function send(event) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    for (const language of languages) data.append("languages", language.toLowerCase());
    data.set("rate", String(rate));
    data.set("insured", insured ? "1" : "0");
    const answer = await fetch(SEND, { method: "POST", body: new URLSearchParams(data) });
    setState(answer.ok ? "success" : "danger");
  }
  return (
    <Stack component="form" spacing={2} sx={{ width: 420, p: 4 }} onSubmit={send}>
      {state && <Alert color={state}>{state === "success" ? "Profile saved" : "Profile not saved"}</Alert>}
      <FormControl required><FormLabel>Guide</FormLabel><Input name="guide" required /></FormControl>
      <FormControl><FormLabel>City</FormLabel><Select name="city" placeholder="Choose"><Option value="cph">Copenhagen</Option><Option value="ath">Athens</Option><Option value="gdn">Gdansk</Option></Select></FormControl>
      <FormControl><FormLabel>Languages</FormLabel><Autocomplete multiple options={LANGUAGES} value={languages} onChange={(_, value) => setLanguages(value)} /></FormControl>
      <FormControl><FormLabel>Group size</FormLabel><RadioGroup name="group"><Radio value="s" label="Up to 5" /><Radio value="m" label="Up to 15" /><Radio value="l" label="Any" /></RadioGroup></FormControl>
      <FormControl><FormLabel id="rate">Rate per hour</FormLabel><Slider aria-labelledby="rate" min={10} max={60} step={5} value={rate} onChange={(_, value) => setRate(value)} /></FormControl>
      <FormControl><FormLabel>About the tours</FormLabel><Textarea name="about" minRows={2} /></FormControl>
      <FormControl orientation="horizontal"><FormLabel>Insured</FormLabel><Switch checked={insured} onChange={(e) => setInsured(e.target.checked)} /></FormControl>
      <Checkbox name="licence" value="yes" label="Has a licence" />
      <Button type="submit">Save profile</Button>
    </Stack>
  );
});
