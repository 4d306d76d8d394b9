import type { FieldValue } from "../../site.js";
import type { PlaceOf, Wire } from "../contract.js";
import type { Evidence } from "../evidence.js";
import type { Operation } from "../operate.js";
import { fieldOf } from "../place.js";
import type { Kind } from "../values.js";
import type { Way } from "../way.js";

/** Places where a label's field may be, with the oddness that each adds. */
const PLACES = (label: string): readonly (readonly [locator: string, nth: number, oddness: number])[] => [
  [`label=${label}`, 0, 0],
  [fieldOf(label), 0, 0.4],
  [fieldOf(label), 1, 2.2],
  [fieldOf(label), 2, 3.4],
];
/** Oddness that each further variant of a way adds. */
const VARIANT = 0.12;

/** Oddness that is added to typing where a list offers the values. */
const TYPED = 4.7;
const TYPING = new Set(["fill", "type-leave", "keys"]);
const WRITING = new Set([...TYPING, "chips"]);
/** A calendar writes days as they are to be written: it comes before a notation that is guessed. */
const DAYS: ReadonlySet<Kind> = new Set(["date", "moment", "range"]);
/** Oddness that is taken off a way that did for another field of the kind, or that the field's own hint names. */
const KNOWN = 1.5;
/** Oddness that is taken off a way where the field holds what it is for. */
const SIGNED = 3.5;
/** Oddness that is added to a press of Enter where that sends the form. */
const SENDS = 4;

/** Oddness that is taken off what comes before all that is looked for by the label. */
const FIRST = 20;

/** Failures after which a way that has done once is left for another. */
const MOST_MISSES = 3;

/** States of candidates that the server has not judged yet, in the order of trial; a control may show nothing of its value. */
const UNTRIED = [undefined, "changed", "same"] as const;
const SEEN = ["shown", "changed", "same"] as const;

/** Ways that find an option by what it is called itself. */
const BY_NAME = new Set(["boxes", "radio", "hidden-radio"]);
const waysName = ({ operation }: Candidate): string => `${operation.way} ${operation.variant}`;

/** Share of a form's time that the search of one field may take. */
const FIELD_SHARE = 0.4;

/** The state of a place before anything is tried there. */
export interface Facts {
  /** Corners of the control and of its box: the same ones are the same place under another name. */
  readonly corners: string;
  /** For each CSS that was asked for: the field holds something like it. */
  readonly holds: readonly boolean[];
  /** The control says that values are chosen for it from a list or a calendar. */
  readonly isPicker: boolean;
  /** Set where it takes any text: that a day stands in it says nothing of how days are written there. */
  readonly isFree: boolean;
  /** Texts that may say how a value is written: `dd.mm.yyyy`. */
  readonly hint: string;
}

/** Knowledge of one way to operate a field. */
interface Candidate {
  readonly operation: Operation;
  oddness: number;
  /** `wrong`: the server did not get the value; `failed`: it could not be done. */
  fate?: "wrong" | "failed" | Evidence;
  /** The field holds what it is for, or it clicks what is called as the value: that its looks change is enough to try it. */
  isLikely?: boolean;
  /** Counts how often it did nothing after it had once done what it should. */
  misses?: number;
}

/** One label of a form while it is learned: the ways that are left, and what was found. */
export class LearnedField {
  readonly candidates: Candidate[];
  private at = 0;
  wire: Wire | undefined;
  /** The operation with which it arrived right. */
  good: Operation | undefined;
  step = 0;
  default: FieldValue = "";
  /** Set where it came to be seen after something else was done. */
  late = false;
  readonly byHand: boolean;
  /** Set where nothing had been done to it before the current way was tried on the page that is open. */
  isClean = true;
  isGivenUp = false;
  /** Its places have been looked at. */
  surveyed = false;
  /** Set where the page was slow: what failed is tried once more, and waited for longer. */
  isHurried = false;
  isPatient = false;
  /** Milliseconds that its search took so far, and when the one that goes on began. */
  private spent = 0;
  private begun: number | undefined;

  constructor(
    readonly label: string,
    readonly kind: Kind,
    private readonly ways: ReadonlyMap<string, Way>,
    values: readonly FieldValue[],
    private readonly formMs: number,
    first?: Operation & { readonly hand: boolean },
  ) {
    this.candidates = [...ways]
      .filter(([, way]) => way.serves.includes(kind))
      .flatMap(([name, way]) =>
        (way.variants ?? [""])
          .filter((variant) => values.some((value) => way.takes?.(value, variant) ?? true))
          .flatMap((variant, i) =>
            PLACES(label).map(([locator, nth, oddness]) => ({
              operation: { locator, nth, way: name, variant },
              oddness: way.oddness + i * VARIANT + oddness,
              isLikely: BY_NAME.has(name),
            })),
          ),
      );
    this.byHand = first?.hand === true;
    if (this.byHand) this.candidates.length = 0;
    if (first !== undefined) {
      const { locator, nth, way, variant } = first;
      this.candidates.push({ operation: { locator, nth, way, variant }, oddness: -10 });
    }
    this.order();
  }

  /** Sorts what is left; a way that was found stays. */
  private order(): void {
    const found = this.candidates.find(
      (c, i) => i === this.at && (c.fate === "shown" || c.fate === "changed" || c.fate === "same"),
    );
    this.candidates.sort((a, b) => a.oddness - b.oddness);
    if (found !== undefined) this.at = this.candidates.indexOf(found);
    else this.first();
  }

  /** Takes into account what stands at a place; a place that is none, or another's twin, is not tried. */
  weigh(
    { locator, nth }: PlaceOf,
    facts: Facts | undefined,
    suits: (way: string) => "never" | "maybe" | "likely",
  ): void {
    for (const candidate of this.byHand ? [] : this.candidates) {
      const { operation } = candidate;
      if (operation.locator !== locator || operation.nth !== nth || candidate.fate !== undefined) continue;
      const how = facts === undefined ? "never" : suits(operation.way);
      if (facts === undefined || how === "never") candidate.fate = "failed";
      else if (how === "likely") {
        candidate.oddness -= SIGNED;
        candidate.isLikely = true;
      } else if (isWritten(operation.variant, facts.hint)) candidate.oddness -= KNOWN;
      else if (facts.isPicker && WRITING.has(operation.way)) candidate.oddness += TYPED;
      else if (TYPING.has(operation.way) && DAYS.has(this.kind) && facts.isFree) candidate.oddness += TYPED;
      else if (DAYS.has(this.kind) && facts.isFree && operation.way !== "calendar") candidate.oddness += KNOWN;
    }
    this.order();
  }

  /** Its label is nowhere, though all else is filled in: options may still be found by their own names, until it comes. */
  goWithoutLabel(): void {
    if (this.surveyed || this.byHand || !this.isByLabel) return;
    const named = new Map(this.candidates.filter((c) => BY_NAME.has(c.operation.way)).map((c) => [waysName(c), c]));
    for (const { operation, oddness } of named.values())
      this.candidates.push({ operation: { ...operation, locator: "css=body", nth: 0 }, oddness: oddness - FIRST });
    // nothing of these has been tried in this round
    this.isClean = false;
    this.order();
  }

  /** Tells whether the present try is looked for by the label. */
  get isByLabel(): boolean {
    return this.current?.operation.locator.match(/^(?:label|field)=/) != null;
  }

  /** A press of Enter sends this form. */
  avoidEnter(): void {
    for (const candidate of this.candidates)
      if (/\bEnter\b/.test(candidate.operation.variant)) candidate.oddness += SENDS;
    this.order();
  }

  /** A way has done for another field of the kind. */
  prefer({ way, variant, nth }: Operation): void {
    if (this.good !== undefined || this.candidates.some(({ fate }) => fate === "shown")) return;
    const alike = ({ operation: o }: Candidate): boolean => o.way === way && o.variant === variant && o.nth === nth;
    for (const candidate of this.candidates) if (alike(candidate)) candidate.oddness -= KNOWN;
    this.order();
  }

  get current(): Candidate | undefined {
    return this.good === undefined ? this.candidates[this.at] : this.candidates.find((c) => c.operation === this.good);
  }

  /** The current way has done what it should before: it is tried again where it does not now. */
  isWorthAgain(): boolean {
    const { current } = this;
    if (current?.fate !== "shown") return false;
    current.misses = (current.misses ?? 0) + 1;
    return current.misses <= MOST_MISSES;
  }

  /** Goes on to the next candidate that nothing speaks against: first those that are untried, then those that changed something. */
  advance(fate: Candidate["fate"]): boolean {
    const current = this.candidates[this.at];
    if (current !== undefined && fate !== undefined) current.fate = fate;
    this.good = undefined;
    this.first();
    if (this.at === this.candidates.length && this.isHurried && !this.isPatient) return this.again();
    return this.at < this.candidates.length;
  }

  /** Its way put its value into another field: that failed, and what else is tried at that place comes last. */
  doubt(): void {
    const { current } = this;
    if (current === undefined) return;
    const { locator, nth } = current.operation;
    for (const other of this.candidates)
      if (other.operation.locator === locator && other.operation.nth === nth) other.oddness += TYPED;
    this.order();
    this.at = this.candidates.indexOf(current);
    this.advance("failed");
  }

  /** Takes back what failed, on a machine that was busy: its places are looked at anew. @returns false: not on this page. */
  private again(): false {
    for (const candidate of this.candidates) if (candidate.fate === "failed") delete candidate.fate;
    this.isPatient = true;
    this.surveyed = false;
    this.isClean = false;
    this.order();
    return false;
  }

  private first(): void {
    const next = UNTRIED.map((fate) => this.candidates.findIndex((c) => c.fate === fate)).find((at) => at >= 0);
    this.at = next ?? this.candidates.length;
  }

  /** Goes back to the first candidate that changed something, where no further one is tried now. */
  settle(): void {
    const best = SEEN.map((fate) => this.candidates.findIndex((c) => c.fate === fate)).find((at) => at >= 0);
    if (best !== undefined) this.at = best;
  }

  /** Set where no way is left to try, or no time. */
  get isLost(): boolean {
    return this.good === undefined && (this.isGivenUp || this.current === undefined || this.isSpent());
  }

  isSpent(): boolean {
    return this.spent + (this.begun === undefined ? 0 : performance.now() - this.begun) > FIELD_SHARE * this.formMs;
  }

  begin(): void {
    this.begun = performance.now();
  }

  /** The search is over for now; it costs nothing where the first way did it. */
  end(): void {
    if (this.begun !== undefined && !this.isSure) this.spent += performance.now() - this.begun;
    this.begun = undefined;
  }

  /** Its value is chosen among what the page offers, and no text that is typed: a code may stand for it. */
  get isPicked(): boolean {
    const { current } = this;
    return current !== undefined && this.ways.get(current.operation.way)?.isLiteral !== true;
  }

  get isSure(): boolean {
    const { current } = this;
    return current?.fate === "shown" || (current?.fate === "changed" && current.isLikely === true);
  }

  /** Counts how many of its ways did what they should, and the server got something else. */
  get wrongs(): number {
    return this.candidates.filter(({ fate }) => fate === "wrong").length;
  }

  /** Tells what was tried, in a few words. */
  get tried(): string {
    const done = this.candidates.filter((c) => c.fate !== undefined);
    const names = [...new Set(done.map((c) => c.operation.way))];
    return done.length === 0 ? "its place was not found" : `${done.length} tries of ${names.join(", ")}`;
  }
}

const isWritten = (variant: string, hint: string): boolean => {
  const pattern = /^[YMD]+[./ -][YMD]+[./ -][YMD]+/.exec(variant)?.[0];
  return (
    pattern !== undefined &&
    hint
      .toUpperCase()
      .split(/[^A-Z./-]+/)
      .includes(pattern)
  );
};
