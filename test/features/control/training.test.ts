import { describe } from "node:test";
import { ControlRuns } from "./control-runs.js";

describe("a flow policy in the simulator", () => {
  new ControlRuns().learns("sde");
});
