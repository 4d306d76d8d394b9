// A reporter of Node's test runner: a line for each test that failed by itself, with its file and line; a hang's line says so.
import { relative } from "node:path";
import { ROOT } from "./setup.mjs";

export default async function* failedTests(events) {
  for await (const { type, data } of events) {
    if (type !== "test:fail" || data.todo !== undefined) continue;
    // a suite fails with its tests, which have lines of their own
    if (data.details.error?.failureType === "subtestsFailed") continue;
    const how = data.details.error?.failureType === "testTimeoutFailure" ? "failed by the time limit" : "failed";
    const place = data.file === undefined ? "" : `${relative(ROOT, data.file)}:${data.line} `;
    yield `${how}: ${place}${data.name}\n`;
  }
}
