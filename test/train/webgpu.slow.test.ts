import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { chromium } from "playwright";
import { findBrowser } from "../../src/env/browser/find-browser.js";

/** A program that opens WebGPU as a training does and prints the result. */
const SCRIPT = `
const { Runtime } = await import(${JSON.stringify(new URL("../../src/onnx/session.js", import.meta.url).href)});
const { gradientChecks } = await import(${JSON.stringify(new URL("../../src/onnx/provider.js", import.meta.url).href)});
const result = await Runtime.open({ provider: "webgpu", threads: 1, checks: await gradientChecks() }).then(
  async (runtime) => {
    await runtime.close();
    return { taken: runtime.providerReason };
  },
  (error) => ({ refused: error.message, hint: error.hint }),
);
process.stdout.write(JSON.stringify(result));
`;

/** Returns the variables that select the Vulkan loader and the software driver of a Chromium for Linux. */
function softwareDriver(): Record<string, string> {
  const browser = findBrowser();
  if (browser === undefined || process.platform !== "linux") return {};
  const executable = realpathSync(browser.path ?? chromium.executablePath());
  // the executable of a Linux distribution may be a script of the same name
  const folders = [dirname(executable), join("/usr/lib", basename(executable)), "/usr/lib/chromium"];
  const folder = folders.find((dir) => existsSync(join(dir, "vk_swiftshader_icd.json")));
  if (folder === undefined) return {};
  const paths = [folder, process.env.LD_LIBRARY_PATH].filter((path) => path !== undefined && path !== "");
  const icd = join(folder, "vk_swiftshader_icd.json");
  return { LD_LIBRARY_PATH: paths.join(delimiter), VK_DRIVER_FILES: icd, VK_ICD_FILENAMES: icd };
}

describe("WebGPU", () => {
  it("computes what training needs as the CPU does, or says why it cannot be used", async (t) => {
    const driver = softwareDriver();
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", SCRIPT], {
      env: { ...process.env, ...driver },
    });
    const { taken, refused, hint } = JSON.parse(stdout) as Record<string, string | undefined>;
    t.diagnostic(`${driver.VK_DRIVER_FILES ?? "the system's drivers"}: ${taken ?? refused}`);
    if (taken !== undefined) {
      assert.equal(taken, "requested; the self-check agrees with the CPU");
      return;
    }
    assert.match(refused ?? "", /^The webgpu provider cannot be used: ./);
    assert.match(hint ?? "", /Vulkan/);
    assert.doesNotMatch(refused ?? "", /differs from the CPU's/, "a provider that runs must be right");
  });
});
