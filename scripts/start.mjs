// npm start [-- key=value ...]: sets everything up on a fresh clone, then trains the tiny model to fill in forms from letters.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBrowser } from "./lib/browser.mjs";
import { build, checkNode, installPackages, ROOT } from "./lib/setup.mjs";

checkNode();
installPackages();
build();
await ensureBrowser();

// The training runs in this process: it gets the signals and the terminal, sets the exit code, and no child process is
// left behind when this process is killed.
const train = join(ROOT, "dist", "src", "cli", "train.js");
process.chdir(ROOT);
process.setSourceMapsEnabled(true);
process.argv.splice(1, 1, train, "flow-grpo", "--config", "configs/tiny/letters-flow-grpo.yaml");
await import(pathToFileURL(train).href);
