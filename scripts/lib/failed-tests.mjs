// A reporter of Node's test runner: a line for each test that failed by itself, with its file and line.
import { relative } from "node:path";
import { ROOT } from "./setup.mjs";

export default async function* failedTests(events) {
  for await (const { type, data } of events) {
    if (type !== "test:fail" || data.todo !== undefined) continue;
    // a suite fails with its tests, which have lines of their own
    if (data.details.error?.failureType === "subtestsFailed") continue;
    const place = data.file === undefined ? "" : `${relative(ROOT, data.file)}:${data.line} `;
    yield `failed: ${place}${data.name}\n`;
  }
}
