import { type html, raw } from "hono/html";
import { visible } from "../../core/shown.js";

/** A piece of a page: its texts are escaped. */
export type Html = ReturnType<typeof html>;

/** A piece with control and direction characters as codes: a model's output cannot reorder or hide text of the page. */
export const plain = (piece: Html): Html => raw(visible(String(piece), "\n\t"));
