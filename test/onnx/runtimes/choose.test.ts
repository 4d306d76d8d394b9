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
    const asked = process.env.REFUSION_BINDING;
    delete process.env.REFUSION_BINDING;
    try {
      const library = cudaLibrary();
      const cuda = library !== undefined && existsSync(library) ? "c-api" : "npm";
      assert.deepEqual(
        await Promise.all(
          (["cpu", "webgpu", "cuda", "auto"] as const).map((provider) => chooseBinding("auto", provider)),
        ),
        ["npm", "npm", cuda, cuda],
      );
      process.env.REFUSION_BINDING = "c-api";
      assert.equal(await chooseBinding("auto", "cpu"), "c-api");
    } finally {
      if (asked === undefined) delete process.env.REFUSION_BINDING;
      else process.env.REFUSION_BINDING = asked;
    }
  });
});
