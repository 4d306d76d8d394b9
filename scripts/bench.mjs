/**
 * `npm run bench`: what a step costs here, as one JSON object on stdout.
 *   node scripts/bench.mjs [--peer] [--runs N] [--only peer-step,rollout,update,episodes]
 * With --peer the LoRA training step runs in turn with scripts/bench/torch_peer.py (needs PyTorch; see there), one
 * thread each, and the ratio of CPU times is the median over the runs.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { prepare, root } from "./lib/setup.mjs";

const { values } = parseArgs({ options: { peer: { type: "boolean" }, runs: { type: "string", default: "9" }, only: { type: "string" } } });
await prepare({ browser: true });
const args = [join(root, "dist/src/bench/main.js"), "--runs", values.runs, ...(values.peer ? ["--peer", join(root, "scripts/bench/torch_peer.py")] : []), ...(values.only ? ["--only", values.only] : [])];
execFileSync(process.execPath, args, { stdio: "inherit" });
