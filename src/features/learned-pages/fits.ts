import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../core/errors.js";
import { hashOfOwn, isModulePath } from "../../core/own-module.js";
import { placed } from "../../core/problems.js";
import { EnvironmentFault } from "../../env/browser/browser.js";
import type { EpisodeRunner } from "../../env/browser/episode.js";
import type { FieldValue, Task } from "../../env/site.js";
import type { ContractFile, PlaceOf } from "./contract.js";
import { waysOf } from "./operate.js";
import { fieldIn, located } from "./place.js";
import { actionProblem, textsOf } from "./record/actions.js";

/** A part of a contract that does not fit. */
export interface Misfit {
  /** The part with its line, and what is wrong with it. */
  readonly text: string;
  /** The label of the field that it belongs to; undefined for another part. */
  readonly label?: string;
}

/** SHA-256 of the modules that contracts may name, by path. */
export type Permitted = Readonly<Record<string, string>>;

/**
 * Lists the parts of a contract that do not fit the tasks, the ways or the browser: an episode would fail there without
 * a message, and earn a low reward. A module is not imported unless it is permitted.
 * @throws EnvironmentFault if the browser cannot read the locators.
 */
export async function misfitsOf(
  { contract, line }: ContractFile,
  tasks: readonly Task[],
  permitted: Permitted,
  runner: EpisodeRunner,
): Promise<Misfit[]> {
  const found: Misfit[] = [];
  const report = (path: (string | number)[], text: string): void => {
    const [top, label] = path;
    const misfit = { text: `${placed(path, line)}: ${text}` };
    found.push(top === "fields" && typeof label === "string" ? { ...misfit, label } : misfit);
  };
  const form = tasks[0]?.form ?? contract.form;
  if (contract.form !== form) report(["form"], `it is the contract of ${contract.form}, not of ${form}`);
  const values = (label: string): FieldValue[] =>
    tasks.flatMap(({ fields: { [label]: value } }) => (value === undefined ? [] : [value]));
  if (contract.request !== undefined)
    for (const label of new Set(tasks.flatMap(({ fields }) => Object.keys(fields))))
      if (!Object.hasOwn(contract.fields, label) && !Object.hasOwn(contract.not_proved, label))
        report(["fields"], `the tasks have ${label}, which is neither here nor under not_proved`);
  for (const [label, { way, variant, kind, actions = [] }] of Object.entries(contract.fields)) {
    const isOther = (value: FieldValue): boolean =>
      (kind === "flag") !== (typeof value === "boolean") || (kind === "list") !== Array.isArray(value);
    const other = values(label).find(isOther);
    if (other !== undefined) report(["fields", label, "kind"], `the tasks have ${JSON.stringify(other)}, no ${kind}`);
    const problems = textsOf(actions).flatMap((text) => actionProblem(text) ?? []);
    for (const text of problems) report(["fields", label, "actions"], text);
    if (actions.length > 0) continue;
    const problem = isModulePath(way) ? await moduleProblem(way, permitted) : undefined;
    if (problem !== undefined) {
      report(["fields", label, "way"], problem);
      continue;
    }
    const ways = await waysOf([way]);
    const { variants = [{}] } = ways.get(way) ?? {};
    if (!ways.has(way))
      report(["fields", label, "way"], `there is no way ${way}; there are ${[...ways.keys()].join(", ")}`);
    else if (!variants.some((one) => isDeepStrictEqual(one, variant)))
      report(
        ["fields", label, "variant"],
        `${way} has no variant ${JSON.stringify(variant)}; it has ${variants.map((one) => JSON.stringify(one)).join("; ")}`,
      );
  }
  const places: [(string | number)[], PlaceOf][] = [
    ...Object.entries(contract.fields).map(([label, of]): [string[], PlaceOf] => [["fields", label, "locator"], of]),
    ...(["steps", "confirm"] as const).flatMap((key) =>
      contract[key].map((of, i): [(string | number)[], PlaceOf] => [[key, i, "locator"], of]),
    ),
    ...(contract.submit === undefined ? [] : [[["submit", "locator"], contract.submit] as [string[], PlaceOf]]),
  ];
  const broken = await brokenLocators(
    runner,
    places.map(([, { locator }]) => locator),
  );
  places.forEach(([path], i) => {
    if (broken[i] !== undefined) report(path, `the browser does not take it: ${broken[i]}`);
  });
  return found;
}

async function moduleProblem(path: string, permitted: Permitted): Promise<string | undefined> {
  const hash = await hashOfOwn(path).catch(() => undefined);
  if (hash === undefined) return `there is no file ${path}`;
  if (Object.hasOwn(permitted, path) && permitted[path]?.toLowerCase() === hash) return undefined;
  const why = Object.hasOwn(permitted, path) ? "is not the module that" : "is a module, and not one that";
  return `${path} ${why} site.learn.modules permits; if it is yours: 'site.learn.modules={"${path}": "${hash}"}'`;
}

/** Tries locators on an empty page. @returns for each one the browser's complaint; undefined if it takes it. */
async function brokenLocators(
  runner: EpisodeRunner,
  locators: readonly string[],
): Promise<readonly (string | undefined)[]> {
  const tried = await runner.converse(({ page }) =>
    Promise.all(
      locators.map((locator) =>
        fieldIn(locator) !== undefined
          ? undefined
          : Promise.resolve()
              .then(() => located(page, locator).count())
              .then(
                () => undefined,
                (error: unknown) => messageOf(error).split("\n")[0],
              ),
      ),
    ),
  );
  if ("fault" in tried) throw new EnvironmentFault(tried.fault);
  return tried.result;
}
