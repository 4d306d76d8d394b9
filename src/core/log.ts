import { type Logger, pino } from "pino";

export type { Logger };

/**
 * The program's log: JSON lines to stderr (or to `file`), never to stdout, which is for results.
 * @param level `silent` for --quiet, `info` by default.
 */
export function createLog(options: { level?: string; file?: string } = {}): Logger {
  const target = options.file === undefined ? 2 : options.file;
  return pino(
    { level: options.level ?? "info", base: null },
    pino.destination({ dest: target, sync: true, mkdir: true }),
  );
}
