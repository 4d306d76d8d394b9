import { loadFolder } from "./registry.js";

/** Records the spans of a process: what runs, how long, and within what. */
export interface Spans {
  run<T>(name: string, attributes: Readonly<Record<string, string | number>>, work: () => Promise<T>): Promise<T>;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

/** A way to record spans. Each file under spans/ exports one as `spans`. */
export interface SpansKind {
  /** @returns undefined where the environment does not turn it on. @throws UserError where it cannot be opened. */
  open(environment: Readonly<Record<string, string | undefined>>): Promise<Spans | undefined>;
}

let spans: Spans | undefined;

/** Tells whether spans are recorded. */
export function spansAreOn(): boolean {
  return spans !== undefined;
}

/**
 * Turns on spans for this process where its environment names a way to record them.
 * @param kinds replaces those of spans/ in tests.
 * @returns a function that sends the remaining spans and turns them off; undefined where they are off.
 */
export async function openSpans(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  kinds?: Iterable<SpansKind>,
): Promise<(() => Promise<void>) | undefined> {
  const known = kinds ?? (await loadFolder<SpansKind>(new URL("./spans/", import.meta.url), "spans")).values();
  for (const kind of known) spans ??= await kind.open(environment);
  const opened = spans;
  if (opened === undefined) return undefined;
  return async () => {
    spans = undefined;
    await opened.close();
  };
}

/** Runs work in a span, where spans are on; spans that it starts become children. */
export const inSpan: Spans["run"] = (name, attributes, work) =>
  spans === undefined ? work() : spans.run(name, attributes, work);
