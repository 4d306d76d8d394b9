import { versions } from "../../runs/run-directory.js";

/** Versions that have to be the same in coordinator and workers: what decides the numbers. */
export function deciding(): Record<string, string> {
  const { refusion_train = "", onnxruntime_node = "" } = versions();
  return { refusion_train, onnxruntime_node };
}
