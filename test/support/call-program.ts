import type { Ending } from "./cli-process.js";

let calls = 0;

/**
 * Calls a program in this process, in a folder, which saves the seconds that a new process takes to load. Serves calls
 * that leave nothing open; signals and pipes need a {@link CliProcess}.
 */
export async function callProgram(
  program: "train" | "eval",
  cwd: string,
  args: readonly string[],
): Promise<Omit<Ending, "signal">> {
  const said = { out: "", err: "" };
  const streams = [
    ["out", process.stdout],
    ["err", process.stderr],
  ] as const;
  const before = { argv: process.argv, cwd: process.cwd(), exit: process.exit };
  const undo = streams.map(([name, stream]) => {
    const { write } = stream;
    const listeners = stream.listeners("error");
    stream.write = ((chunk: unknown, ...rest: unknown[]) => {
      // messages of the test runner are bytes and pass through
      if (typeof chunk !== "string") return (write as (...all: unknown[]) => boolean).call(stream, chunk, ...rest);
      said[name] += chunk;
      for (const done of rest) if (typeof done === "function") done();
      return true;
    }) as typeof stream.write;
    return () => {
      stream.write = write;
      for (const listener of stream.listeners("error"))
        if (!listeners.includes(listener)) stream.off("error", listener as () => void);
    };
  });
  process.chdir(cwd);
  process.argv = [process.execPath, `${program}.js`, ...args];
  process.exit = (() => undefined) as unknown as typeof process.exit;
  try {
    // a program runs when it is loaded; its imports stay in the module cache
    await import(`../../src/cli/${program}.js?call=${calls++}`);
    return { code: Number(process.exitCode), ...said };
  } finally {
    for (const restore of undo) restore();
    process.argv = before.argv;
    process.exit = before.exit;
    process.exitCode = undefined;
    process.chdir(before.cwd);
  }
}
