import { nativeFile } from "../../../env/forms/native.js";
import { NoWay, type Way } from "../way.js";

/** Attaches a small file of this name to a file input, or through the file chooser that a click opens. */
export const way: Way = {
  serves: ["file"],
  isQuiet: true,
  sends: true,
  isLiteral: true,
  variants: ["input", "box", "any", "chooser"].map((by) => ({ by })),
  async operate(place, value) {
    const { page, box, control, limit } = place;
    const name = nativeFile(value);
    const file = fileOf(name);
    const { by: where } = place.variant;
    if (where === "chooser") {
      const chooser = page.waitForEvent("filechooser", limit);
      chooser.catch(() => undefined);
      await control.click(limit);
      return (await chooser).setFiles(file);
    }
    const inputs = where === "any" ? page.locator("input[type=file]") : box.locator("input[type=file]");
    const input = where === "input" ? control.and(page.locator("input[type=file]")) : inputs.first();
    if (!(await place.has(input))) throw new NoWay("no file field");
    await input.setInputFiles(file, limit);
  },
};

/** Returns a small file of a name, as Playwright attaches it. */
export const fileOf = (
  name: string,
): { readonly name: string; readonly mimeType: string; readonly buffer: Buffer } => ({
  name,
  mimeType: typeOf(name),
  buffer: Buffer.from("refusion-train\n"),
});

function typeOf(name: string): string {
  const types: Record<string, string> = {
    pdf: "application/pdf",
    png: "image/png",
    jpg: "image/jpeg",
    jpeg: "image/jpeg",
    txt: "text/plain",
    csv: "text/csv",
  };
  return types[name.split(".").at(-1)?.toLowerCase() ?? ""] ?? "application/octet-stream";
}
