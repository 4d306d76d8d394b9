/**
 * Messages between an OpenEnv client and server over a WebSocket (PyPI `openenv` 0.10,
 * core/env_server/types.py): one environment a connection, one answer a message.
 */
import { z } from "zod";

export const ERROR_CODES = [
  "INVALID_JSON",
  "UNKNOWN_TYPE",
  "VALIDATION_ERROR",
  "EXECUTION_ERROR",
  "CAPACITY_REACHED",
  "FACTORY_ERROR",
  "SESSION_ERROR",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

const json = z.record(z.string(), z.unknown());

/** The answer to a reset or a step. Its reward is of this step; null: none was given. */
export const result = z.object({
  observation: json,
  reward: z
    .union([z.number(), z.boolean()])
    .nullable()
    .default(null)
    .transform((value) => (value === null ? null : Number(value))),
  done: z.boolean().default(false),
  metadata: json.nullable().optional(),
});
export type Result = z.output<typeof result>;

/** Messages of a server. A code may be one that is not known here. */
export const answer = z.discriminatedUnion("type", [
  z.object({ type: z.literal("observation"), data: result }),
  z.object({ type: z.literal("state"), data: json }),
  z.object({ type: z.literal("error"), data: z.looseObject({ message: z.string(), code: z.string() }) }),
]);
export type Answer = z.input<typeof answer>;

/** Messages of a client. */
export const request = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("reset"), data: json.default({}) }),
  z.strictObject({ type: z.literal("step"), data: json }),
  z.strictObject({ type: z.literal("state") }),
  z.strictObject({ type: z.literal("close") }),
]);

/** An environment of a server, as its task API tells of it. */
export const taskSplit = z.looseObject({ name: z.string(), type: z.string().optional() });
