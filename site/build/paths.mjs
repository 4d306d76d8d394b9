import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const SITE = dirname(dirname(fileURLToPath(import.meta.url)));
export const ROOT = dirname(SITE);
/** Folder of the pages that VitePress reads; each build rewrites it. */
export const PAGES = join(SITE, ".pages");

/** Imports a compiled module of the project. */
export const compiled = (path) => import(pathToFileURL(join(ROOT, "dist", "src", path)).href);
