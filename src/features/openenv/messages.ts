/**
 * Messages between an OpenEnv client and server over a WebSocket (PyPI `openenv` 0.10,
 * core/env_server/types.py, mcp_types.py): one environment per connection, one answer per message.
 */
import { z } from "zod";

export type ErrorCode =
  | "INVALID_JSON"
  | "UNKNOWN_TYPE"
  | "VALIDATION_ERROR"
  | "EXECUTION_ERROR"
  | "CAPACITY_REACHED"
  | "SESSION_ERROR";

const json = z.record(z.string(), z.unknown());

/** The result of a reset or a step, with the reward of this step; null if there is none. */
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

/** Messages of a server. Its error codes may be unknown here. */
export const answer = z.discriminatedUnion("type", [
  z.object({ type: z.literal("observation"), data: result }),
  z.object({ type: z.literal("state"), data: json }),
  z.object({ type: z.literal("error"), data: z.looseObject({ message: z.string(), code: z.string() }) }),
]);
export type ServerMessage = z.input<typeof answer>;

const metadata = json.default({});
/** The complete answer of one turn. */
export const textAction = z.strictObject({ metadata, text: z.string().describe("the plan, an action a line") });
/** An action: without a type it is a text; the others are those of OpenEnv's tool environments. */
const action = z.preprocess(
  (given) => (given !== null && typeof given === "object" ? { type: "text", ...given } : given),
  z.discriminatedUnion("type", [
    textAction.extend({ type: z.literal("text") }),
    z.strictObject({ type: z.literal("list_tools"), metadata }),
    z.strictObject({ type: z.literal("call_tool"), metadata, tool_name: z.string(), arguments: json.default({}) }),
  ]),
);
export type Action = z.output<typeof action>;

const number = z.int().min(0).nullish();
/** Fields of a reset; others are ignored. */
const reset = z.object({
  task_id: z.string().nullish(),
  split: z.string().nullish(),
  index: number,
  seed: number,
  episode_id: z.string().max(255).nullish(),
});
export type Reset = z.output<typeof reset>;

/** Messages of a client. */
export const request = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("reset"), data: reset.prefault({}) }),
  z.strictObject({ type: z.literal("step"), data: action }),
  z.strictObject({ type: z.literal("state") }),
  z.strictObject({ type: z.literal("close") }),
]);

/** An observation; results of tools have other fields. */
const observation = z.looseObject({
  done: z.boolean().default(false),
  reward: z.number().nullable().default(null).describe("of the whole episode, at its end"),
  metadata,
  text: z.string().default("").describe("what is to be seen, as a prompt; empty at the end"),
});
const state = z.looseObject({ episode_id: z.string().nullable().default(null), step_count: z.int().min(0).default(0) });
/** Answer of /schema, with the action that needs no tools. */
export const SCHEMAS = Object.fromEntries(
  Object.entries({ action: textAction, observation, reset_observation: observation, state }).map(([name, schema]) => [
    name,
    z.toJSONSchema(schema, { io: "input" }),
  ]),
);
