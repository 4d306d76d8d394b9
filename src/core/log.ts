import { type Logger, pino } from "pino";

export type { Logger };

/** Opens the program's log: JSON lines in a file. */
export const createLog = (file: string): Logger =>
  pino({ level: "info", base: null }, pino.destination({ dest: file, sync: true, mkdir: true }));
