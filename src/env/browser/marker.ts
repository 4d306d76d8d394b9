import type { SuccessMarker } from "../site.js";
import type { ReadForm } from "./controls.js";
import { readSigns, sees } from "./page/signs.js";

/** What came back besides the page that is shown. */
export interface CameBack {
  readonly statuses: readonly (number | undefined)[];
  readonly addresses: readonly string[];
  readonly texts: readonly string[];
}

/** Whether the page, or what came back, shows all that a marker asks for. */
export async function showsMarker(
  { handle }: Pick<ReadForm, "handle">,
  { status, url, text, selector }: SuccessMarker,
  { statuses, addresses, texts }: CameBack,
): Promise<boolean> {
  if (status !== undefined && ![status].flat().some((one) => statuses.includes(one))) return false;
  if (url !== undefined && !addresses.some((address) => address.includes(url))) return false;
  if (text !== undefined) {
    const signs = await handle.evaluate(readSigns, undefined);
    if (![signs.text, ...texts].some((one) => one.toLowerCase().includes(text.toLowerCase()))) return false;
  }
  return selector === undefined || (await handle.evaluate(sees, selector));
}
