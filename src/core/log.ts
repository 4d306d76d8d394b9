import { type Logger, pino } from "pino";

export type { Logger };

/** Opens the program's log: JSON lines in a file. */
export function createLog(file: string): Logger {
  return pino({ level: "info", base: null }, pino.destination({ dest: file, sync: true, mkdir: true }));
}
