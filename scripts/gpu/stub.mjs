// Prepares ONNX Runtime's real CUDA provider on a CUDA runtime that only counts (stub/cuda.cpp), for gpu-plan.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fail, log, ROOT } from "../lib/setup.mjs";

const PROVIDER = "libonnxruntime_providers_cuda.so";
const SOURCE = join(ROOT, "scripts", "gpu", "stub", "cuda.cpp");

function runOrFail(command, args, hint) {
  const { status, error, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (error !== undefined) fail(`${command} cannot be run: ${error.message}`, hint);
  if (status !== 0) fail(`${command} ${args[0]} failed: ${stderr.trim().split("\n").slice(-5).join("\n")}`, hint);
}

/** Makes a folder of ONNX Runtime's libraries: npm's, and the CUDA provider of the same version from PyPI's wheel. */
function libraries(cache) {
  const { version } = JSON.parse(readFileSync(join(ROOT, "node_modules", "onnxruntime-node", "package.json"), "utf8"));
  const dir = join(cache, `onnxruntime-${version}`);
  if (existsSync(join(dir, PROVIDER))) return dir;
  const part = `${dir}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  log(`downloading the CUDA provider of ONNX Runtime ${version} (250 MB, once)`);
  const pip = ["-m", "pip", "download", "--no-deps", "--quiet", "-d", part, `onnxruntime-gpu==${version}`];
  runOrFail("python3", pip, "It needs Python with pip, and access to PyPI.");
  const wheel = join(
    part,
    readdirSync(part).find((file) => file.endsWith(".whl")),
  );
  runOrFail("python3", ["-m", "zipfile", "-e", wheel, part], "It needs Python.");
  for (const file of [PROVIDER, "libonnxruntime_providers_shared.so"])
    renameSync(join(part, "onnxruntime", "capi", file), join(part, file));
  const entry = createRequire(join(ROOT, "package.json")).resolve("onnxruntime-node");
  const npm = join(entry, "..", "..", "bin", "napi-v6", "linux", "x64", "libonnxruntime.so.1");
  copyFileSync(npm, join(part, "libonnxruntime.so.1"));
  for (const file of ["onnxruntime", wheel]) rmSync(file === wheel ? wheel : join(part, file), { recursive: true });
  renameSync(part, dir);
  return dir;
}

/** Finds the names of CUDA, cuBLAS and cuDNN functions in a library's strings, and those of the libraries it needs. */
function symbols(library) {
  const text = readFileSync(library).toString("latin1");
  const all = new Set(text.match(/(?<=\0)(?:__)?cu[A-Za-z_]\w{3,}(?=\0)/g));
  return {
    functions: [...all].filter((name) => /^(__)?cu(da|blas|blasLt|rand|dnn|TensorMap)?[A-Z]\w*$/.test(name)),
    libraries: [...new Set(text.match(/(?<=\0)lib(?:cudart|cublas|cublasLt|curand|cufft|cuda)\.so\.\d+(?=\0)/g))],
  };
}

/** Compiles the stub once per version of its source, and links it under the library names that the provider loads. */
function compile(cache, provider) {
  const source = readFileSync(SOURCE);
  const dir = join(cache, `stub-${createHash("sha256").update(source).digest("hex").slice(0, 12)}`);
  if (existsSync(dir)) return dir;
  const part = mkdtempSync(`${dir}.`);
  const { functions, libraries: names } = symbols(provider);
  // functions that create an object return an address, all others only succeed; definitions in cuda.cpp override these
  const lines = functions.map((name) => {
    const creates = /Create/.test(name) && !/Backend/.test(name);
    const [parameters, body] = creates ? ["void** p", "*p = calloc(1, 64); "] : ["", ""];
    return `__attribute__((weak)) int ${name}(${parameters}) { ${body}return 0; }`;
  });
  const empty = join(part, "empty.cpp");
  writeFileSync(empty, `#include <cstdlib>\nextern "C" {\n${lines.join("\n")}\n}\n`);
  const flags = ["-shared", "-fPIC", "-O1", "-std=c++17", "-o", join(part, "libstub.so"), SOURCE, empty];
  runOrFail("g++", flags, "It needs g++ (Debian: apt-get install g++).");
  for (const name of [...names, "libcudnn.so", "libcudnn.so.9"]) symlinkSync("libstub.so", join(part, name));
  try {
    renameSync(part, dir);
  } catch (error) {
    // another process has compiled it in the meantime
    if (!existsSync(dir)) throw error;
    rmSync(part, { recursive: true });
  }
  return dir;
}

/** Prepares the libraries where they are missing. @returns the environment variables of a process that uses them. */
export function prepareStub(cache, gpuBytes) {
  if (process.platform !== "linux" || process.arch !== "x64") fail("gpu-plan runs on Linux x64 only.");
  const dir = libraries(cache);
  const stub = compile(cache, join(dir, PROVIDER));
  return {
    REFUSION_ONNXRUNTIME_DIR: dir,
    LD_LIBRARY_PATH: stub,
    STUB_GPU_BYTES: String(gpuBytes),
    STUB_LIBRARY: join(stub, "libstub.so"),
  };
}

/** Opens the counters of the stub in this process; each call returns the counts since the last call. */
export async function openCounters() {
  const { default: koffi } = await import("koffi");
  const library = koffi.load(process.env.STUB_LIBRARY);
  const report = library.func("str stub_report()");
  return { read: () => JSON.parse(report()), library };
}
