import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { cudaLibrary } from "../../../src/onnx/provider.js";
import { chooseBinding } from "../../../src/onnx/runtimes/choose.js";

describe("chooseBinding", () => {
  it("takes what is asked for", async () => {
    assert.equal(await chooseBinding("c-api", "cpu"), "c-api");
    assert.equal(await chooseBinding("npm", "cuda"), "npm");
    await assert.rejects(chooseBinding("c-api", "webgpu"), UserError);
  });

  it("auto: npm's binding on the CPU and on WebGPU, the C API where CUDA's library lies", async () => {
    delete process.env.REFUSION_BINDING;
    const library = cudaLibrary();
    const cuda = library !== undefined && existsSync(library) ? "c-api" : "npm";
    for (const [provider, binding] of Object.entries({ cpu: "npm", webgpu: "npm", cuda, auto: cuda }))
      assert.equal(await chooseBinding("auto", provider as "cpu"), binding, provider);
    process.env.REFUSION_BINDING = "c-api";
    assert.equal(await chooseBinding("auto", "cpu"), "c-api");
  });
});
