import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { packageRoot } from "../../../src/core/files.js";
import { BINDINGS } from "../../support/bindings.js";
import { loadUnderFreshHome } from "../../support/telemetry.js";

describe("telemetry of ONNX Runtime", () => {
  for (const binding of BINDINGS) {
    it(`leaves no file under a fresh home: ${binding}`, async () => {
      assert.deepEqual((await loadUnderFreshHome(binding)).files, []);
    });
  }

  it("has one place a binding where the library is loaded, behind the call that switches it off", () => {
    const loads = /disableTelemetry\(\);\n.*(?:import\("onnxruntime-node"\)|koffi\.load\()/;
    const found = ["src", "scripts"].flatMap((folder) =>
      readdirSync(join(packageRoot(), folder), { recursive: true, encoding: "utf8" })
        .filter((path) => /\.(ts|mjs)$/.test(path))
        .map((path) => `${folder}/${path}`)
        .filter((path) => {
          const text = readFileSync(join(packageRoot(), path), "utf8").replace(/^import type .*/gm, "");
          const any = /(?:import\(|require\(|from )\s*"onnxruntime-node"|koffi\.load\(library\)/.test(text);
          assert.equal(any, loads.test(text), path);
          return any;
        }),
    );
    const expected = { "c-api": "src/features/gpu/ort-api.ts", npm: "src/onnx/runtimes/npm.ts" };
    assert.deepEqual(found.sort(), BINDINGS.map((binding) => expected[binding]).sort());
  });

  it("stays where the user asks for it, so that the tests above can fail", {
    skip: process.platform !== "linux",
  }, async () => {
    const { files } = await loadUnderFreshHome("npm", { ORT_DISABLE_TELEMETRY: "0" });
    const actual = files.some((file) => file.endsWith("deviceid"));
    assert.ok(actual, files.join());
  });
});
