import { sha256 } from "../../core/files.js";
import type { PageWorld } from "../../env/browser/page/world.js";

/** Hashes the controls of a page with their names and options, without values. */
export async function structureHash(world: PageWorld): Promise<string> {
  const parts = await world.evaluate(() => {
    const found: string[] = [];
    const visit = (node: Element | ShadowRoot): void => {
      for (const e of node.querySelectorAll("*")) {
        if (found.length > 3000) return;
        if (e.shadowRoot !== null) visit(e.shadowRoot);
        if (!e.matches("input:not([type=hidden]),select,textarea,button,label,legend,[role]")) continue;
        const stable = ["type", "role", "name", "placeholder", "aria-label"].map((a) => e.getAttribute(a) ?? "");
        const text = e.matches("label,legend,select")
          ? (e.textContent ?? "").replace(/\s+/g, " ").trim().slice(0, 500)
          : "";
        found.push([e.localName, ...stable.map((s) => s.replace(/\d+/g, "#")), text].join(" "));
      }
    };
    visit(document as unknown as ShadowRoot);
    return found;
  });
  return sha256(parts.join("\n")).slice(0, 16);
}
