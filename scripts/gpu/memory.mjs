import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const EVERY_MS = 200;

/** Reads the memory in use on the first GPU from nvidia-smi, in MiB; undefined without a GPU. */
export async function gpuMemory() {
  try {
    const { stdout } = await run("nvidia-smi", ["--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", "0"]);
    const used = Number(stdout.trim());
    return Number.isFinite(used) ? used : undefined;
  } catch {
    return undefined;
  }
}

export async function gpuName() {
  try {
    const { stdout } = await run("nvidia-smi", ["--query-gpu=name,driver_version", "--format=csv,noheader", "-i", "0"]);
    return stdout.trim();
  } catch {
    return undefined;
  }
}

/** Runs `work` and samples the memory during it. The model runs in a worker thread, so this one can poll. */
export async function withPeak(_what, work) {
  let gpu;
  let host = 0;
  let stop = false;
  const look = async () => {
    host = Math.max(host, process.memoryUsage.rss() / 2 ** 20);
    const used = gpu === null ? undefined : await gpuMemory();
    gpu = used === undefined ? null : Math.max(gpu ?? 0, used);
  };
  const watching = (async () => {
    while (!stop) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  })();
  try {
    const result = await work();
    await look();
    return { result, gpu_mib: gpu ?? null, host_mib: Math.round(host) };
  } finally {
    stop = true;
    await watching;
  }
}
