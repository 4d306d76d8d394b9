import { isDeepStrictEqual } from "node:util";
import type { Wire } from "../../../env/forms/contract.js";
import { parseDate } from "../../../env/forms/normalize.js";
import { type Kind, NO_ANSWER, parseMoment, parseRange, writeDay } from "../../../env/forms/values.js";
import type { FieldValue } from "../../../env/site.js";
import type { PlaceOf } from "../contract.js";
import type { Evidence } from "../evidence.js";
import { type Operation, wayOf } from "../operate.js";
import { fieldOf, type Shown } from "../place.js";
import { natureOf, otherReadings } from "../record/actions.js";
import type { Way } from "../way.js";

/** Places where a label's field may be, with the cost that each adds. */
const PLACES = (label: string): readonly (readonly [locator: string, nth: number, cost: number])[] => [
  [`label=${label}`, 0, 0],
  [fieldOf(label), 0, 0.4],
  [fieldOf(label), 1, 2.2],
  [fieldOf(label), 2, 3.4],
];
/** Cost that each further variant of a way adds. */
const VARIANT = 0.12;

/** Cost added to typing where it is unlikely to work, and to places whose value went into another field. */
const TYPED = 4.7;
/** Kinds that a calendar writes in the notation of the page: it is tried before typing in a guessed notation. */
const DAYS: ReadonlySet<Kind> = new Set(["date", "moment", "range"]);
/** Cost taken off a way that worked for another field of the kind, or whose notation the field's hint names. */
const KNOWN = 1.5;
/** Cost taken off a way whose `signs` the field contains. */
const SIGNED = 3.5;
/** Cost added to a press of Enter where Enter sends the form. */
const SENDS = 4;

/** Cost taken off candidates that come first. */
const FIRST = 20;

/** Failures that are allowed to a way that has worked before. */
const MOST_MISSES = 3;

/** Fates of candidates to try next, in order; `same` counts, as some controls do not show their value. */
const UNTRIED = [undefined, "changed", "same"] as const;
const SEEN = ["shown", "changed", "same"] as const;

/** Ways that find an option by its own name. */
const BY_NAME = new Set(["boxes", "radio", "hidden-radio"]);
/** Ways that may change only the look of a field: the server judges them, as a further way could undo the choice. */
const CLICKING = new Set([...BY_NAME, "open-pick"]);
const waysName = ({ operation }: Candidate): string => JSON.stringify([operation.way, operation.variant]);

/** Share of a form's time that the search of one field may take. */
const FIELD_SHARE = 0.4;

/** The state of a place before anything is tried there. */
export interface Facts {
  /** Positions and sizes of the control and its box: places with equal ones are the same place. */
  readonly corners: string;
  /** For each CSS selector of the ways: whether the field contains a match. */
  readonly holds: readonly boolean[];
  /** Set if the control is marked as a picker, or cannot be seen: its value is chosen from a list or a calendar. */
  readonly isPicker: boolean;
  /** Set if the control takes any text: a day shown in it does not prove its notation. */
  readonly isFree: boolean;
  /** Set if the control takes any text, and no list belongs to it. */
  readonly isWritten: boolean;
  /** Texts that may name the notation: `dd.mm.yyyy`. */
  readonly hint: string;
}

/** One operation that may work for a field, with its results so far. */
interface Candidate {
  readonly operation: Operation;
  cost: number;
  /**
   * `wrong`: the server did not receive the value; `failed`: the operation could not be carried out; `unfit`: the place
   * is not there, or lacks what the way needs.
   */
  fate?: "wrong" | "failed" | "unfit" | Evidence;
  /** Set if the field has the way's `signs`, or an option is clicked by name: any change then counts as success. */
  isLikely?: boolean;
  /** Set if it was moved forward because it had worked for another field. */
  isKnown?: boolean;
  /** Set if its control takes any text: a cut value in the request is then no code for it. */
  isFreeText?: boolean;
  /** Counts the failures after a first success. */
  misses?: number;
}

/** A field of a form while it is learned: its candidates and the findings. */
export class LearnedField {
  readonly candidates: Candidate[];
  private at = 0;
  wire: Wire | undefined;
  /** The operation whose value arrived correctly at the server. */
  good: Operation | undefined;
  /** A text that arrived in place of the whole value, with its key. */
  cut: { readonly key: string; readonly raw: string } | undefined;
  step = 0;
  /** The value of the untouched field; undefined until the field is there. */
  preset: FieldValue | undefined;
  /** Set if the field appeared only after another one was operated. */
  isDependent = false;
  readonly byHand: boolean;
  /** Set if no earlier try has changed the field on the open page. */
  isClean = true;
  isGivenUp = false;
  /** Set for a file on a page that sends requests before the form: the form then waits for its upload. */
  isUploaded = false;
  /** Set once `survey` has looked at its places. */
  surveyed = false;
  /** `isHurried`: the page was slow during a try. `isPatient`: failed candidates get a second try with longer waits. */
  isHurried = false;
  isPatient = false;
  /** Time that its search took so far, and the start of the running search, in milliseconds. */
  private spent = 0;
  private begun: number | undefined;

  constructor(
    readonly label: string,
    readonly kind: Kind,
    private readonly ways: ReadonlyMap<string, Way>,
    values: readonly FieldValue[],
    private readonly formMs: number,
    first?: Operation & { readonly hand: boolean },
    private isRecorded = false,
  ) {
    this.candidates = [...ways]
      .filter(([, way]) => way.serves.includes(kind))
      .flatMap(([name, way]) =>
        (way.variants ?? [{}])
          .filter((variant) => values.some((value) => way.takes?.(value, variant) ?? true))
          .flatMap((variant, i) =>
            PLACES(label).map(([locator, nth, cost]) => ({
              operation: { locator, nth, way: name, variant },
              cost: way.cost + i * VARIANT + cost,
              isLikely: CLICKING.has(name),
            })),
          ),
      );
    this.byHand = first?.hand === true;
    if (this.byHand) this.candidates.length = 0;
    // recorded steps need no look at the label's places
    this.surveyed = isRecorded;
    if (first !== undefined) {
      const { locator, nth, way, variant, actions } = first;
      for (const [i, steps] of [actions, ...otherReadings(actions ?? [])].entries())
        this.candidates.push({
          operation: { locator, nth, way, variant, ...(steps && { actions: steps }) },
          cost: i - FIRST,
          isFreeText: actions !== undefined && natureOf(actions).isTyping === true,
        });
    }
    this.order();
  }

  /** Sorts the candidates by cost; one that has worked stays the current one. */
  private order(): void {
    const found = this.candidates.find(
      (c, i) => i === this.at && (c.fate === "shown" || c.fate === "changed" || c.fate === "same"),
    );
    this.candidates.sort((a, b) => a.cost - b.cost);
    if (found !== undefined) this.at = this.candidates.indexOf(found);
    else this.first();
  }

  /** Reads the preset when the field is there for the first time. */
  readPreset({ present, values, on, unset }: Shown): void {
    if (!present || this.preset !== undefined) return;
    const first = values.find((value) => value !== "") ?? "";
    if (this.kind === "flag") this.preset = unset ? NO_ANSWER : on.length > 0;
    else if (this.kind === "list") this.preset = [...on];
    else if (this.kind === "number") this.preset = /\d/.test(first) ? first : "";
    else this.preset = values.length === 1 ? first : "";
  }

  /** The value that is sent where the field is left alone. */
  get default(): FieldValue {
    return this.preset ?? (this.kind === "flag" ? false : this.kind === "list" ? [] : "");
  }

  /** Adapts the candidates of a place to its facts. @param facts undefined if the place is missing or a duplicate. */
  weigh(
    { locator, nth }: PlaceOf,
    facts: Facts | undefined,
    suits: (way: string) => "never" | "maybe" | "likely",
  ): void {
    for (const candidate of this.byHand ? [] : this.candidates) {
      const { operation } = candidate;
      if (operation.locator !== locator || operation.nth !== nth || candidate.fate !== undefined) continue;
      const how = facts === undefined ? "never" : suits(operation.way);
      candidate.isFreeText = facts?.isWritten === true;
      const isTyping = this.ways.get(operation.way)?.isTyping === true;
      if (facts === undefined || how === "never") candidate.fate = "unfit";
      else if (how === "likely") {
        candidate.cost -= SIGNED;
        candidate.isLikely = true;
      } else if (isWritten(operation.variant.day, facts.hint)) candidate.cost -= KNOWN;
      else if (facts.isPicker && (isTyping || operation.way === "chips")) candidate.cost += TYPED;
      else if (isTyping && DAYS.has(this.kind) && facts.isFree) candidate.cost += TYPED;
      else if (DAYS.has(this.kind) && facts.isFree && operation.way !== "calendar") candidate.cost += KNOWN;
    }
    this.order();
  }

  /** Moves variants forward in whose notation a calendar has written the wanted day or today into the field. */
  preferWritten(text: string, value: FieldValue): void {
    const today = new Date().toLocaleDateString("sv");
    const days = [today, ...(parseRange(value) ?? [parseMoment(value)?.date ?? parseDate(value) ?? today])];
    for (const candidate of this.candidates) {
      const { day: pattern } = candidate.operation.variant;
      if (pattern !== undefined && days.some((day) => text.includes(writeDay(day, pattern)))) candidate.cost -= FIRST;
    }
    this.order();
  }

  /** Adds candidates for a label that is not on the page: they find options by their own names. */
  goWithoutLabel(): void {
    if (this.surveyed || this.byHand || !this.isByLabel) return;
    const named = new Map(this.candidates.filter((c) => BY_NAME.has(c.operation.way)).map((c) => [waysName(c), c]));
    for (const { operation, cost } of named.values())
      this.candidates.push({ operation: { ...operation, locator: "css=body", nth: 0 }, cost: cost - FIRST });
    // the new candidates were not tried in this round: the next one has to try them
    this.isClean = false;
    this.order();
  }

  /** Tells whether the current candidate is found by the label. */
  get isByLabel(): boolean {
    return this.current?.operation.locator.match(/^(?:label|field)=/) != null;
  }

  /** Tells whether the current candidate may be right: a likely change, or a choice that shows in no label's field. */
  mayBeRight(evidence: Candidate["fate"]): boolean {
    if (evidence === "changed") return this.current?.isLikely === true || this.kind === "list";
    return evidence === "same" && !this.isByLabel;
  }

  /** Moves variants that press Enter back: Enter sends this form. */
  avoidEnter(): void {
    for (const candidate of this.candidates) if (candidate.operation.variant.key === "Enter") candidate.cost += SENDS;
    this.order();
  }

  /** Moves a way forward, once, that has worked for another field of the same kind. */
  prefer({ way, variant, nth }: Operation): void {
    if (this.good !== undefined || this.candidates.some(({ fate }) => fate === "shown")) return;
    const alike = ({ operation: o }: Candidate): boolean =>
      o.way === way && isDeepStrictEqual(o.variant, variant) && o.nth === nth;
    for (const candidate of this.candidates) {
      if (alike(candidate) && candidate.isKnown !== true) candidate.cost -= KNOWN;
      candidate.isKnown ||= alike(candidate);
    }
    this.order();
  }

  get current(): Candidate | undefined {
    return this.good === undefined ? this.candidates[this.at] : this.candidates.find((c) => c.operation === this.good);
  }

  /** Counts a failure of the current way. @returns whether to try it again: it has worked before and failed rarely. */
  isWorthAgain(): boolean {
    const { current } = this;
    if (current?.fate !== "shown") return false;
    current.misses = (current.misses ?? 0) + 1;
    return current.misses <= MOST_MISSES;
  }

  /** Tells, at most once, whether a value that the page showed may be missing because the page was slow. */
  isWorthRound(): boolean {
    return this.isHurried && this.current?.misses === undefined && this.isWorthAgain();
  }

  /** Records the current candidate's fate and goes on to the next. @returns false if none is left for this page. */
  advance(fate: Candidate["fate"]): boolean {
    const current = this.candidates[this.at];
    if (current !== undefined && fate !== undefined) current.fate = fate;
    this.good = undefined;
    this.first();
    // where the recorded steps fail, the field is searched
    if (this.isRecorded && this.isByLabel) this.isRecorded = this.surveyed = false;
    if (this.at === this.candidates.length && this.isHurried && !this.isPatient) return this.retryFailed();
    return this.at < this.candidates.length;
  }

  /** Marks the current candidate as failed, as its value went into another field; others at its place move back. */
  doubt(): void {
    const { current } = this;
    if (current === undefined) return;
    const { locator, nth } = current.operation;
    for (const other of this.candidates)
      if (other.operation.locator === locator && other.operation.nth === nth) other.cost += TYPED;
    this.order();
    this.at = this.candidates.indexOf(current);
    this.advance("failed");
  }

  /** Resets the candidates that failed on a busy machine. @returns false: they are tried on the next page. */
  private retryFailed(): false {
    for (const candidate of this.candidates) if (/failed|unfit/.test(candidate.fate ?? "")) delete candidate.fate;
    this.isPatient = true;
    this.surveyed = false;
    this.isClean = false;
    this.order();
    return false;
  }

  /** Gives up the field, as the request does not hold its values where they were found before. */
  lose(): void {
    this.good = undefined;
    this.wire = undefined;
    this.isGivenUp = true;
  }

  private first(): void {
    const next = UNTRIED.map((fate) => this.candidates.findIndex((c) => c.fate === fate)).find((at) => at >= 0);
    this.at = next ?? this.candidates.length;
  }

  /** Goes back to the candidate with the best evidence when the search stops. */
  settle(): void {
    const best = SEEN.map((fate) => this.candidates.findIndex((c) => c.fate === fate)).find((at) => at >= 0);
    if (best !== undefined) this.at = best;
  }

  /** Tells whether no candidate or no time is left. */
  get isLost(): boolean {
    return this.good === undefined && (this.isGivenUp || this.current === undefined || this.isSpent());
  }

  isSpent(): boolean {
    return this.spent + (this.begun === undefined ? 0 : performance.now() - this.begun) > FIELD_SHARE * this.formMs;
  }

  begin(): void {
    this.begun = performance.now();
  }

  /** Stops the clock of the search; time is not counted for a field that is sure. */
  end(): void {
    if (this.begun !== undefined && !this.isSure) this.spent += performance.now() - this.begun;
    this.begun = undefined;
  }

  /** Tells whether its value is chosen from options, so that the request may hold a code for it. */
  get isPicked(): boolean {
    const { current } = this;
    return current !== undefined && wayOf(this.ways, current.operation).isLiteral !== true;
  }

  /** Tells whether its value is typed into a control that takes any text. */
  get isFreeText(): boolean {
    return this.current?.isFreeText === true;
  }

  /** Tells, at most once, whether a native list failed: its options may come late, after those of another field. */
  waitsOnce(): boolean {
    const way = this.ways.get(this.current?.operation.way ?? "");
    const isList = way?.isQuiet === true && way.isTyping !== true;
    const waits = isList && !this.hasWaited;
    this.hasWaited ||= isList;
    return waits;
  }
  private hasWaited = false;

  /** Tells whether its way replaces the text of an input. */
  get isTyped(): boolean {
    return this.current !== undefined && wayOf(this.ways, this.current.operation).isTyping === true;
  }

  get isSure(): boolean {
    const { current } = this;
    return current?.fate === "shown" || (current?.fate === "changed" && current.isLikely === true);
  }

  /** Counts the candidates whose value did not arrive at the server. */
  get wrongs(): number {
    return this.candidates.filter(({ fate }) => fate === "wrong").length;
  }

  /** Sums up the tries in a few words. */
  get tried(): string {
    const done = this.candidates.filter((c) => c.fate !== undefined && c.fate !== "unfit");
    const names = [...new Set(done.map((c) => c.operation.way))];
    if (done.length === 0) return "its place was not found";
    const tries = `${done.length} tries of ${names.join(", ")}`;
    if (this.cut !== undefined)
      return `only a part of its value arrived, ${JSON.stringify(this.cut.raw)} under ${this.cut.key}; ${tries}`;
    if (this.wire !== undefined) return `its key is ${this.wire.key}, but not every value arrived there; ${tries}`;
    return this.isSure ? `the page shows its value, and no request held it; ${tries}` : tries;
  }
}

/** Replaces an example of a day by its pattern: `24.12.2026` by `DD.MM.YYYY`, unless it can be read in two ways. */
const exampled = (hint: string): string =>
  hint.replace(/\b(\d\d)([./-])(\d\d)\2\d{4}\b/g, (text, a: string, by: string, b: string) => {
    if (Number(a) > 12 === Number(b) > 12) return text;
    return `${Number(a) > 12 ? "DD" : "MM"}${by}${Number(a) > 12 ? "MM" : "DD"}${by}YYYY`;
  });

/** Tells whether a hint names the notation of a day. */
const isWritten = (day: string | undefined, hint: string): boolean =>
  day !== undefined &&
  /[./-]/.test(day) &&
  exampled(hint)
    .toUpperCase()
    .split(/[^A-Z./-]+/)
    .includes(day);
