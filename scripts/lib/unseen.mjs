// The pages of test/library/unseen: a page, what somebody wrote, and what is right to send. No model here was trained on
// them, and their labels are other words than the texts'. Those whose names begin with `dev-` were looked at while the
// agent was made; the others were only counted.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./setup.mjs";

const FOLDER = join(ROOT, "test", "library", "unseen");

/** @param dev the pages for development, or the reported ones. */
export function unseenPages(dev) {
  const names = readdirSync(FOLDER).filter((name) => name.startsWith("dev-") === dev);
  return names.map((name) => {
    const read = (file) => readFileSync(join(FOLDER, name, file), "utf8");
    const truth = JSON.parse(read("truth.json"));
    return { name, url: pathToFileURL(join(FOLDER, name, "page.html")).href, text: read("text.txt").trim(), truth };
  });
}

/** Runs in the page: what its largest form would send, by name. */
export function wouldSend() {
  const [form] = [...document.forms].sort((a, b) => b.elements.length - a.elements.length);
  const data = {};
  for (const [name, value] of new FormData(form)) data[name] = [...(data[name] ?? []), String(value)];
  return data;
}

const plain = (text) => text.normalize("NFC").replace(/\s+/g, " ").trim().replace(/\.$/, "").toLowerCase();
const same = (a, b) => JSON.stringify(a.map(plain).sort()) === JSON.stringify(b.map(plain).sort());

/**
 * What became of each field: right or not, and whether the text says it (else it has to stay as it was). A truth is a
 * text, a list for a group of boxes, `{any: [...]}` for several right texts, or null for what the text leaves open. Case,
 * spaces and a last full stop do not count.
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
