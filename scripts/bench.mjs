// npm run bench [-- --peer eager,compile] [--runs 9] [--only lora_step,checkpointing,decoding,policy] [--python python3]
// What a step costs on this machine, as one JSON object on stdout. `gemm_share` is the share of the machine's own peak in
// matrix products that a phase reaches, measured in turn with it. With --peer, the LoRA training step is taken in turn
// with scripts/bench/torch_peer.py (needs PyTorch 2.13), one thread each; `ratio` is the median of ours / theirs.
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { benchCheckpointing } from "./bench/checkpointing.mjs";
import { benchDecoding } from "./bench/decoding.mjs";
import { benchLoraStep } from "./bench/lora-step.mjs";
import { benchPolicy } from "./bench/policy.mjs";
import { ensureBrowser } from "./lib/browser.mjs";
import { build, checkNode, installPackages, ROOT } from "./lib/setup.mjs";

const { values } = parseArgs({
  options: {
    peer: { type: "string" },
    runs: { type: "string", default: "9" },
    only: { type: "string", default: "lora_step,checkpointing,decoding,policy" },
    python: { type: "string", default: "python3" },
  },
});
checkNode();
installPackages();
build();
await ensureBrowser();
process.chdir(ROOT);
const only = values.only.split(",");
const runs = Number(values.runs);
const peer =
  values.peer === undefined
    ? {}
    : {
        peer: join(ROOT, "scripts", "bench", "torch_peer.py"),
        variants: values.peer.split(","),
        python: values.python,
      };
const result = {
  cpu: cpus()[0]?.model,
  node: process.versions.node,
  ...(only.includes("lora_step") ? { lora_step: await benchLoraStep({ runs, ...peer }) } : {}),
  ...(only.includes("checkpointing") ? { checkpointing: await benchCheckpointing({ runs }) } : {}),
  ...(only.includes("decoding") ? { decoding: await benchDecoding({ runs }) } : {}),
  ...(only.includes("policy") ? await benchPolicy({ runs, contexts: [1, 2, 4, 8] }) : {}),
  peak_rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
};
process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
