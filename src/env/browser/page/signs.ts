import type { PageForm } from "./reader.js";

/** What a page says about how a post went, to the eye. */
export interface PageSigns {
  readonly url: string;
  readonly title: string;
  readonly headings: readonly string[];
  /** Texts that are marked as errors. */
  readonly errors: readonly string[];
  /** Texts that are announced (alerts, states, flashes), and whether they are marked as good. */
  readonly notices: readonly { readonly text: string; readonly good: boolean }[];
  /** Fields that are marked as wrong. */
  readonly invalid: number;
  readonly password: boolean;
  /** Names or labels of the fields that can be seen, and the texts that they hold. */
  readonly fields: readonly string[];
  readonly held: readonly string[];
  /** Texts of single elements, in page order. */
  readonly texts: readonly string[];
  /** All of the page's text, cut. */
  readonly text: string;
}

/**
 * Runs IN THE PAGE: reads the signs of the document that is shown, or of an answer's text, whose scripts do not run.
 * Self-contained but for the kit, which works on what is shown.
 */
export function readSigns(page: PageForm, html: string | undefined): PageSigns {
  const { kit } = page;
  const other = html === undefined ? undefined : new DOMParser().parseFromString(html, "text/html");
  const all = (selector: string): HTMLElement[] => {
    if (other === undefined) return kit.all(selector).filter(kit.shown);
    return ([...other.querySelectorAll(selector)] as HTMLElement[]).filter(
      (e) => e.closest("[hidden],[style*='display:none'],[style*='display: none'],template,script,style") === null,
    );
  };
  const textOf = (e: HTMLElement): string => kit.clean(other === undefined ? e.innerText : e.textContent).slice(0, 500);
  const words = (text: string): boolean => /\p{L}{3}/u.test(text);
  const BAD =
    /(?:^|[-_\s])(?:errors?|errorlist|invalid|danger|negative|failure|not-valid(?:-tip)?|explain-error)(?:$|[-_\s])/i;
  const marked = all("[class]").filter(
    (e) =>
      BAD.test(String(e.getAttribute("class"))) &&
      !e.matches("input,select,textarea,form,body,html,button,a,fieldset") &&
      e.querySelector("input,select,textarea") === null,
  );
  const alerts = all(
    "[role=alert],[role=alertdialog],[role=status],[aria-live=polite],[aria-live=assertive],[class*=flash i],[class*=alert i],[class*=notice i],[class*=toast i],[class*=message i],[class*=success i],[id*=message i],[id*=status i],[id*=result i],output",
  ).filter((e) => e.querySelector("input:not([type=hidden]),select,textarea") === null);
  const fields = all("input,select,textarea").filter(
    (e) => !["hidden", "submit", "button", "image", "reset"].includes((e as HTMLInputElement).type),
  ) as HTMLInputElement[];
  const body = (other ?? document).body;
  const strip = (text: string): string => text.replace(/[*\s]+$/, "");
  return {
    url: document.URL,
    title: kit.clean((other ?? document).title),
    headings: all("h1,h2,h3,legend,caption,summary,dt,strong").map(textOf).slice(0, 20),
    errors: marked.map(textOf).filter(words).slice(0, 20),
    notices: alerts
      .map((e) => ({
        text: textOf(e),
        good: /success|positive|good|\bok\b|done|info/i.test(
          `${e.className} ${e.id} ${e.parentElement?.className ?? ""}`,
        ),
      }))
      .filter((n) => words(n.text))
      .slice(0, 20),
    invalid: all(
      "[aria-invalid=true],.is-invalid,.input-validation-error,.ng-invalid.ng-touched.ng-dirty,.Mui-error input",
    ).length,
    password: fields.some((f) => f.type === "password"),
    fields: fields.flatMap((f) => [f.name, strip(kit.ownLabel(f))]).filter((name) => name !== ""),
    held: fields
      .map((f) => (f.tagName === "TEXTAREA" && other !== undefined ? (f.textContent ?? "") : f.value))
      .filter((v) => v !== ""),
    texts: all("p,span,div,li,small,em,strong,b,td,dd,output,label,h1,h2,h3,h4,button,a")
      .filter((e) => [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && words(n.textContent ?? "")))
      .map((e) => textOf(e).slice(0, 300))
      .slice(0, 300),
    text: kit.clean(other === undefined ? body?.innerText : body?.textContent).slice(0, 4000),
  };
}

/** Runs IN THE PAGE: whether something that can be seen matches a selector; an invalid selector matches nothing. */
export function sees(page: PageForm, selector: string): boolean {
  try {
    return page.kit.all(selector).some(page.kit.shown);
  } catch {
    return false;
  }
}
