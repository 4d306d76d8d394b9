import { Box, Button, Checkbox, ComboBox, Fieldset, Flex, Label, NumberField, RadioGroup, SelectList, Switch, Tag, Text, TextArea, TextField } from "gestalt";
import "gestalt/dist/gestalt.css";
import { useState } from "react";
import { json, SEND, start } from "./start.jsx";

const GOALS = [["AWARE", "Brand awareness"], ["SALES", "Catalogue sales"], ["VISITS", "Website visits"]];
const MARKETS = ["Austria", "Denmark", "Finland", "Norway", "Sweden"].map((label) => ({ label, value: label.slice(0, 2).toUpperCase() }));
const PLACES = [["home", "Home feed"], ["search", "Search results"], ["related", "Related pins"]];
const QUERY = "mutation CreateCampaign($campaign: CampaignInput!) { createCampaign(campaign: $campaign) { id } }";

start(function Campaign() {
  const [v, setV] = useState({ name: "", goal: "", market: null, budget: undefined, placements: [], bidding: "", keywords: [], starts: "", pitch: "", paused: false });
  const [text, setText] = useState("");
  const [state, setState] = useState("");
  const set = (name, value) => setV((old) => ({ ...old, [name]: value }));
  async function send(event) {
    event.preventDefault();
    const campaign = { name: v.name, objective: v.goal || null, country: v.market?.value ?? null, dailyBudget: v.budget ?? null, placements: v.placements, bidding: v.bidding || null, keywords: v.keywords, startDate: v.starts || null, pitch: v.pitch, status: v.paused ? "PAUSED" : "ACTIVE" };
    const answer = await (await fetch(SEND, json("POST", { operationName: "CreateCampaign", query: QUERY, variables: { campaign } }))).json();
    setState(answer.errors ? answer.errors[0].message : "Campaign created");
  }
  return (
    <Box width={460} margin={8}><form onSubmit={send}><Flex direction="column" gap={4}>
      {state && <Text>{state}</Text>}
      <TextField id="name" label="Campaign name" value={v.name} onChange={({ value }) => set("name", value)} />
      <SelectList id="goal" label="Objective" placeholder="Choose an objective" value={v.goal} onChange={({ value }) => set("goal", value)}>{GOALS.map(([value, label]) => <SelectList.Option key={value} label={label} value={value} />)}</SelectList>
      <ComboBox id="market" label="Market" noResultText="No such market" options={MARKETS} placeholder="Select a market" accessibilityClearButtonLabel="Clear market" onSelect={({ item }) => set("market", item)} onClear={() => set("market", null)} />
      <NumberField id="budget" label="Daily budget" min={1} value={v.budget} onChange={({ value }) => set("budget", value)} />
      <TextField id="starts" type="date" label="Starts on" value={v.starts} onChange={({ value }) => set("starts", value)} />
      <Fieldset legend="Placements">{PLACES.map(([value, label]) => <Checkbox key={value} id={value} label={label} checked={v.placements.includes(value)} onChange={({ checked }) => set("placements", checked ? [...v.placements, value] : v.placements.filter((one) => one !== value))} />)}</Fieldset>
      <RadioGroup id="bidding" legend="Bidding">{[["AUTO", "Automatic"], ["CUSTOM", "Custom bid"], ["TARGET", "Target cost"]].map(([value, label]) => <RadioGroup.RadioButton key={value} id={value} label={label} value={value} checked={v.bidding === value} onChange={() => set("bidding", value)} />)}</RadioGroup>
      <TextField id="keywords" label="Keywords" value={text} onChange={({ value }) => setText(value)} onKeyDown={({ event }) => { if (event.key !== "Enter" || !text) return; event.preventDefault(); set("keywords", [...v.keywords, text]); setText(""); }} tags={v.keywords.map((word) => <Tag key={word} text={word} accessibilityRemoveIconLabel={`Remove ${word}`} onRemove={() => set("keywords", v.keywords.filter((one) => one !== word))} />)} />
      <TextArea id="pitch" label="Pitch" value={v.pitch} onChange={({ value }) => set("pitch", value)} />
      <Flex gap={2}><Label htmlFor="paused"><Text>Paused at first</Text></Label><Switch id="paused" switched={v.paused} onChange={({ value }) => set("paused", value)} /></Flex>
      <Button type="submit" color="red" text="Create campaign" />
    </Flex></form></Box>
  );
});
