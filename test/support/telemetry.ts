import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../../src/core/files.js";

const PROGRAM = `
const { encodeModel, GraphBuilder, Runtime } = await import(process.env.LIBRARY);
const builder = new GraphBuilder("one");
const x = builder.input("x", "float32", [1]);
builder.output("y", builder.op("Add", [x, x]));
const runtime = await Runtime.open({ provider: "cpu", threads: 1, binding: process.env.BINDING });
await runtime.load("one", { bytes: encodeModel(builder.build()) });
console.log("loaded");
process.stdin.resume().on("end", () => runtime.close());
`;

/** Traces of a process that loads the library with a fresh home folder and a proxy that records its requests. */
export interface Heard {
  /** Files below its home folder after it ended. */
  readonly files: readonly string[];
  /** Hosts that it asked the proxy for. */
  readonly hosts: readonly string[];
}

/**
 * Loads ONNX Runtime in a process that inherits only PATH from this environment, and ends it after `ms` or at its first
 * request to a host. ONNX Runtime's uploads go through `HTTPS_PROXY`, so nothing leaves this machine.
 *
 * @throws Error where the process fails.
 */
export async function loadUnderFreshHome(binding: string, set: NodeJS.ProcessEnv = {}, ms = 0): Promise<Heard> {
  const home = mkdtempSync(join(tmpdir(), "fresh-home-"));
  const hosts: string[] = [];
  const proxy = createServer().listen(0, "127.0.0.1");
  try {
    await new Promise((resolve) => proxy.once("listening", resolve));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const library = pathToFileURL(join(packageRoot(), "dist", "src", "index.js")).href;
    const own = { HOME: home, HTTPS_PROXY: address, https_proxy: address, LIBRARY: library, BINDING: binding };
    const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
      env: { PATH: process.env.PATH, ...own, ...set },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let timer: NodeJS.Timeout | undefined;
    proxy.on("connect", (request, socket) => {
      hosts.push(request.url ?? "");
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      child.stdin.end();
    });
    child.stdout.once("data", () => {
      timer = setTimeout(() => child.stdin.end(), ms);
    });
    const code = await new Promise((resolve) => child.once("exit", resolve));
    clearTimeout(timer);
    if (code !== 0) throw new Error(`the process ended with ${code}`);
    return { files: readdirSync(home, { recursive: true, encoding: "utf8" }), hosts };
  } finally {
    proxy.close();
    rmSync(home, { recursive: true });
  }
}
