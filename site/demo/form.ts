/** Puts values into the controls of a form in the server's markup: the n-th `.field` belongs to the n-th label. */
export function showValues(
  form: HTMLElement,
  labels: readonly string[],
  values: Readonly<Record<string, string>>,
): void {
  const fields = [...form.querySelectorAll<HTMLElement>(".field")];
  labels.forEach((label, i) => {
    const field = fields[i];
    if (field !== undefined) showValue(field, values[label] ?? "");
  });
}

function showValue(field: HTMLElement, value: string): void {
  const choices = [...field.querySelectorAll<HTMLInputElement>("fieldset input")];
  if (choices.length > 0) {
    const items = value.split(",").map((item) => item.trim());
    for (const input of choices) input.checked = items.includes(input.closest("label")?.textContent?.trim() ?? "");
    return;
  }
  const control = field.querySelector<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>(
    "input, select, textarea",
  );
  if (control instanceof HTMLSelectElement) {
    const option = [...control.options].find(({ text }) => text === value);
    // the initial choice stays until the text is that of an option
    control.selectedIndex =
      option?.index ??
      Math.max(
        0,
        [...control.options].findIndex((one) => one.defaultSelected),
      );
  } else if (control instanceof HTMLInputElement && control.type === "checkbox") control.checked = value === "yes";
  else if (control !== null) control.value = value;
}
