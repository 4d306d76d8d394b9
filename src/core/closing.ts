/** Closes a resource where its block ends, in the reverse order of opening: `await using policy = closing(await openPolicy(config))`. */
export function closing<T extends { close(): unknown }>(resource: T): T & AsyncDisposable {
  return Object.assign(resource, { [Symbol.asyncDispose]: async () => void (await resource.close()) });
}

/** Sets a resource up and gives it; closes it where that fails. */
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

/** The failure that ended a block, where closing what it had opened failed as well (`SuppressedError`). */
export function firstFailure(error: unknown): unknown {
  return error instanceof Error && "suppressed" in error ? firstFailure(error.suppressed) : error;
}
