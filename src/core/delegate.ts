/**
 * Returns an object with some members replaced. All others are read from and called on the original, so that its own
 * `close` ends everything opened through this one. (`Object.create(original)` would hold such state itself.)
 */
export function delegate<T extends object>(original: T, members: { readonly [K in keyof T]?: T[K] | undefined }): T {
  const get = (_: object, name: string | symbol): unknown => {
    if (Object.hasOwn(members, name)) return Reflect.get(members, name);
    const value: unknown = Reflect.get(original, name);
    return typeof value === "function" ? value.bind(original) : value;
  };
  const has = (_: object, name: string | symbol): boolean => name in members || name in original;
  const set = (_: object, name: string | symbol, value: unknown): boolean => Reflect.set(original, name, value);
  return new Proxy({}, { get, has, set }) as T;
}
