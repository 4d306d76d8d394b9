#!/usr/bin/env node
// Compares the pages of a FormFactory checkout as this program serves them with those of its own Flask application.
// node scripts/formfactory-pages.mjs CHECKOUT [PYTHON]; exits with 1 where a page differs. Needs a Python with Flask.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { CATALOG } from "../dist/src/features/formfactory/catalog.js";
import { openCheckout } from "../dist/src/features/formfactory/checkout.js";
import { createApp } from "../dist/src/features/formfactory/server.js";

const [dir = "formfactory", python = "python3"] = process.argv.slice(2);
const ASK = `
import base64, json, sys
sys.path.insert(0, sys.argv[1])
from app import app
client = app.test_client()
print(json.dumps([[path, base64.b64encode(client.get(path).data).decode()] for path in sys.argv[2:]]))
`;
const checkout = openCheckout(dir, CATALOG);
const paths = CATALOG.map(({ path }) => path);
const asked = spawnSync(python, ["-c", ASK, checkout.dir, ...paths], {
  encoding: "utf8",
  env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
});
if (asked.status !== 0) throw new Error(`${python}: ${asked.stderr || asked.error}`);
const hash = (bytes) => createHash("sha256").update(bytes).digest("hex");
const app = createApp(checkout);
let differing = 0;
for (const [path, page] of JSON.parse(asked.stdout)) {
  const ours = Buffer.from(await (await app.request(path)).arrayBuffer());
  if (hash(ours) === hash(Buffer.from(page, "base64"))) continue;
  differing++;
  console.log(`${path} differs`);
}
console.log(`${paths.length - differing} of ${paths.length} pages are the same bytes`);
process.exitCode = differing === 0 ? 0 : 1;
