import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fail } from "../../core/errors.js";
import { cannotWrite } from "../../core/files.js";

/** Checks that a file does not exist. @param named its name on the command line. @throws UserError if it exists. */
export function assertNew(file: string, named: string): void {
  if (existsSync(file)) fail(`${file} exists already, and is not overwritten.`, { hint: `give another ${named}` });
}

/** Writes a new file and its folders; never overwrites. @throws UserError if the file system refuses. */
export function writeNew(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: "wx" });
  } catch (error) {
    throw cannotWrite(file, error);
  }
}
