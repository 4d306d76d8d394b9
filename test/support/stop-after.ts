/** Makes a signal that lets `steps` steps run; a recipe reads it before every step. */
export function stopAfter(steps: number): AbortSignal {
  let asked = 0;
  const { signal } = new AbortController();
  Object.defineProperty(signal, "aborted", { get: () => ++asked > steps });
  return signal;
}
