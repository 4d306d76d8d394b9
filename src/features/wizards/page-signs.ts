import type { PageForm } from "../../env/browser/page/form.js";

/** The visible texts of a page. */
export type PageSigns = ReturnType<typeof readSigns>;

/** Runs IN THE PAGE: reads the signs of the current document. */
export function readSigns(page: PageForm) {
  const all = (selector: string): HTMLElement[] => page.all(selector).filter(page.shown);
  const textOf = (e: HTMLElement): string => page.clean(e.innerText).slice(0, 500);
  const words = (text: string): boolean => /\p{L}{3}/u.test(text);
  const FIELDS = "input:not([type=hidden]),select,textarea";
  const BAD =
    /(?:^|[-_\s])(?:errors?|errorlist|invalid|danger|negative|failure|not-valid(?:-tip)?|explain-error)(?:$|[-_\s])/i;
  // texts that are marked as errors
  const marked = all("[class]").filter(
    (e) =>
      BAD.test(String(e.getAttribute("class"))) &&
      !e.matches("input,select,textarea,form,body,html,button,a,fieldset") &&
      e.querySelector("input,select,textarea") === null,
  );
  // texts that are announced: alerts, states, flashes
  const alerts = all(
    "[role=alert],[role=alertdialog],[role=status],[aria-live=polite],[aria-live=assertive],[class*=flash i],[class*=alert i],[class*=notice i],[class*=toast i],[class*=message i],[class*=success i],[id*=message i],[id*=status i],[id*=result i],output",
  ).filter((e) => e.querySelector(FIELDS) === null);
  return {
    title: page.clean(document.title),
    headings: all("h1,h2,h3,legend,caption,summary,dt,strong").map(textOf).slice(0, 20),
    errors: marked.map(textOf).filter(words).slice(0, 20),
    notices: alerts.map(textOf).filter(words).slice(0, 20),
  };
}
