import type { KnownFormsKind } from "../../../env/known-forms.js";
import { Contracts } from "../contracts.js";

/** Forms that are learned in closed loop with their server, once, before their first episode. */
export const knownForms: KnownFormsKind = {
  open: (options, tasks, tell) => new Contracts(options, tasks, tell),
};
