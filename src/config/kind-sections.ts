import { applyOverrides, isPlainObject, type Override } from "./overrides.js";
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
 * Applies the command line to a file's tree, where sections depend on their `kind`:
 * - where the command line changes a kind (`sampler.kind=refusion`), the file's keys that only its own kind knows leave;
 * - `evaluation.sampler` takes from `sampler` the keys that it knows and does not set itself.
 */
export function settleKinds(file: Tree, overrides: readonly Override[], registries: Registries): Tree {
  const typed = applyOverrides(file, overrides);
  const kept = structuredClone(file);
  for (const { path, entries, kind } of kindSections(registries)) {
    const [now, before] = [kind(typed), kind(file)];
    const [known, own] = [keysOf(entries, now), keysOf(entries, before)];
    if (now === before || known === undefined) continue;
    const section = sectionAt(kept, path) ?? {};
    // a kind of the user's own is not loaded once the command line names another
    for (const key of Object.keys(section)) if (!known.has(key) && own?.has(key) !== false) delete section[key];
  }
  const tree = applyOverrides(kept, overrides);
  const sampler = sectionAt(tree, ["sampler"]) ?? {};
  const evaluation = sectionAt(tree, ["evaluation", "sampler"]);
  if (evaluation === undefined) return tree;
  const kind = evaluation.kind ?? sampler.kind ?? DEFAULT_SAMPLER;
  const known = keysOf(registries.samplers, kind);
  const shared = Object.fromEntries(Object.entries(sampler).filter(([key]) => known?.has(key)));
  return { ...tree, evaluation: { ...(tree.evaluation as Tree), sampler: { ...shared, ...evaluation, kind } } };
}
