import { z } from "zod";
import { MlflowTracker } from "../mlflow.js";
import type { TrackerKind } from "../tracker.js";

const schema = z.strictObject({
  uri: z
    .url({ protocol: /^https?$/, error: "must be an http(s) address" })
    .refine((uri) => !URL.canParse(uri) || new URL(uri).username + new URL(uri).password === "", {
      error: "must not hold a password: set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
    })
    .nullable()
    .default(null)
    .describe("address of an MLflow server, as http://127.0.0.1:5000; null = off"),
  experiment: z.string().min(1).default("refusion-train").describe("experiment that the run belongs to"),
});

/** An MLflow server, over its REST API (https://mlflow.org/docs/latest/rest-api.html). */
export const tracker: TrackerKind<z.infer<typeof schema>> = {
  schema: schema.prefault({}).describe("MLflow over REST"),
  open: ({ uri, experiment }, run) => (uri === null ? undefined : new MlflowTracker({ uri, experiment }, run)),
};
