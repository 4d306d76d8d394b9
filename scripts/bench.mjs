// npm run bench [-- --peer all] [--runs 9] [--only lora_step,rl_step,checkpointing,decoding,policy] [--python python3]
// Measures the cost of a step on this machine and prints one JSON object to stdout. `gemm_share` is the share of the
// machine's peak rate in matrix products that a phase reaches. With --peer, the LoRA training step and the whole RL
// step alternate with PyTorch 2.13 (scripts/bench/torch_peer.py and torch_rl_peer.py), one thread each, and a table of
// ours / theirs is printed, or with --json everything. Peers: eager (as installed), overridden (without MKL's check of
// the processor's vendor), compile, bf16, bf16-compile, or all. `--only rl_step_135m` measures the RL step at 135 M
// parameters: 3 runs with --peer took 45 minutes beside other work, and 12 GB. `--only rl_step,rl_step_49k`: the tiny
// model with a vocabulary of 1,024 and of 49,152. `--only int8`: rollouts in int8.
// `--only documents --site FORMFACTORY [--batch 8] [--ways 8]`: forms a CPU second, against llama.cpp
// (scripts/bench/documents.mjs); only the ways whose names have this text.
// `--only episode`: a table of an episode's CPU milliseconds by step and process (scripts/bench/episode.mjs); `--only
// growth`: of how a step grows with length, group and vocabulary (scripts/bench/growth.mjs); with --save the table is
// written to docs/data, for `npm run results`.
import { benchCheckpointing } from "./bench/checkpointing.mjs";
import { benchDecoding } from "./bench/decoding.mjs";
import { benchDocuments } from "./bench/documents.mjs";
import { benchEpisode } from "./bench/episode.mjs";
import { benchGrowth } from "./bench/growth.mjs";
import { benchInt8 } from "./bench/int8.mjs";
import { benchLoraStep } from "./bench/lora-step.mjs";
import { coreName, formatPeers, formatTable, peersOf, saveTable } from "./bench/peers.mjs";
import { benchPolicy } from "./bench/policy.mjs";
import { benchRlStep } from "./bench/rl-step.mjs";
import { ensureBrowser } from "./lib/browser.mjs";
import { flagsOf } from "./lib/flags.mjs";
import { build, checkNode, installPackages, ROOT } from "./lib/setup.mjs";

/** The parts that give a table. */
const TABLES = { episode: benchEpisode, growth: benchGrowth };

const { values } = flagsOf(import.meta.url, {
  options: {
    peer: { type: "string" },
    runs: { type: "string", default: "9" },
    only: { type: "string" },
    site: { type: "string", default: "formfactory" },
    batch: { type: "string", default: "1" },
    ways: { type: "string" },
    json: { type: "boolean", default: false },
    save: { type: "boolean", default: false },
    python: { type: "string", default: "python3" },
  },
});
checkNode();
installPackages();
build();
process.chdir(ROOT);
const compares = values.peer !== undefined;
const only = (values.only ?? `lora_step,rl_step${compares ? "" : ",checkpointing,decoding,policy"}`).split(",");
if (only.includes("policy") || only.includes("episode")) await ensureBrowser();
const runs = Number(values.runs);
const peer = { python: values.python, peers: compares ? peersOf(values.peer) : [] };
const tables = {};
for (const part of only.filter((name) => name in TABLES)) {
  tables[part] = await TABLES[part]({ runs });
  if (values.save) saveTable(part, tables[part], runs);
}
const result = {
  cpu: coreName(),
  node: process.versions.node,
  ...tables,
  ...(only.includes("lora_step") ? { lora_step: await benchLoraStep({ runs, ...peer }) } : {}),
  ...(only.includes("rl_step") ? { rl_step: await benchRlStep({ size: "tiny", runs, ...peer }) } : {}),
  ...(only.includes("rl_step_49k") ? { rl_step_49k: await benchRlStep({ size: "tiny-49k", runs, ...peer }) } : {}),
  ...(only.includes("rl_step_135m") ? { rl_step_135m: await benchRlStep({ size: "135m", runs, ...peer }) } : {}),
  ...(only.includes("checkpointing") ? { checkpointing: await benchCheckpointing({ runs }) } : {}),
  ...(only.includes("decoding") ? { decoding: await benchDecoding({ runs }) } : {}),
  ...(only.includes("int8") ? { int8: await benchInt8({ runs }) } : {}),
  ...(only.includes("documents")
    ? { documents: await benchDocuments({ runs, site: values.site, batch: Number(values.batch), only: values.ways }) }
    : {}),
  ...(only.includes("policy") ? await benchPolicy({ runs, contexts: [1, 2, 4, 8] }) : {}),
  peak_rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
};
const written = only.every((part) => part in TABLES)
  ? Object.values(tables).map((table) => formatTable(table, runs))
  : compares && formatPeers(result, runs);
process.stdout.write(
  written && !values.json ? [written].flat().join("\n") : `${JSON.stringify(result, undefined, 2)}\n`,
);
