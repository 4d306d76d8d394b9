/**
 * The thread that owns ONNX Runtime: its sessions, and the store of tensors that persist between runs. A native run
 * blocks its thread, so it must not be the main one (with the browser, progress and Ctrl-C).
 */
import { parentPort } from "node:worker_threads";
import { fail, messageOf, UserError } from "../core/errors.js";
import { calledFeature } from "../core/features.js";
import type { OpenBinding } from "./runtimes/binding.js";
import { Host } from "./runtimes/host.js";
import type { Call, Reply, Request, Tensors } from "./runtimes/messages.js";
import { openNpmBinding } from "./runtimes/npm.js";

let handle: ((call: Exclude<Call, { kind: "start" }>) => Promise<Tensors>) | undefined;

async function start({ binding, deviceMemory }: Call & { kind: "start" }): Promise<void> {
  const open: OpenBinding | undefined =
    binding === "npm" ? openNpmBinding : await calledFeature<OpenBinding>("openApiBinding");
  if (open === undefined)
    fail(`runtime.binding: ${binding} needs the feature gpu, which was deleted`, { hint: "Set runtime.binding: npm." });
  const host = new Host(await open(deviceMemory));
  handle = (call) => host.handle(call);
}

async function dispatch(call: Call): Promise<Tensors> {
  if (call.kind === "start") {
    await start(call);
    return {};
  }
  if (handle === undefined) {
    if (call.kind === "close") return {};
    throw new Error("the worker was not started");
  }
  return await handle(call);
}

function send(reply: Reply, port: NonNullable<typeof parentPort>): void {
  const buffers = "tensors" in reply ? [...new Set(Object.values(reply.tensors).map((tensor) => tensor.buffer))] : [];
  try {
    port.postMessage(reply, buffers);
  } catch (error) {
    // some native memory cannot be transferred: then it is copied
    if (!(error instanceof DOMException) || error.name !== "DataCloneError") throw error;
    port.postMessage(reply);
  }
}

async function answer({ id, call }: Request, port: NonNullable<typeof parentPort>): Promise<void> {
  try {
    send({ id, tensors: await dispatch(call) }, port);
  } catch (error) {
    send({ id, error: messageOf(error), hint: error instanceof UserError ? error.hint : undefined }, port);
  }
  if (call.kind === "close") port.close();
}

if (parentPort !== null) {
  const port = parentPort;
  let queue: Promise<void> = Promise.resolve();
  port.on("message", (request: Request) => {
    queue = queue.then(() => answer(request, port));
  });
}
