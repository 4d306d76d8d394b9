import { existsSync } from "node:fs";
import module from "node:module";
import { delimiter, join, relative } from "node:path";
import { type Command, CommanderError, Help, InvalidArgumentError } from "commander";
import { firstFailure } from "../core/closing.js";
import { EXIT, messageOf, UserError } from "../core/errors.js";
import { isWriteRefused, packageRoot, readJson, writeHint } from "../core/files.js";
import { loadedModules, ownFrame } from "../core/own-module.js";
import { withoutPasswords } from "../core/shown.js";

/** The export `command` of each subcommand's file; the file name is the subcommand's name. */
export interface CliCommand {
  /** Adds arguments, options and the action to an empty command of that name. */
  register(command: Command, context: CliContext): void;
}

export interface CliContext {
  /** Aborted by the first Ctrl-C. In a command that never reads it, the first Ctrl-C ends the process. */
  readonly signal: AbortSignal;
  /** Text shown after the first Ctrl-C: the work that the program still finishes. */
  afterInterrupt: string;
  /** Prints results to stdout. */
  print(text: string): void;
  /** Prints everything else to stderr. */
  log(text: string): void;
  /** Sets the exit code of a command that ends without an error but not with 0. */
  exitWith(code: number): void;
}

/** Runs a program to its end and sets the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted. */
export async function runProgram(
  build: (context: CliContext) => Promise<Command>,
  argv: readonly string[],
): Promise<void> {
  // Node 20 has no cache of compiled modules; others keep it in the temporary folder
  (module as { enableCompileCache?: () => void }).enableCompileCache?.();
  const interrupt = onInterrupt();
  let code: number = EXIT.ok;
  let failed = false;
  const context: CliContext = {
    get signal() {
      return interrupt.signal();
    },
    get afterInterrupt() {
      return interrupt.says;
    },
    set afterInterrupt(text) {
      interrupt.says = text;
    },
    print: (text) => process.stdout.write(`${text}\n`),
    // an error may quote an address with a password from the arguments or a config
    log: (text) => process.stderr.write(`${withoutPasswords(runnable(text))}\n`),
    exitWith: (value) => {
      code = value;
    },
  };
  // a reader that closes the pipe early (`| head`) is not an error
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(code);
    if (error.code !== "EIO") throw error;
  });
  // nor is a closed stderr: the run continues to its end; EIO: the terminal was closed
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
  });
  let crashed = false;
  // an unhandled error, as from a user's server: work that can be saved is saved
  const crash = (error: unknown): void => {
    if (!crashed) reportError(error, context.log, argv.includes("--debug"));
    crashed = true;
    if (!interrupt.abort()) process.exit(EXIT.failed);
  };
  process.on("uncaughtException", crash);
  let program: Command | undefined;
  try {
    program = await build(context);
    await program.parseAsync([...argv]);
  } catch (thrown) {
    failed = true;
    const error = firstFailure(thrown);
    code =
      interrupt.aborted && isAbort(error)
        ? EXIT.interrupted
        : reportError(error, context.log, argv.includes("--debug"));
    const key = error instanceof CommanderError && error.code === UNKNOWN_OPTION && dashedKey(argv, program);
    if (key) context.log(`  next: config keys take no dashes: ${key}`);
  } finally {
    interrupt.dispose();
    process.off("uncaughtException", crash);
  }
  process.exitCode = crashed ? EXIT.failed : code;
  if (!failed) return;
  // handles left open by a failure (a worker, a browser) must not keep the process alive; flush the output first
  for (const stream of [process.stdout, process.stderr]) await new Promise((done) => stream.write("", done));
  process.exit(process.exitCode);
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** Prints an error for its reader and returns the exit code. */
export function reportError(error: unknown, log: (text: string) => void, debug: boolean): number {
  if (error instanceof CommanderError) {
    // commander has already printed help, version or its message
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  if (isOutOfMemory(error)) {
    log(`error: out of memory: ${messageOf(error)}`);
    log(
      "  next: `refusion-train doctor --config FILE` estimates what a run needs; smaller batches and lengths need less",
    );
    if (debug && error.stack !== undefined) log(error.stack);
    return EXIT.failed;
  }
  log(`error: ${messageOf(error)}`);
  if (error instanceof UserError) {
    if (error.hint !== undefined) log(`  next: ${error.hint}`);
    if (debug && error.stack !== undefined) log(error.stack);
    return error.exitCode;
  }
  if (isWriteRefused(error)) {
    log(`  next: ${writeHint(error)}`);
    return EXIT.failed;
  }
  const own = ownFrame(error);
  const modules = Object.keys(loadedModules());
  if (own !== undefined) log(`  next: look at ${own}, a module of yours: it threw this, or called what did`);
  else if (modules.length > 0)
    log(`  next: see whether ${modules.join(", ")} of yours gives what it may not; a run without it tells`);
  if (debug) log((error instanceof Error && error.stack) || "no stack");
  else if (own === undefined && modules.length === 0)
    log("  this is a bug in refusion-train; run again with --debug for the stack, and report it");
  return EXIT.failed;
}

const UNKNOWN_OPTION = "commander.unknownOption";

/** Finds a word of a call that is a key of a config with dashes: `training.steps=3` of `--training.steps=3`. */
function dashedKey(argv: readonly string[], program: Command | undefined): string | undefined {
  const options = [program, ...(program?.commands ?? [])].flatMap((command) => command?.options ?? []);
  const isKey = (word: string): boolean =>
    /^--?[A-Za-z]\w*[._=]/.test(word) && !options.some(({ long }) => long === word.split("=", 1)[0]);
  const key = argv.find(isKey)?.replace(/^-+/, "");
  return key === undefined || key.includes("=") ? key : `${key}=VALUE`;
}

/** Tells whether an allocation was larger than the machine's memory or than the longest array: V8 gives no code. */
function isOutOfMemory(error: unknown): error is RangeError {
  return error instanceof RangeError && /allocation failed|^Invalid (typed )?array length/.test(error.message);
}

/** Signals that ask a process to end: Ctrl-C, a scheduler, a terminal that is closed. */
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Handles {@link ENDING}. The first aborts the signal, so that work can be saved; the second ends the process at
 * once. Where no code reads the signal there is nothing to save, and the first ends the process.
 */
function onInterrupt(): {
  signal(): AbortSignal;
  /** Aborts the signal, as Ctrl-C does; false where no code reads it. */
  abort(): boolean;
  says: string;
  readonly aborted: boolean;
  dispose(): void;
} {
  const controller = new AbortController();
  let heard = false;
  const dispose = (): void => {
    for (const signal of ENDING) process.off(signal, handle);
  };
  const handle = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted || !heard) {
      // ends by the signal itself, which a shell shows as 130: process.exit() would wait for the runtime's thread,
      // which cannot be stopped inside a long pass
      dispose();
      process.kill(process.pid, signal);
      return;
    }
    process.stderr.write(`\ninterrupted: ${interrupt.says} (once more ends at once)\n`);
    controller.abort();
  };
  for (const signal of ENDING) process.on(signal, handle);
  const interrupt = {
    says: "ending",
    signal() {
      heard = true;
      return controller.signal;
    },
    abort() {
      controller.abort();
      return heard;
    },
    get aborted() {
      return controller.signal.aborted;
    },
    dispose,
  };
  return interrupt;
}

/** Longest line of a help text, in characters. */
export const HELP_WIDTH = Math.min(process.stdout.columns ?? 100, 100);

/** Breaks a text into indented lines of {@link HELP_WIDTH}. */
export function wrapped(text: string, indent: string): string {
  const lines = Object.assign(new Help(), { minWidthToWrap: 20 }).boxWrap(text, HELP_WIDTH - indent.length);
  return lines.replaceAll(/^/gm, indent);
}

/** Sets the options and behaviour that both programs share. */
export function setUpProgram(program: Command): Command {
  return program
    .version((readJson(join(packageRoot(), "package.json")) as { version: string }).version)
    .configureHelp({ helpWidth: HELP_WIDTH, subcommandTerm: (command) => command.name() })
    .exitOverride()
    .showSuggestionAfterError(true)
    .showHelpAfterError("(--help lists what there is)")
    .helpCommand(false);
}

/** Parses an option that is a whole number from 1 to a million. */
export function positiveInteger(text: string): number {
  // a timer of many more seconds overflows and ends at once
  if (!/^[1-9][0-9]*$/.test(text) || Number(text) > 1_000_000)
    throw new InvalidArgumentError("Expected a whole number from 1 to 1000000.");
  return Number(text);
}

/** Parses a TCP port; 0 means any free one. */
export function portNumber(text: string): number {
  if (!/^[0-9]{1,5}$/.test(text) || Number(text) > 65535)
    throw new InvalidArgumentError("Expected a port, 0 to 65535; key=value arguments go before this option.");
  return Number(text);
}

/** Parses `best`, `last` or the number of a step. */
export function checkpointName(text: string): "best" | "last" | number {
  if (text === "best" || text === "last") return text;
  if (!/^[0-9]+$/.test(text)) throw new InvalidArgumentError("Expected best, last or the number of a step.");
  return Number(text);
}

const PROGRAMS: Readonly<Record<string, string>> = { "refusion-train": "train.js", "refusion-eval": "eval.js" };

/**
 * Rewrites the commands in a text so that they run here: where the programs are not on the PATH, they are called
 * through npx, if the folder's own packages hold them, or else by their files.
 */
export function runnable(text: string, env: NodeJS.ProcessEnv = process.env, cwd: string = process.cwd()): string {
  return text.replace(/(?<=^|\n {2}|next: |; |: )(refusion-(?:train|eval))(?= [a-z-])/g, (name: string) => {
    const windows = process.platform === "win32";
    const known = (folder: string): boolean =>
      folder !== "" && existsSync(join(folder, windows ? `${name}.cmd` : name));
    if ((env.PATH ?? "").split(delimiter).some(known)) return name;
    if (known(join(cwd, "node_modules", ".bin"))) return `npx ${name}`;
    const file = relative(cwd, join(import.meta.dirname, PROGRAMS[name] as string));
    return `node ${shellWord(file)}`;
  });
}

/** Returns a function that prints lines to stderr: plain text, or JSON where progress is JSON. */
export function sayer(context: CliContext, json = false): (text: string) => void {
  return json ? (text) => context.log(JSON.stringify({ event: "note", text: runnable(text) })) : context.log;
}

/** Quotes a word for a POSIX shell, for printed commands. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
