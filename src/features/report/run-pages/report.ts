import type { RunPages } from "../../../watch/run-pages.js";

/** report.html and the live page; loaded when they are asked for. */
export const pages: RunPages = {
  report: async (...of) => (await import("../report.js")).reportAtEnd(...of),
  live: async (...of) => (await import("../live/live-page.js")).LivePage.open(...of),
};
