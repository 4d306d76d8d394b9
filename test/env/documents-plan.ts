import type { Action } from "../../src/env/forms/plan.js";

/** Writes actions in the sentences of the design documents. */
export const documentsPlan = (actions: readonly Action[]): string =>
  actions.map((action, i) => `Step ${i + 1}: ${sentence(action)}`).join("\n");

function sentence(action: Action): string {
  switch (action.kind) {
    case "goto":
      return `Navigate to ${action.url}`;
    case "submit":
      return "Click the Submit button";
    case "fill":
      return `Type '${action.value}' into the '${action.label}' field`;
    case "select":
      return `Select '${action.value}' from the '${action.label}' field`;
    case "click":
      return `Click on the '${action.label}' input field`;
    default:
      return `Click on the '${action.label}' checkbox to ${action.kind === "check" ? "enable" : "disable"} it`;
  }
}
