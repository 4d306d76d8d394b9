import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BINDINGS } from "../../support/bindings.js";
import { loadUnderFreshHome } from "../../support/telemetry.js";

// its first upload comes 9 to 10 s after the library is loaded
const LONG = 30_000;

describe("telemetry of ONNX Runtime, over time", { concurrency: 3 }, () => {
  for (const binding of BINDINGS) {
    it(`asks for no host: ${binding}`, async () => {
      const { files, hosts } = await loadUnderFreshHome(binding, {}, LONG);
      assert.deepEqual({ files, hosts }, { files: [], hosts: [] });
    });
  }

  it("asks for its collector where the user lets it", { skip: process.platform !== "linux" }, async () => {
    const { hosts } = await loadUnderFreshHome("npm", { ORT_DISABLE_TELEMETRY: "0" }, 4 * LONG);
    assert.deepEqual(hosts, ["mobile.events.data.microsoft.com:443"]);
  });
});
