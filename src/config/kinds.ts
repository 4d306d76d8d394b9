import { isPlainObject, type Override } from "./overrides.js";
import { DEFAULT_ENVIRONMENT, DEFAULT_SAMPLER, type PlugIn, type Registries } from "./schema.js";

type Tree = Record<string, unknown>;

/** A section whose keys depend on its `kind`. */
interface KindSection {
  readonly path: readonly string[];
  readonly entries: ReadonlyMap<string, PlugIn>;
  /** Returns the kind that a tree of raw values has here, the default where it names none. */
  kind(tree: Tree): unknown;
}

function sectionAt(tree: Tree, path: readonly string[]): Tree | undefined {
  const found = path.reduce<unknown>((at, key) => (isPlainObject(at) ? at[key] : undefined), tree);
  return isPlainObject(found) ? found : undefined;
}

/** Lists the sections whose keys depend on their `kind`. */
export function kindSections({ samplers, environments, objectives, sections }: Registries): KindSection[] {
  const at = (
    path: readonly string[],
    entries: KindSection["entries"],
    otherwise: KindSection["kind"],
  ): KindSection => ({
    path,
    entries,
    kind: (tree) => sectionAt(tree, path)?.kind ?? otherwise(tree),
  });
  const sampler = at(["sampler"], samplers, () => DEFAULT_SAMPLER);
  const own = [...sections].flatMap(([name, section]) =>
    "entries" in section ? [at([name], section.entries, () => section.default)] : [],
  );
  return [
    sampler,
    at(["evaluation", "sampler"], samplers, sampler.kind),
    at(["environment"], environments, () => DEFAULT_ENVIRONMENT),
    at(["objective"], objectives, () => undefined),
    ...own,
  ];
}

function keysOf(entries: ReadonlyMap<string, PlugIn>, kind: unknown): ReadonlySet<string> | undefined {
  const entry = typeof kind === "string" ? entries.get(kind) : undefined;
  return entry === undefined ? undefined : new Set(["kind", ...Object.keys(entry.schema.shape)]);
}

/**
 * Completes, in place, the sections whose keys depend on their `kind`, before they are checked:
 * - where the command line changes a kind (`sampler.kind=refusion`), the file's keys that only its own kind knows leave;
 * - `evaluation.sampler` takes from `sampler` the keys that it knows and does not set itself.
 * @param raw the file's tree with the overrides applied. @param file the file's tree.
 */
export function settleKinds(raw: Tree, file: Tree, overrides: readonly Override[], registries: Registries): void {
  for (const { path, entries, kind } of kindSections(registries)) {
    const [section, known, before] = [sectionAt(raw, path), keysOf(entries, kind(raw)), keysOf(entries, kind(file))];
    if (section === undefined || known === undefined || kind(raw) === kind(file)) continue;
    for (const key of Object.keys(sectionAt(file, path) ?? {})) {
      const typed = overrides.some((o) => [...path, key].every((segment, i) => o.path[i] === segment));
      // a kind of the user's own is not loaded once the command line names another
      if (!known.has(key) && !typed && before?.has(key) !== false) delete section[key];
    }
  }
  const [evaluation, own] = [sectionAt(raw, ["evaluation", "sampler"]), sectionAt(raw, ["sampler"])];
  if (evaluation === undefined) return;
  evaluation.kind ??= own?.kind ?? DEFAULT_SAMPLER;
  const known = keysOf(registries.samplers, evaluation.kind);
  for (const [key, value] of Object.entries(own ?? {}))
    if (known?.has(key) && !Object.hasOwn(evaluation, key)) evaluation[key] = value;
}
