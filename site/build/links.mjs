// Checks the links of the built site: each must lead to an existing page, file or heading.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** Makes the anchor of a heading as GitHub does, so that links in docs/ work on both sites. */
export const slug = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

const filesUnder = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Lists the broken links of a site that is served under a base path. */
export function deadLinks(dist, base) {
  const pages = filesUnder(dist).filter((path) => path.endsWith(".html") && !path.includes(`${sep}reports${sep}`));
  const idsOf = new Map();
  const ids = (path) => {
    if (!idsOf.has(path))
      idsOf.set(path, new Set([...readFileSync(path, "utf8").matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)));
    return idsOf.get(path);
  };
  return pages.flatMap((page) => {
    const html = readFileSync(page, "utf8");
    const here = `${base}${relative(dist, page).split(sep).join("/")}`;
    const found = [...html.matchAll(/<(?:a|link|img|script)\b[^>]*?\s(?:href|src)="([^"]*)"/g)].map(([, link]) =>
      link.replaceAll("&amp;", "&"),
    );
    return [...new Set(found)].flatMap((link) => {
      const url = new URL(link, `http://site${here}`);
      if (url.origin !== "http://site")
        return url.protocol === "data:" || /^https:|^http:\/\/(127\.0\.0\.1|localhost)\b/.test(link)
          ? []
          : [`${here}: ${link}`];
      if (!url.pathname.startsWith(base)) return [`${here}: ${link} leaves the site`];
      const path = join(dist, decodeURIComponent(url.pathname.slice(base.length)));
      const file = [path, `${path}.html`, join(path, "index.html")].find(
        (one) => existsSync(one) && !one.endsWith(sep) && !isFolder(one),
      );
      if (file === undefined) return [`${here}: ${link} does not exist`];
      const anchor = decodeURIComponent(url.hash.slice(1));
      return anchor === "" || !file.endsWith(".html") || ids(file).has(anchor)
        ? []
        : [`${here}: ${link}: no such heading`];
    });
  });
}

function isFolder(path) {
  try {
    readdirSync(path);
    return true;
  } catch {
    return false;
  }
}
