/**
 * A boundary is a place where a file or a message from outside is read. Each folder of tests may list some in its
 * boundaries.ts; test/house/boundaries.test.ts reads generated versions of all of them.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { refusesOrReads } from "./mutations.js";

type Content = string | Uint8Array;

/** A place where something from outside is read, with generated versions of it. */
export interface Boundary {
  readonly name: string;
  /** Cases of the quick test. */
  readonly cases: number;
  readonly contents: fc.Arbitrary<Content>;
  /** Reads a version. @throws UserError where it is refused. */
  read(content: Content): unknown;
  /** A text that each refusal holds: the name of the file. */
  readonly where: string;
  /** The content that is read without an error; absent where reading answers instead of throwing. */
  readonly good?: Content;
  close?(): unknown;
}

/** Opens the boundaries of a folder of tests. @param folder a new one, which is removed afterwards. */
export type Boundaries = (folder: string) => Promise<readonly Boundary[]>;

/** Makes a boundary of a file that exists. @param read reads the file, or what it is a part of. */
export function ofFile(
  name: string,
  path: string,
  contents: fc.Arbitrary<Content>,
  read: () => unknown,
  { cases = 20, where = path } = {},
): Boundary {
  const good = readFileSync(path);
  const readOne = async (content: Content): Promise<void> => {
    writeFileSync(path, content);
    try {
      await read();
    } finally {
      writeFileSync(path, good);
    }
  };
  return { name, cases, contents, where, good, read: readOne };
}

/**
 * Reads generated versions: each one is read, or refused by a UserError with a next step.
 * @param onCase is called before each, with its number.
 */
export async function check(boundary: Boundary, runs: number, onCase: (n: number) => void): Promise<void> {
  if (boundary.good !== undefined) await boundary.read(boundary.good);
  const seen = { read: 0, refused: 0 };
  const property = fc.asyncProperty(boundary.contents, async (content) => {
    onCase(seen.read + seen.refused);
    seen[await refusesOrReads(() => boundary.read(content), boundary.where)]++;
  });
  await fc.assert(property, { seed: 7, numRuns: runs });
  const { refused } = seen;
  if (boundary.good !== undefined) assert.ok(refused > runs / 20, `only ${refused} of ${runs} were refused`);
}
