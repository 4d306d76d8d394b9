import { isPlainObject, type Override } from "./overrides.js";
import { DEFAULT_ENVIRONMENT, DEFAULT_SAMPLER, type PlugIn, type Registries } from "./schema.js";

type Tree = Record<string, unknown>;

function sectionAt(tree: unknown, path: readonly string[]): Tree | undefined {
  const found = path.reduce((at, key) => (isPlainObject(at) ? at[key] : undefined), tree);
  return isPlainObject(found) ? found : undefined;
}

function kindOf(section: Tree | undefined, fallback: string): unknown {
  return section?.kind ?? fallback;
}

function keysOf(entries: ReadonlyMap<string, PlugIn>, kind: unknown): ReadonlySet<string> | undefined {
  const entry = typeof kind === "string" ? entries.get(kind) : undefined;
  return entry === undefined ? undefined : new Set(["kind", ...Object.keys(entry.schema.shape)]);
}

/**
 * Completes, in place, the sections whose keys depend on their `kind`, before they are checked:
 * - a kind from the command line (`sampler.kind=refusion`) takes those keys of the file's section that it knows; the
 *   others belonged to the file's kind;
 * - `evaluation.sampler` takes from `sampler` the keys that it knows and does not set itself.
 * @param raw the file's tree with the overrides applied. @param file the file's tree.
 */
export function settleKinds(raw: Tree, file: Tree, overrides: readonly Override[], registries: Registries): void {
  const { samplers, environments, sections } = registries;
  const looked: (readonly [readonly string[], ReadonlyMap<string, PlugIn>, unknown])[] = [
    [["sampler"], samplers, DEFAULT_SAMPLER],
    [["environment"], environments, DEFAULT_ENVIRONMENT],
    [["objective"], registries.objectives, undefined],
    [["evaluation", "sampler"], samplers, kindOf(sectionAt(raw, ["sampler"]), DEFAULT_SAMPLER)],
  ];
  for (const [name, section] of sections)
    if ("entries" in section) looked.push([[name], section.entries, section.default]);
  for (const [path, entries, fallback] of looked) {
    const [section, before] = [sectionAt(raw, path), sectionAt(file, path)];
    if (section === undefined) continue;
    const known = keysOf(entries, kindOf(section, fallback as string));
    if (before === undefined || known === undefined || section.kind === kindOf(before, fallback as string)) continue;
    for (const key of Object.keys(before)) {
      const typed = overrides.some((o) => [...path, key].every((segment, i) => o.path[i] === segment));
      if (!known.has(key) && !typed) delete section[key];
    }
  }
  const [evaluation, own] = [sectionAt(raw, ["evaluation", "sampler"]), sectionAt(raw, ["sampler"])];
  if (evaluation === undefined) return;
  evaluation.kind ??= kindOf(own, DEFAULT_SAMPLER);
  const known = keysOf(samplers, evaluation.kind);
  for (const [key, value] of Object.entries(own ?? {}))
    if (known?.has(key) && !Object.hasOwn(evaluation, key)) evaluation[key] = value;
}
