/**
 * The library: everything that the programs are made of, for programs of your own.
 * `refusion-train` and `refusion-eval` are thin layers over `train` and `evaluate`.
 */
export { backward } from "./autodiff/backward.js";
export type { RunConfig } from "./config/config.js";
export { UserError } from "./core/errors.js";
export type { Act, Action, Blank, Observation, Spaces, Template } from "./core/interaction.js";
export { Rng } from "./core/rng.js";
export type { SupervisedExample } from "./diffusion/examples.js";
export type { Batch } from "./diffusion/layout/batch.js";
export type { LayoutSizes, Scoring } from "./diffusion/layout/scorings.js";
export type { RoundHead, RoundModel, Sampler, SamplerOptions, SamplerShapes } from "./diffusion/sampler.js";
export { sampler as unmaskSampler } from "./diffusion/samplers/unmask.js";
export type { ScoreHead } from "./diffusion/score-head.js";
export type { SampledModel } from "./diffusion/tokens.js";
export type { Trajectory } from "./diffusion/trajectory.js";
export { findBrowser } from "./env/browser/find-browser.js";
export type {
  Demonstration,
  Environment,
  EnvironmentKind,
  EnvironmentTask,
  EpisodeOutcome,
  FixedPolicy,
  PlayedTogether,
  Split,
  TaskSet,
} from "./env/environment.js";
export type { Episode } from "./env/forms/episode.js";
export type { RewardKind } from "./env/forms/own-reward.js";
export type { DeclaredForm, FieldKind, FieldValue, RunningSite, Sign, SiteKind, Task } from "./env/site.js";
export { type Agent, type Filled, type FilledField, loadAgent, pageObservation } from "./features/agent/agent.js";
export type { AgentSource } from "./features/agent/agent-config.js";
export type { Place, Way } from "./features/learned-pages/way.js";
export type { Login } from "./features/own-site/login.js";
export {
  defineEnvironment,
  defineObjective,
  defineReward,
  defineSampler,
  defineSite,
  defineTracker,
} from "./library/define.js";
export { type OpenPolicy, openPolicy } from "./library/policy.js";
export {
  type ConfigSource,
  type EvaluateCall,
  evaluate,
  type RunConfigInput,
  resolveConfig,
  type TrainCall,
  train,
} from "./library/programs.js";
export { Emitter } from "./onnx/emit.js";
export { encodeModel } from "./onnx/format/proto.js";
export { GraphBuilder } from "./onnx/graph.js";
export { Runtime } from "./onnx/session.js";
export type { Graph, Tensor, Value } from "./onnx/types.js";
export type { ParameterGroup } from "./optim/optimizer.js";
export { type EpisodeTurn, episodeCredit, type GroupEpisode, type TurnCredit } from "./rl/credit.js";
export type { LayoutContext, Loss, LossInputs, Needs, Objective } from "./rl/objective.js";
export type { Evaluation } from "./runs/evaluation.js";
export type { TrainResult } from "./train/types.js";
export type { TrackedRun, Tracker, TrackerKind } from "./watch/tracker.js";
export type { Outcome } from "./watch/watcher.js";
