import { Alert, Box, Button, ChakraProvider, Checkbox, CheckboxGroup, createListCollection, defaultSystem, Field, Fieldset, Heading, HStack, Input, NumberInput, Portal, RadioGroup, Select, Stack, Switch, Textarea } from "@chakra-ui/react";
import { useState } from "react";
import { Controller, useForm } from "react-hook-form";
import { json, SEND, start } from "./start.jsx";

const sizes = createListCollection({
  items: [
    { label: "Small (up to 10 kg)", value: "S" },
    { label: "Medium (10 to 25 kg)", value: "M" },
    { label: "Large (25 to 45 kg)", value: "L" },
    { label: "Giant (over 45 kg)", value: "XL" },
  ],
});
const extras = ["Grooming", "Long walk", "Training", "Photo a day"];

function Kennel() {
  const [result, setResult] = useState(null);
  const { register, control, handleSubmit, formState: { errors, isSubmitting } } = useForm({
    defaultValues: { dog: "", size: [], arrival: "", nights: "1", room: "shared", extras: [], vaccinated: false, notes: "" },
  });
  const onSubmit = handleSubmit(async (data) => {
    const payload = { booking: { dog: { name: data.dog, size: data.size[0], vaccinated: data.vaccinated }, stay: { from: data.arrival, nights: Number(data.nights), room: data.room }, extras: data.extras, notes: data.notes } };
    const response = await fetch(SEND, json("POST", payload));
    setResult(response.ok ? "success" : "error");
  });
  return (
    <Box maxW="lg" p="8">
      <Heading mb="4">Book a stay for your dog</Heading>
      {result && <Alert.Root status={result} mb="4"><Alert.Indicator /><Alert.Title>{result === "success" ? "Your booking has been received" : "Your booking failed"}</Alert.Title></Alert.Root>}
      <form onSubmit={onSubmit}>
        <Stack gap="4">
          <Field.Root invalid={!!errors.dog}>
            <Field.Label>Name of the dog</Field.Label>
            <Input {...register("dog", { required: "Name is required" })} />
            <Field.ErrorText>{errors.dog?.message}</Field.ErrorText>
          </Field.Root>
          <Field.Root invalid={!!errors.size}>
            <Field.Label>Size</Field.Label>
            <Controller
              control={control}
              name="size"
              rules={{ validate: (value) => value.length > 0 || "Size is required" }}
              render={({ field }) => (
                <Select.Root name={field.name} value={field.value} onValueChange={({ value }) => field.onChange(value)} onInteractOutside={() => field.onBlur()} collection={sizes}>
                  <Select.HiddenSelect />
                  <Select.Control>
                    <Select.Trigger><Select.ValueText placeholder="Select size" /></Select.Trigger>
                    <Select.IndicatorGroup><Select.Indicator /></Select.IndicatorGroup>
                  </Select.Control>
                  <Portal>
                    <Select.Positioner>
                      <Select.Content>
                        {sizes.items.map((size) => <Select.Item item={size} key={size.value}>{size.label}<Select.ItemIndicator /></Select.Item>)}
                      </Select.Content>
                    </Select.Positioner>
                  </Portal>
                </Select.Root>
              )}
            />
            <Field.ErrorText>{errors.size?.message}</Field.ErrorText>
          </Field.Root>
          <Field.Root invalid={!!errors.arrival}>
            <Field.Label>Arrival</Field.Label>
            <Input type="date" {...register("arrival", { required: "Arrival is required" })} />
            <Field.ErrorText>{errors.arrival?.message}</Field.ErrorText>
          </Field.Root>
          <Field.Root>
            <Field.Label>Nights</Field.Label>
            <Controller name="nights" control={control} render={({ field }) => (
              <NumberInput.Root name={field.name} value={field.value} min={1} max={60} onValueChange={({ value }) => field.onChange(value)}><NumberInput.Control /><NumberInput.Input onBlur={field.onBlur} /></NumberInput.Root>
            )} />
          </Field.Root>
          <Fieldset.Root>
            <Fieldset.Legend>Room</Fieldset.Legend>
            <Controller name="room" control={control} render={({ field }) => (
              <RadioGroup.Root name={field.name} value={field.value} onValueChange={({ value }) => field.onChange(value)}>
                <HStack gap="6">
                  {[["shared", "Shared room"], ["single", "Single room"], ["suite", "Suite with garden"]].map(([value, label]) => (
                    <RadioGroup.Item key={value} value={value}><RadioGroup.ItemHiddenInput onBlur={field.onBlur} /><RadioGroup.ItemIndicator /><RadioGroup.ItemText>{label}</RadioGroup.ItemText></RadioGroup.Item>
                  ))}
                </HStack>
              </RadioGroup.Root>
            )} />
          </Fieldset.Root>
          <Fieldset.Root>
            <Fieldset.Legend>Extras</Fieldset.Legend>
            <Controller name="extras" control={control} render={({ field }) => (
              <CheckboxGroup value={field.value} onValueChange={field.onChange} name={field.name}>
                {extras.map((extra) => <Checkbox.Root key={extra} value={extra}><Checkbox.HiddenInput /><Checkbox.Control /><Checkbox.Label>{extra}</Checkbox.Label></Checkbox.Root>)}
              </CheckboxGroup>
            )} />
          </Fieldset.Root>
          <Controller name="vaccinated" control={control} render={({ field }) => (
            <Switch.Root name={field.name} checked={field.value} onCheckedChange={({ checked }) => field.onChange(checked)}><Switch.HiddenInput onBlur={field.onBlur} /><Switch.Control /><Switch.Label>Vaccinated</Switch.Label></Switch.Root>
          )} />
          <Field.Root><Field.Label>Notes</Field.Label><Textarea {...register("notes")} /></Field.Root>
          <Button type="submit" loading={isSubmitting}>Book</Button>
        </Stack>
      </form>
    </Box>
  );
}
start(() => <ChakraProvider value={defaultSystem}><Kennel /></ChakraProvider>);
