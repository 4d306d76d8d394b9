import { Button, ChakraProvider, Checkbox, Combobox, createListCollection, defaultSystem, Dialog, Field, Heading, Input, Portal, RadioCard, RatingGroup, Select, Slider, Stack, TagsInput, Textarea } from "@chakra-ui/react";
import { useState } from "react";
import { Controller, useForm } from "react-hook-form";
import { json, SEND, start } from "./start.jsx";

const SPORTS = createListCollection({ items: [["b1", "Basketball"], ["b2", "Handball"], ["w1", "Rowing"], ["w2", "Swimming"]].map(([value, label]) => ({ value, label })) });
const CLUBS = ["Blue Herons", "Iron Valley", "Old Mill", "Red Kites"];

/** A list that narrows while one types. */
function Club({ field }) {
  const [items, setItems] = useState(CLUBS);
  const collection = createListCollection({ items: items.map((name) => ({ value: name, label: name })) });
  return (
    <Combobox.Root collection={collection} value={field.value ? [field.value] : []} onInputValueChange={(e) => setItems(CLUBS.filter((name) => name.toLowerCase().includes(e.inputValue.toLowerCase())))} onValueChange={(e) => field.onChange(e.value[0] ?? "")} openOnClick>
      <Combobox.Label>Club</Combobox.Label>
      <Combobox.Control><Combobox.Input placeholder="Type to search" /><Combobox.IndicatorGroup><Combobox.ClearTrigger /><Combobox.Trigger /></Combobox.IndicatorGroup></Combobox.Control>
      <Combobox.Positioner><Combobox.Content><Combobox.Empty>No club</Combobox.Empty>{collection.items.map((item) => <Combobox.Item item={item} key={item.value}>{item.label}<Combobox.ItemIndicator /></Combobox.Item>)}</Combobox.Content></Combobox.Positioner>
    </Combobox.Root>
  );
}

function Trainer() {
  const [open, setOpen] = useState(false);
  const [note, setNote] = useState("");
  const { register, control, handleSubmit, reset, formState: { errors } } = useForm({ defaultValues: { name: "", sport: "", club: "", level: "", hours: 4, skills: [], grade: 0, away: false, about: "" } });
  async function send(v) {
    const answer = await (await fetch(SEND, json("POST", { trainer: { ...v, level: v.level || null } }))).json();
    setNote(answer.trainer ? `Trainer no. ${answer.trainer} was added` : "The trainer could not be added");
    if (answer.trainer) { setOpen(false); reset(); }
  }
  const part = (name, render) => <Controller name={name} control={control} render={({ field }) => render(field)} />;
  return (
    <Stack m="8" width="480px">
      <Heading>Trainers</Heading>
      {note && <p role="status">{note}</p>}
      <Dialog.Root open={open} onOpenChange={(e) => setOpen(e.open)} scrollBehavior="outside">
        <Dialog.Trigger asChild><Button variant="outline">New trainer</Button></Dialog.Trigger>
        <Dialog.Backdrop />
        <Dialog.Positioner><Dialog.Content>
          <Dialog.Header><Dialog.Title>New trainer</Dialog.Title></Dialog.Header>
          <Dialog.Body>
            <form id="trainer" onSubmit={handleSubmit(send)} noValidate>
              <Stack gap="4">
                <Field.Root required invalid={!!errors.name}><Field.Label>Full name <Field.RequiredIndicator /></Field.Label><Input {...register("name", { required: "A name is needed" })} /><Field.ErrorText>{errors.name?.message}</Field.ErrorText></Field.Root>
                {part("sport", (field) => (
                  <Select.Root collection={SPORTS} value={field.value ? [field.value] : []} onValueChange={(e) => field.onChange(e.value[0])}>
                    <Select.HiddenSelect /><Select.Label>Sport</Select.Label>
                    <Select.Control><Select.Trigger><Select.ValueText placeholder="Select a sport" /></Select.Trigger><Select.IndicatorGroup><Select.Indicator /></Select.IndicatorGroup></Select.Control>
                    <Select.Positioner><Select.Content>{[["Ball games", 0, 2], ["On the water", 2, 4]].map(([group, from, to]) => <Select.ItemGroup key={group}><Select.ItemGroupLabel>{group}</Select.ItemGroupLabel>{SPORTS.items.slice(from, to).map((item) => <Select.Item item={item} key={item.value}>{item.label}<Select.ItemIndicator /></Select.Item>)}</Select.ItemGroup>)}</Select.Content></Select.Positioner>
                  </Select.Root>
                ))}
                {part("club", (field) => <Club field={field} />)}
                {part("level", (field) => <RadioCard.Root value={field.value} onValueChange={(e) => field.onChange(e.value)}><RadioCard.Label>Licence</RadioCard.Label><Stack direction="row">{[["C", "Basic", "Children"], ["B", "Advanced", "Youth teams"], ["A", "Professional", "League teams"]].map(([value, title, text]) => <RadioCard.Item key={value} value={value}><RadioCard.ItemHiddenInput /><RadioCard.ItemControl><RadioCard.ItemContent><RadioCard.ItemText>{title}</RadioCard.ItemText><RadioCard.ItemDescription>{text}</RadioCard.ItemDescription></RadioCard.ItemContent><RadioCard.ItemIndicator /></RadioCard.ItemControl></RadioCard.Item>)}</Stack></RadioCard.Root>)}
                {part("hours", (field) => <Slider.Root min={2} max={20} step={2} value={[field.value]} onValueChange={(e) => field.onChange(e.value[0])}><Slider.Label>Hours a week</Slider.Label> <Slider.ValueText /><Slider.Control><Slider.Track><Slider.Range /></Slider.Track><Slider.Thumbs /></Slider.Control></Slider.Root>)}
                {part("skills", (field) => <TagsInput.Root value={field.value} onValueChange={(e) => field.onChange(e.value)}><TagsInput.Label>Languages</TagsInput.Label><TagsInput.Control><TagsInput.Items /><TagsInput.Input placeholder="Add one" /></TagsInput.Control></TagsInput.Root>)}
                {part("grade", (field) => <RatingGroup.Root count={5} value={field.value} onValueChange={(e) => field.onChange(e.value)}><RatingGroup.Label>Our impression</RatingGroup.Label><RatingGroup.HiddenInput /><RatingGroup.Control /></RatingGroup.Root>)}
                {part("away", (field) => <Checkbox.Root checked={field.value} onCheckedChange={(e) => field.onChange(!!e.checked)}><Checkbox.HiddenInput /><Checkbox.Control /><Checkbox.Label>Travels to away games</Checkbox.Label></Checkbox.Root>)}
                <Field.Root><Field.Label>About</Field.Label><Textarea {...register("about")} /></Field.Root>
              </Stack>
            </form>
          </Dialog.Body>
          <Dialog.Footer><Dialog.ActionTrigger asChild><Button variant="outline">Cancel</Button></Dialog.ActionTrigger><Button type="submit" form="trainer">Save trainer</Button></Dialog.Footer>
        </Dialog.Content></Dialog.Positioner>
      </Dialog.Root>
    </Stack>
  );
}
start(() => <ChakraProvider value={defaultSystem}><Trainer /></ChakraProvider>);
