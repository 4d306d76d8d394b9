/** State of the run; the page fetches it every second. */
export interface LiveState {
  /** Grows with every step; charts and rollouts are sent only for new versions. */
  readonly version: number;
  readonly title: string;
  /** Share of the steps that are done. */
  readonly progress: number;
  /** Texts by the ids of the elements that show them. */
  readonly texts: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  readonly charts?: string;
  readonly rollouts?: string;
}

/**
 * Follows the run: fetches its state every second. Content in use is not replaced: charts under the pointer or with the
 * keyboard's focus, and opened rollouts. Runs in the browser as text, so it may use nothing outside itself.
 */
function follow(): void {
  const part = <T extends HTMLElement>(id: string): T => document.querySelector<T>(`#${id}`) as T;
  let seen = 0;
  let waiting: string | undefined;
  let failures = 0;

  const showRollouts = (html: string): void => {
    waiting = undefined;
    part("latest").innerHTML = html;
    part("fresh").hidden = true;
  };
  part("fresh").addEventListener("click", () => {
    if (waiting !== undefined) showRollouts(waiting);
  });

  const showNotes = (notes: readonly string[]): void => {
    const list = part("notes");
    if (list.children.length === notes.length && list.lastChild?.textContent === notes.at(-1)) return;
    list.replaceChildren(...notes.map((textContent) => Object.assign(document.createElement("li"), { textContent })));
  };

  const show = (state: LiveState): void => {
    document.title = state.title;
    part<HTMLProgressElement>("progress").value = state.progress;
    for (const [id, text] of Object.entries(state.texts))
      if (part(id).textContent !== text) part(id).textContent = text;
    showNotes(state.notes);
    const charts = part("charts");
    const busy = charts.matches(":hover, :focus-within");
    if (state.charts !== undefined && !busy) {
      const open = [...charts.querySelectorAll("details")].map((details) => details.open);
      charts.innerHTML = state.charts;
      charts.querySelectorAll("details").forEach((details, i) => {
        details.open = open[i] ?? false;
      });
    }
    if (state.rollouts !== undefined) {
      if (part("latest").querySelector("details[open]") === null) showRollouts(state.rollouts);
      else {
        waiting = state.rollouts;
        part("fresh").hidden = false;
      }
    }
    // charts that were not replaced are fetched again
    if (!busy) seen = state.version;
  };

  const ask = async (): Promise<void> => {
    try {
      const response = await fetch(`state.json?seen=${seen}`, { cache: "no-store" });
      if (!response.ok) throw new Error(String(response.status));
      show((await response.json()) as LiveState);
      failures = 0;
    } catch {
      failures++;
    }
    part("gone").hidden = failures < 2;
    setTimeout(ask, document.hidden || failures >= 2 ? 5000 : 1000);
  };
  void ask();
}

/** The script of the live page, in addition to the report's. */
export const LIVE_SCRIPT = `(${follow})();`;
