// The pages of test/features/agent/unseen: a page, a person's text, and the right values. No model of this project was trained
// on them, and their labels use other words than the texts do. Pages whose names begin with `dev-` were read during the
// development of the agent; of the others only the scores were.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./setup.mjs";

const FOLDER = join(ROOT, "test", "features", "agent", "unseen");

/** Reads the pages. @param dev selects those for development instead of the reported ones. */
export function unseenPages(dev) {
  const names = readdirSync(FOLDER).filter((name) => name.startsWith("dev-") === dev);
  return names.map((name) => {
    const read = (file) => readFileSync(join(FOLDER, name, file), "utf8");
    const truth = JSON.parse(read("truth.json"));
    return { name, url: pathToFileURL(join(FOLDER, name, "page.html")).href, text: read("text.txt").trim(), truth };
  });
}

/** Runs in the page and collects the values that its largest form would send, by name. */
export function wouldSend() {
  const [form] = [...document.forms].sort((a, b) => b.elements.length - a.elements.length);
  const data = {};
  for (const [name, value] of new FormData(form)) data[name] = [...(data[name] ?? []), String(value)];
  return data;
}

const plain = (text) => text.normalize("NFC").replace(/\s+/g, " ").trim().replace(/\.$/, "").toLowerCase();
const same = (a, b) => JSON.stringify(a.map(plain).sort()) === JSON.stringify(b.map(plain).sort());

/**
 * Judges each field: whether its value is right, and whether the text states it (otherwise it must not change). A truth
 * is a text, a list for a group of boxes, `{any: [...]}` for several right texts, or null for a field that the text
 * does not state. Case, spaces and a final full stop are ignored.
 */
export function judged(truth, before, after) {
  return Object.entries(truth).map(([name, wanted]) => {
    const held = after[name] ?? [];
    const fits = (text) => same(held, [text]) || (text === "" && held.length === 0);
    const right =
      wanted === null
        ? same(held, before[name] ?? [])
        : Array.isArray(wanted)
          ? same(held, wanted)
          : (wanted.any ?? [wanted]).some(fits);
    return { name, wanted, held, right, asked: wanted !== null };
  });
}
