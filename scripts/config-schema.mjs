// npm run config-schema [-- --check]: writes docs/config.schema.json, the config's JSON Schema, from its zod schemas.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { configJsonSchema } from "./lib/json-schema.mjs";
import { build, fail, ROOT } from "./lib/setup.mjs";

build();
const path = join(ROOT, "docs", "config.schema.json");
const text = `${JSON.stringify(await configJsonSchema(), undefined, 1)}\n`;
if (!process.argv.includes("--check")) writeFileSync(path, text);
else if (readFileSync(path, "utf8") !== text) fail("docs/config.schema.json is not current: npm run config-schema");
