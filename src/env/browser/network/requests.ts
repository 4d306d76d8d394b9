import type { Page, Request } from "playwright";

/** The source of a request: the page itself, a frame in it, or a window that it opened. */
export type Owner = "page" | "frame" | "popup";

export function ownerOf(request: Request, page: Page): Owner {
  try {
    const frame = request.frame();
    return frame === page.mainFrame() ? "page" : frame.page() === page ? "frame" : "popup";
  } catch {
    // a new window's first request comes before its frame, and a worker has none
    return ["fetch", "xhr", "script", "other"].includes(request.resourceType()) ? "frame" : "popup";
  }
}

/** Tells whether a status is due to the server and not to the form: busy, overloaded, broken. */
export function isServerFault(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}
