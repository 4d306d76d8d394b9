/**
 * The library: everything that the programs are made of, for programs of your own.
 * `refusion-train` and `refusion-eval` are thin layers over `train` and `evaluate`.
 */
export { backward } from "./autodiff/backward.js";
export type { RunConfig } from "./config/config.js";
export { closing } from "./core/closing.js";
export { codeHash } from "./core/code-hash.js";
export { fail, messageOf, misuse, UserError } from "./core/errors.js";
export { sha256 } from "./core/files.js";
export {
  type Act,
  type Action,
  type Blank,
  fillTemplate,
  type Observation,
  type Spaces,
  type Template,
} from "./core/interaction.js";
export { checked } from "./core/problems.js";
export { Rng } from "./core/rng.js";
export { Semaphore } from "./core/semaphore.js";
export { failedRequest, hostsOf, ownHostOnly, type Served, serveApp } from "./core/serve.js";
export { within } from "./core/within.js";
export { checkStreams } from "./diffusion/batches.js";
export { type SupervisedExample, stratified } from "./diffusion/examples.js";
export type { Batch } from "./diffusion/layout/batch.js";
export { inBatches } from "./diffusion/layout/packing.js";
export type { LayoutSizes, Scoring, StepLayout, SupervisedLayout } from "./diffusion/layout/scorings.js";
export type { PolicyText, RoundHead, RoundModel, Sampler, SamplerOptions, SamplerShapes } from "./diffusion/sampler.js";
export { sampler as unmaskSampler } from "./diffusion/samplers/unmask.js";
export type { ScoreHead } from "./diffusion/score-head.js";
export type { SampledModel } from "./diffusion/tokens.js";
export type { Trajectory } from "./diffusion/trajectory.js";
export { adapterConfig, initialParameters } from "./engine/adapter.js";
export { EnvironmentFault } from "./env/browser/browser.js";
export { EpisodeRunner, PolicyFailure } from "./env/browser/episode.js";
export { findBrowser } from "./env/browser/find-browser.js";
export { type RecordedAnswer, recordedAnswer } from "./env/browser/recorded-answers.js";
export type { Session } from "./env/browser/session.js";
export {
  type Demonstration,
  type Environment,
  type EnvironmentKind,
  type EnvironmentTask,
  type EpisodeOutcome,
  type FixedPolicy,
  LARGEST_REWARD,
  ObservationTooLong,
  type PlayedTogether,
  SPLITS,
  type Split,
  type TaskSet,
} from "./env/environment.js";
export type { Episode } from "./env/forms/episode.js";
export { listItems, normalizeLabel } from "./env/forms/normalize.js";
export type { RewardKind } from "./env/forms/own-reward.js";
export { type Action as PlanAction, parsePlan, renderPlan } from "./env/forms/plan.js";
export { openEnvironment, tasksOf } from "./env/open.js";
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
export type { Architecture, WeightSpec } from "./nn/architecture.js";
export { baseConfigSchema, MOST_LAYERS, type ModelConfig, parseConfig } from "./nn/config.js";
export { layerNorm, linear, silu } from "./nn/layers.js";
export { Emitter } from "./onnx/emit.js";
export { encodeModel } from "./onnx/format/proto.js";
export { GraphBuilder } from "./onnx/graph.js";
export { Runtime } from "./onnx/session.js";
export { f32, type InputSpecs, type NamedTensors, vector } from "./onnx/tensors.js";
export type { Graph, Tensor, Value } from "./onnx/types.js";
export type { ParameterGroup } from "./optim/optimizer.js";
export { type EpisodeTurn, episodeCredit, type GroupEpisode, type TurnCredit } from "./rl/credit.js";
export type { LayoutContext, Loss, LossInputs, Needs, Objective } from "./rl/objective.js";
export { objectiveOf } from "./rl/objective-kinds.js";
export { parameterParts, writeCheckpoint } from "./runs/checkpoint.js";
export type { Evaluation } from "./runs/evaluation.js";
export { openTrainedPolicy } from "./train/loop.js";
export type { TrainResult } from "./train/types.js";
export type { TrackedRun, Tracker, TrackerKind } from "./watch/tracker.js";
export type { Outcome } from "./watch/watcher.js";
