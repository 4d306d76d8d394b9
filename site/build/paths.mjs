import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const SITE = dirname(dirname(fileURLToPath(import.meta.url)));
export const ROOT = dirname(SITE);
/** Pages as VitePress reads them, made anew by each build. */
export const PAGES = join(SITE, ".pages");

/** A compiled module of the project. */
export const compiled = (path) => import(pathToFileURL(join(ROOT, "dist", "src", path)).href);
