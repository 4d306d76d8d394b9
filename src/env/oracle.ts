import type { Action } from "./plan.js";
import type { FieldKind, FieldValue } from "./site.js";
export function oracleActions(fields: Readonly<Record<string, FieldValue>>, kinds: Readonly<Record<string, FieldKind>>): Action[] {
  const out: Action[] = [];
  for (const [label, value] of Object.entries(fields)) {
    const k = kinds[label] as FieldKind;
    if (k.kind === "checkbox") { if (value !== k.default) out.push({ kind: value === true ? "check" : "uncheck", label }); }
    else if (k.kind === "select" || k.kind === "radio") out.push({ kind: "select", label, value: String(value) });
    else out.push({ kind: "fill", label, value: String(value) });
  }
  out.push({ kind: "submit" });
  return out;
}
