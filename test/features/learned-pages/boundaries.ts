import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "yaml";
import { packageRoot } from "../../../src/core/files.js";
import { readContract } from "../../../src/features/learned-pages/contract.js";
import type { Boundaries } from "../../support/boundary.js";
import { mutatedJsonText, mutatedText } from "../../support/mutations.js";

const NAMES = ["elements-shoelace-desk", "react-radix-feedback", "vue-quasar-delivery"];

/** The contracts of the documentation. */
export const boundaries: Boundaries = async () =>
  NAMES.map((name) => {
    const good = readFileSync(join(packageRoot(), "docs", "contracts", `${name}.yaml`), "utf8");
    const contents = fc.oneof(mutatedJsonText(parse(good)), mutatedText(good));
    const read = (text: string | Uint8Array): unknown => readContract(String(text), "form.yaml");
    return { name: `the contract ${name}`, cases: 20, contents, where: "form.yaml", good, read };
  });
