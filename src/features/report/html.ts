import { type html, raw } from "hono/html";
import { visible } from "../../core/shown.js";

/** A part of a page with escaped texts. */
export type Html = ReturnType<typeof html>;

/** Replaces control and direction characters by codes, so that a model's output cannot reorder or hide text. */
export const plain = (piece: Html): Html => raw(visible(String(piece), "\n\t"));
