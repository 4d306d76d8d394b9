import type { Phase } from "../../../watch/watcher.js";

/** State of the run, which the page fetches every second. */
export interface LiveState {
  /** Grows with every step; charts and rollouts come only where the page has not seen it yet. */
  readonly version: number;
  readonly name: string;
  readonly command: string;
  readonly step: number;
  readonly steps: number;
  readonly reward: number | null;
  readonly success: number | null;
  readonly kl: number | null;
  readonly loss: number | null;
  readonly eta: number | null;
  readonly phase: Phase | null;
  readonly notes: readonly string[];
  readonly charts?: string;
  readonly rollouts?: string;
}

/**
 * Follows the run: asks for its state every second. What somebody is reading stays as it is: charts under the pointer or
 * the keyboard's focus, and opened rollouts. Runs in the browser as text, so it may use nothing outside itself.
 */
function follow(): void {
  const part = <T extends HTMLElement>(id: string): T => document.querySelector<T>(`#${id}`) as T;
  let seen = 0;
  let waiting: string | undefined;
  let failures = 0;

  const put = (id: string, value: string): void => {
    const element = part(id);
    if (element.textContent !== value) element.textContent = value;
  };
  const number = (value: number | null, digits: number): string => (value === null ? "–" : value.toFixed(digits));
  const duration = (seconds: number): string =>
    seconds < 60 ? `${seconds.toFixed(0)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;

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
    const { phase, steps } = state;
    document.title = `${state.step}/${steps} ${state.name}`;
    put("name", state.name);
    const count = phase?.done === undefined ? "" : ` ${phase.done}/${phase.all}`;
    put(
      "phase",
      `${state.command} · ${phase === null ? "starting" : `${phase.doing}${count}${phase.now === undefined ? "" : ` · ${phase.now}`}`}`,
    );
    part<HTMLProgressElement>("progress").value = steps === 0 ? 0 : state.step / steps;
    put("at", `${state.step} of ${steps}`);
    put("reward", number(state.reward, 3));
    put("success", state.success === null ? "–" : `${(100 * state.success).toFixed(0)} %`);
    put("kl", state.kl === null ? "–" : state.kl.toPrecision(2));
    put("loss", state.loss === null ? "–" : state.loss.toPrecision(3));
    put("eta", state.eta === null ? "–" : duration(state.eta));
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
    // what was not shown is asked for again
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

/** The script of the live page, besides that of the report. */
export const LIVE_SCRIPT = `(${follow})();`;
