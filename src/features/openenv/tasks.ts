/** The tasks of a server: OpenEnv's task API, and the choice of a reset's task. */
import type { Hono, MiddlewareHandler } from "hono";
import type { Environment } from "../../env/environment.js";
import { type ChooseTask, SessionError } from "./session.js";

/** OpenEnv's names of our splits, if it has one. */
const TYPES: Readonly<Record<string, string>> = { train: "train", val: "validation", test: "test" };

type Specs = readonly { readonly id: string; readonly index: number; readonly form: string }[];
const bound = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** Adds the task API, which lists the tasks of reset({split, index}). */
export function addTaskApi(app: Hono, { name, tasks }: Environment): void {
  const known: MiddlewareHandler = async (c, next) => {
    const requested = c.req.param("name");
    if (requested?.toLowerCase() === name.toLowerCase()) return next();
    return c.json({ detail: `unknown environment '${requested}'` }, 404);
  };
  /** Adds a route about the tasks of the split in the request; `answer` returns undefined for an invalid index. */
  const ofSplit = (what: string, answer: (specs: Specs, body: Record<string, unknown>) => object | undefined): void => {
    app.post(`/:name/${what}`, known, async (c) => {
      const body: { split?: unknown } | null = await c.req.json().catch(() => null);
      if (typeof body?.split !== "string") return c.json({ detail: "split: expected a text" }, 422);
      const own = tasks.filter(({ split }) => split === body.split);
      const specs = own.map(({ id, form }, index) => ({ id, index, form }));
      const result = answer(specs, body);
      return result === undefined ? c.json({ detail: "Invalid task index" }, 400) : c.json(result);
    });
  };
  app.get("/list_environments", (c) => c.json([name]));
  app.get("/:name/splits", known, (c) => {
    const splits = [...new Set(tasks.map(({ split }) => split))];
    return c.json(splits.map((split) => ({ name: split, type: TYPES[split] ?? "validation" })));
  });
  ofSplit("tasks", (specs) => ({ tasks: specs, env_name: name }));
  ofSplit("num_tasks", (specs) => ({ num_tasks: specs.length }));
  ofSplit("task", (specs, { index }) => {
    const task = specs.at(bound(index) ?? specs.length);
    return task && { task };
  });
  ofSplit("task_range", (specs, { start, stop }) => ({ tasks: specs.slice(bound(start), bound(stop)) }));
}

/** Chooses a task by id; by split and index; or by split (default `train`) and seed, or the next one. */
export function chooser({ tasks }: Environment): ChooseTask {
  let next = 0;
  return ({ task_id: id, split: named, index, seed }) => {
    const split = named ?? "train";
    const own = tasks.filter((task) => task.split === split);
    const task = id ? tasks.find((one) => one.id === id) : own[index ?? (seed ?? next++) % own.length];
    if (task !== undefined) return task;
    throw new SessionError("VALIDATION_ERROR", `there is no task ${id ?? `${index ?? ""} in the split ${split}`}`);
  };
}
