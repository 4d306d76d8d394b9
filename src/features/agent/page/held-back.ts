/** State of a page that is held back. */
export type HeldPage = ReturnType<typeof holdBack>;

/**
 * Runs IN THE PAGE: stops forms from being sent and their window from being closed while the page is filled in, and its
 * navigations until somebody touches it, or `letGo` is called.
 */
export function holdBack() {
  let isFilling = true;
  let isTouched = false;
  const stopped: string[] = [];
  const stop = (event: Event): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const sends = (e: EventTarget): boolean =>
    e instanceof HTMLElement &&
    (e.getAttribute("type") === "submit" || ("type" in e && e.type === "submit" && "form" in e && e.form !== null));
  const onClick = (event: Event): void => {
    if (isFilling && event.composedPath().some(sends)) stop(event);
  };
  const OPEN = "[role=dialog],[role=listbox],[role=menu],[role=grid],[role=tree],dialog[open],[aria-expanded=true]";
  const openNow = (): Element[] =>
    [...document.querySelectorAll(OPEN)].filter((e) => e.checkVisibility({ visibilityProperty: true }));
  let openBefore = new Set(openNow());
  // Escape closes lists; it must not close the window of the form
  const onKey = (event: Event): void => {
    if (isFilling && (event as KeyboardEvent).key === "Escape" && openNow().every((e) => openBefore.has(e)))
      stop(event);
  };
  const onTouch = (event: Event): void => {
    isTouched ||= !isFilling && event.isTrusted;
  };
  // not fired where the browser's user navigates
  const onNavigate = (event: Event): void => {
    const { destination } = event as Event & { destination: { url: string; sameDocument: boolean } };
    if (isTouched || destination.sameDocument || !event.cancelable) return;
    stop(event);
    stopped.push(destination.url);
  };
  const { navigation } = window as Window & { navigation?: EventTarget };
  const listeners: [EventTarget | undefined, string, (event: Event) => void][] = [
    [window, "submit", (event) => isFilling && stop(event)],
    [window, "click", onClick],
    [window, "keydown", onKey],
    ...["pointerdown", "touchstart", "keydown", "input"].map((type): (typeof listeners)[number] => [
      window,
      type,
      onTouch,
    ]),
    [navigation, "navigate", onNavigate],
  ];
  for (const [target, type, listener] of listeners) target?.addEventListener(type, listener, true);
  const entries = performance.getEntriesByType("resource").map(({ name }) => name);
  return {
    /** Addresses that the page has requested before. */
    requested: [document.URL, ...entries],
    stopped,
    touched: () => isTouched,
    /** Begins or ends the filling in; after it, the first touch ends the hold. */
    fill: (isNow: boolean) => {
      isFilling = isNow;
      openBefore = new Set(openNow());
    },
    letGo: () => {
      for (const [target, type, listener] of listeners) target?.removeEventListener(type, listener, true);
    },
  };
}

/** A host that does not exist. */
export const NOWHERE = "held.invalid";

/**
 * Runs IN THE PAGE's own world, or in a worker's: delays messages of sockets and to service workers until `letGo`, and
 * connects new ones to nowhere.
 */
export function holdChannels(nowhere: string) {
  type Owner = Record<string, unknown>;
  const scope = globalThis as unknown as Record<string, { prototype: Owner } | undefined>;
  const held: string[] = [];
  const undo: (() => void)[] = [];
  const waiting: (() => void)[] = [];
  const delay = (name: string, owner?: Owner): void => {
    const own = owner?.[name];
    if (owner === undefined || typeof own !== "function") return;
    owner[name] = function (this: unknown, ...args: unknown[]) {
      held.push(`${name} ${(this as { url?: string } | undefined)?.url ?? String(args[0])}`);
      waiting.push(() => own.apply(this, args));
      return true;
    };
    undo.push(() => Object.assign(owner, { [name]: own }));
  };
  const divert = (owner: string, ...args: unknown[]): void => {
    const own = scope[owner];
    if (own === undefined) return;
    scope[owner] = new Proxy(own, {
      construct: (target, given) => {
        held.push(`${owner} ${String(given[0])}`);
        return Reflect.construct(target as never, args);
      },
    });
    undo.push(() => Object.assign(scope, { [owner]: own }));
  };
  delay("send", scope.WebSocket?.prototype);
  delay("send", scope.RTCDataChannel?.prototype);
  delay("postMessage", scope.ServiceWorker?.prototype);
  delay("sendBeacon", scope.Navigator?.prototype);
  delay("fetchLater", globalThis as unknown as Owner);
  divert("WebSocket", `wss://${nowhere}/`);
  divert("WebTransport", `https://${nowhere}/`);
  divert("RTCPeerConnection");
  divert("SharedWorker", "data:text/javascript,");
  return {
    held,
    letGo: () => {
      for (const back of undo) back();
      for (const send of waiting)
        try {
          send();
        } catch {
          // closed meanwhile
        }
    },
  };
}
