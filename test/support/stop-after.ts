/** A signal for a recipe, which asks before every step: it lets `steps` of them run. */
export function stopAfter(steps: number): AbortSignal {
  let asked = 0;
  const { signal } = new AbortController();
  Object.defineProperty(signal, "aborted", { get: () => ++asked > steps });
  return signal;
}
