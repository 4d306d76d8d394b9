import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Contract, readContract } from "../learned-pages/contract.js";
import { contractsFolder } from "../own-site/sites/url.js";

/** Learned forms, and the origin that they are of; without one, their addresses are paths of any site. */
export interface SiteContracts {
  readonly contracts: readonly Contract[];
  readonly origin?: string;
}

/** Reads the contracts of a folder; none where it does not exist. @throws UserError for a file that is no contract. */
export function formsOf(folder: string, origin?: string): SiteContracts {
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".yaml")) : [];
  const contracts = files.sort().map((file) => readContract(readFileSync(join(folder, file), "utf8"), file));
  return { contracts, ...(origin === undefined ? {} : { origin }) };
}

/** Reads the contracts of a run's own site. */
export function formsOfSite(config: object): SiteContracts {
  const { site } = config as { site?: { tasks?: string; base_url?: string; learn?: { contracts?: string | null } } };
  if (site?.tasks === undefined || site.base_url === undefined || site.learn == null) return { contracts: [] };
  return formsOf(contractsFolder(site.tasks, site.learn.contracts), new URL(site.base_url).origin);
}

/** Finds the contract of the form at an address. */
export function contractOf({ contracts, origin }: SiteContracts, address: string): Contract | undefined {
  if (!URL.canParse(address)) return undefined;
  const page = new URL(address);
  if (origin !== undefined && origin !== page.origin) return undefined;
  const at = (url: string): URL => new URL(url, page.origin);
  const fitting = contracts.filter(({ url }) => at(url).pathname === page.pathname);
  return fitting.find(({ url }) => at(url).search === page.search) ?? fitting[0];
}
