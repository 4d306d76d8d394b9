/** Makes a resource close at the end of its block: `await using policy = closing(await openPolicy(config))`. */
export function closing<T extends { close(): unknown }>(resource: T): T & AsyncDisposable {
  return Object.assign(resource, { [Symbol.asyncDispose]: async () => void (await resource.close()) });
}

/** Runs `setUp` on a resource and returns the resource; closes it where that fails. */
export async function orClose<T extends { close(): unknown }>(
  resource: T,
  setUp: (resource: T) => unknown,
): Promise<T> {
  try {
    await setUp(resource);
    return resource;
  } catch (error) {
    await resource.close();
    throw error;
  }
}

/** Returns the first error of a block, even where closing its resources failed as well (`SuppressedError`). */
export const firstFailure = (error: unknown): unknown =>
  error instanceof Error && "suppressed" in error ? firstFailure(error.suppressed) : error;
