import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packageRoot } from "../../../src/core/files.js";
import { temporaryFolder } from "../../support/temporary.js";

/**
 * A checkout in FormFactory's shape, of our own making (checkout/): its layout, its conventions and its oddities (labels
 * and names that differ, phantom keys, values that are no option, odd rows, required files, a form built by a script),
 * none of its content.
 */
const CHECKOUT = join(packageRoot(), "test", "features", "formfactory", "checkout");
export const MADE_FORMS = [
  "academic-research/job-application",
  "academic-research/grant-application",
  "academic-research/course-registration",
  "professional-business/membership-application",
  "tech-software/support-request",
  "legal-compliance/contractor-onboarding",
] as const;

/** Copies the checkout into a temporary directory; `changes` replace files, or take them away where undefined. */
export function madeCheckout(changes: Readonly<Record<string, string | undefined>> = {}): string {
  const dir = temporaryFolder("made-checkout");
  cpSync(CHECKOUT, dir, { recursive: true });
  for (const [name, content] of Object.entries(changes)) {
    const file = join(dir, name);
    mkdirSync(dirname(file), { recursive: true });
    if (content === undefined) rmSync(file, { force: true });
    else writeFileSync(file, content);
  }
  return dir;
}
