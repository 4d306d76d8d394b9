/** A span of numbers that an option's text stands for; both ends are included unless it is `open`. */
interface Span {
  readonly low: number;
  readonly high: number;
  readonly open?: true;
}

const NUMBER = String.raw`[$\u20ac\u00a3]?\s*(\d[\d,]*(?:\.\d+)?)\s*([km]\b)?`;
const UNIT = String.raw`\s*(?:%|[a-z][a-z ]*)?`;
const TO = String.raw`\s*(?:-|\u2013|\u2014|to|and)\s*`;
/** The wordings of ranges, with the span of the one or two numbers in them. */
const SPANS: readonly (readonly [wording: string, span: (first: number, second: number) => Span])[] = [
  [`(?:between\\s|from\\s)?\\s*${NUMBER}${UNIT}${TO}${NUMBER}${UNIT}`, (low, high) => ({ low, high })],
  [
    `${NUMBER}\\s*(?:\\+|-?\\s*plus\\b|(?:or|and)\\s+(?:more|above|over|older|up))${UNIT}`,
    (low) => ({ low, high: Infinity }),
  ],
  [`(?:at least|from)\\s*${NUMBER}${UNIT}`, (low) => ({ low, high: Infinity })],
  [`(?:over|more than|above|>)\\s*${NUMBER}${UNIT}`, (low) => ({ low, high: Infinity, open: true })],
  [`(?:up to|at most)\\s*${NUMBER}${UNIT}`, (high) => ({ low: -Infinity, high })],
  [`(?:under|less than|below|<)\\s*${NUMBER}${UNIT}`, (high) => ({ low: -Infinity, high, open: true })],
];
const WORDINGS = SPANS.map(([wording, span]) => [new RegExp(`^${wording}$`, "i"), span] as const);

function amount(digits = "0", scale = ""): number {
  const factor = { k: 1e3, m: 1e6 }[scale.toLowerCase()] ?? 1;
  return Number(digits.replaceAll(",", "")) * factor;
}

function numberSpan(text: string): Span | undefined {
  for (const [wording, span] of WORDINGS) {
    const m = wording.exec(text);
    if (m !== null) return span(amount(m[1], m[2]), amount(m[3], m[4]));
  }
  return undefined;
}

const CLOCK = String.raw`\d{1,2}(?::\d{2})?\s*(?:[ap]\.?m\.?)|\d{1,2}:\d{2}`;
const HOURS = new RegExp(`(${CLOCK})${TO}(${CLOCK})`, "i");

/** Tells whether an option's text is a range that contains a number: `$30,001 - $60,000`, `10 or more`, `under 18`. */
export function holdsNumber(text: string, wanted: number): boolean {
  const span = numberSpan(text);
  if (span === undefined) return false;
  return span.open ? span.low < wanted && wanted < span.high : span.low <= wanted && wanted <= span.high;
}

/**
 * Tells whether an option's text names a span of hours that contains a time: `Afternoon (1:00 PM - 4:00 PM)`.
 * @param wanted `HH:MM`.
 * @param parse reads a time of day as `HH:MM`.
 */
export function holdsTime(text: string, wanted: string, parse: (text: string) => string | undefined): boolean {
  const m = HOURS.exec(text);
  const low = parse(m?.[1] ?? "");
  const high = parse(m?.[2] ?? "");
  return low !== undefined && high !== undefined && low <= wanted && wanted <= high;
}
