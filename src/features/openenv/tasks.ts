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
  const checkName: MiddlewareHandler = async (c, next) => {
    const requested = c.req.param("name");
    if (requested?.toLowerCase() === name.toLowerCase()) return next();
    return c.json({ detail: `unknown environment '${requested}'` }, 404);
  };
  /** Adds a route about the tasks of the split in the request; `answer` returns undefined for an invalid index. */
  const addRoute = (
    what: string,
    answer: (specs: Specs, body: Record<string, unknown>) => object | undefined,
  ): void => {
    app.post(`/:name/${what}`, checkName, async (c) => {
      const body: { split?: unknown } | null = await c.req.json().catch(() => null);
      if (typeof body?.split !== "string") return c.json({ detail: "split: expected a text" }, 422);
      const ofSplit = tasks.filter(({ split }) => split === body.split);
      const specs = ofSplit.map(({ id, form }, index) => ({ id, index, form }));
      const result = answer(specs, body);
      return result === undefined ? c.json({ detail: "Invalid task index" }, 400) : c.json(result);
    });
  };
  app.get("/list_environments", (c) => c.json([name]));
  app.get("/:name/splits", checkName, (c) => {
    const splits = [...new Set(tasks.map(({ split }) => split))];
    return c.json(splits.map((split) => ({ name: split, type: TYPES[split] ?? "validation" })));
  });
  addRoute("tasks", (specs) => ({ tasks: specs, env_name: name }));
  addRoute("num_tasks", (specs) => ({ num_tasks: specs.length }));
  addRoute("task", (specs, { index }) => {
    const task = specs.at(bound(index) ?? specs.length);
    return task && { task };
  });
  addRoute("task_range", (specs, { start, stop }) => ({ tasks: specs.slice(bound(start), bound(stop)) }));
}

/** Chooses a task by id; by split and index; or by split (default `train`) and seed, or the next one. */
export function chooser({ tasks }: Environment): ChooseTask {
  let next = 0;
  return ({ task_id: id, split: named, index, seed }) => {
    const split = named ?? "train";
    const ofSplit = tasks.filter((task) => task.split === split);
    const task = id ? tasks.find((one) => one.id === id) : ofSplit[index ?? (seed ?? next++) % ofSplit.length];
    if (task !== undefined) return task;
    throw new SessionError("VALIDATION_ERROR", `there is no task ${id ?? `${index ?? ""} in the split ${split}`}`);
  };
}
