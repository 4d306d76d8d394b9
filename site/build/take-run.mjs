// node site/build/take-run.mjs RUN: copies the adapter and the report of a run of the demo's config, with a hash of the
// model that the adapter was trained on, and redraws the animation. After a change of that model:
//   npm start, then this with runs/letters-flow-grpo
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { ADAPTER, modelOfDemo } from "./demo-files.mjs";
import { compiled, SITE } from "./paths.mjs";

const run = resolve(process.argv[2] ?? "runs/letters-flow-grpo");
const { modelHash } = await compiled("nn/model.js");
const last = readdirSync(join(run, "checkpoints")).sort().at(-1);
mkdirSync(ADAPTER, { recursive: true });
for (const file of ["adapter_config.json", "adapter_model.safetensors"])
  copyFileSync(join(run, "checkpoints", last, file), join(ADAPTER, file));
writeFileSync(join(ADAPTER, "model.hash"), `${await modelHash(await modelOfDemo())}\n`);
writeFileSync(join(SITE, "reports", "letters.html.gz"), gzipSync(readFileSync(join(run, "report.html")), { level: 9 }));
await import("./picture.mjs").then(({ drawPicture }) => drawPicture());
