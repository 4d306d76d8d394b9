import type { RunPages } from "../../../watch/run-pages.js";

/** report.html and the live page; imported when they are needed. */
export const pages: RunPages = {
  report: async (...of) => (await import("../report.js")).reportAtEnd(...of),
  live: async (...of) => (await import("../live/live-page.js")).LivePage.open(...of),
};
