import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load as module } from "../bench/support.mjs";
import { constantNodes, rolesOf } from "./roles.mjs";

/**
 * Makes a runtime profile its sessions, to record which provider runs each node.
 * @param seen gets {session, op, provider, name} for every node of every session when the runtime is closed.
 * @param sums gets {session, runs, roles} of every session (roles.mjs), at the card's `rates`.
 * @returns the same runtime, whose sessions are profiled.
 */
export async function watchPlacement(runtime, seen, sums, rates) {
  const { decodeModel } = await module("onnx/format/proto.js");
  const dir = mkdtempSync(join(tmpdir(), "placement-"));
  const sessions = [];
  const load = runtime.load.bind(runtime);
  runtime.load = async (session, model, options) => {
    const prefix = join(dir, String(sessions.length));
    sessions.push({ session, constant: constantNodes(decodeModel(model.bytes, session)) });
    await load(session, model, { ...options, profile: prefix });
  };
  const close = runtime.close.bind(runtime);
  runtime.close = async () => {
    await close();
    for (const file of readdirSync(dir)) {
      const { session, constant } = sessions[Number.parseInt(file, 10)];
      const found = new Map();
      // the profile of a session that could not be created is empty
      const events = JSON.parse(readFileSync(join(dir, file), "utf8") || "[]");
      sums.push({ session, ...rolesOf(events, constant, rates) });
      for (const { cat, args, name } of events)
        if (cat === "Node" && args?.provider !== undefined && args.op_name !== undefined)
          found.set(name, { session, op: args.op_name, provider: args.provider, name });
      seen.push(...found.values());
    }
    rmSync(dir, { recursive: true, force: true });
  };
  return runtime;
}

/** Counts the nodes that do not run on CUDA, and the copies that ONNX Runtime inserted, by session and op. */
export function offDevice(nodes) {
  const counts = new Map();
  for (const { session, op, provider } of nodes) {
    if (provider === "CUDAExecutionProvider" && !op.startsWith("Memcpy")) continue;
    const key = JSON.stringify([session, op]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => {
    const [session, op] = JSON.parse(key);
    return { session, op, count };
  });
}
