// Finds a Chromium with the program's own rule (src/env/browser/find-browser.ts, compiled), or installs one.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, log, ROOT, run } from "./setup.mjs";

const INSTALL_SECONDS = 300;

/** Ensures that there is a browser; otherwise ends the program with the reasons. */
export async function ensureBrowser() {
  const { findBrowser } = await import(
    pathToFileURL(join(ROOT, "dist", "src", "env", "browser", "find-browser.js")).href
  );
  try {
    if (findBrowser() !== undefined) return;
  } catch (error) {
    fail(error.message, `  ${error.hint ?? ""}`);
  }

  log("No browser found: installing Playwright's Chromium ...");
  const playwright = join(ROOT, "node_modules", "playwright", "cli.js");
  run(process.execPath, [playwright, "install", "chromium"], {
    timeoutSeconds: INSTALL_SECONDS,
    // without a network the download fails soon instead of at the end of the time limit
    env: { PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: "15000" },
  });
  const apt = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  const noninteractive = { timeoutSeconds: INSTALL_SECONDS, env: { DEBIAN_FRONTEND: "noninteractive" } };
  if (findBrowser() !== undefined) {
    if (await starts(findBrowser())) return;
    if (apt) {
      log("It does not start: installing the system libraries that it needs ...");
      run(process.execPath, [playwright, "install-deps", "chromium"], noninteractive);
      if (await starts(findBrowser())) return;
    }
    fail(
      "Playwright's Chromium is installed but does not start: system libraries are missing.",
      "  Install them with `sudo npx playwright install-deps chromium`, then run this again.",
    );
  }

  if (apt) {
    log("Installing Chromium with apt-get ...");
    run("apt-get", ["update", "-qq"], noninteractive);
    // prefers the headless shell, which is smaller; older releases have only the full browser
    for (const name of ["chromium-headless-shell", "chromium"]) {
      if (!run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", name], noninteractive)) continue;
      const found = findBrowser();
      if (found !== undefined && (await starts(found))) return;
    }
  }
  fail(
    "No browser: neither Playwright's Chromium nor a system one could be found or installed (above).",
    "  Install one (`npx playwright install chromium`, or your system's package chromium or google-chrome),",
    "  or set REFUSION_BROWSER to an executable, then run this again.",
  );
}

/** Tests whether a freshly installed browser starts. */
async function starts({ path }) {
  const { chromium } = await import("playwright");
  try {
    const browser = await chromium.launch({
      headless: true,
      timeout: 60_000,
      chromiumSandbox: false,
      ...(path === undefined ? {} : { executablePath: path }),
    });
    await browser.close();
    return true;
  } catch (error) {
    log(String(error.message).split("\n").slice(0, 8).join("\n"));
    return false;
  }
}
