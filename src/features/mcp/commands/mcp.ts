import { randomBytes } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { type CliCommand, type CliContext, checkpointName, portNumber } from "../../../cli/shared.js";
import { closing } from "../../../core/closing.js";
import { misuse } from "../../../core/errors.js";
import { type AgentFlags, agentSource, checkBelow } from "../../agent/agent-flags.js";

interface McpFlags extends AgentFlags {
  readonly origin: readonly string[];
  readonly endpoint?: readonly string[];
  readonly http?: number;
  readonly token?: string;
}

/** `refusion-train mcp`: offers a policy as tools of the Model Context Protocol, until the client or Ctrl-C ends it. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("fill forms for an assistant, by the Model Context Protocol")
      .argument("[overrides...]", "key=value, over the settings of a model: sampler.rounds=8")
      .option("-r, --run <dir>", "run directory whose checkpoint fills")
      .option("--checkpoint <which>", "best, last, or a step of --run", checkpointName, "last")
      .option("-m, --model <dir>", "model directory, instead of a run; by default the one of the adapter")
      .option("--adapter <dir>", "adapter in PEFT's layout; with neither model nor run: models/smollm2-letters")
      .option("--contracts <dir>", "learned forms, operated as they say; by default those of the run")
      .addOption(checkBelow())
      .requiredOption(
        "--origin <origin>",
        "an origin whose pages may be filled, as https://shop.example; once for each",
        (origin: string, all: readonly string[] = []) => [...all, origin],
      )
      .option(
        "--endpoint <address>",
        "a Chromium of this machine that tools may use, as http://127.0.0.1:9222; once for each",
        (endpoint: string, all: readonly string[] = []) => [...all, endpoint],
      )
      .option(
        "--http <port>",
        "serve on 127.0.0.1 at this port, 0 for any free one, instead of stdin and stdout",
        portNumber,
      )
      .option("--token <text>", "what clients of --http have to show; by default one is made and printed", tokenText)
      .addHelpText("after", "\nExample:\n  refusion-train mcp --origin http://127.0.0.1:8080")
      .action((overrides: string[], flags: McpFlags) => serve(overrides, flags, context));
  },
};

async function serve(overrides: readonly string[], flags: McpFlags, context: CliContext): Promise<void> {
  const { token, http } = flags;
  const source = agentSource(overrides, flags);
  if (token !== undefined && http === undefined) misuse("--token is for --http.");
  // imported lazily: help and usage errors should not wait for the runtime
  const { loadAgent } = await import("../../agent/agent.js");
  const { FormTools, sdk } = await import("../server.js");
  const { serveHttp } = await import("../http.js");
  const { originOf, endpointOf } = await import("../pages.js");
  const { versions } = await import("../../../runs/run-directory.js");
  const origins = flags.origin.map(originOf);
  const endpoints = (flags.endpoint ?? []).map(endpointOf);
  const { StdioServerTransport } = await sdk(() => import("@modelcontextprotocol/sdk/server/stdio.js"));
  const { signal } = context;
  const checking = flags.checkBelow === undefined ? {} : { checkBelow: flags.checkBelow };
  const version = versions().refusion_train ?? "";
  await using tools = closing(new FormTools(await loadAgent(source), origins, version, endpoints, checking));
  const ended = new Promise<void>((done) => {
    signal.addEventListener("abort", () => done());
    // a client on stdin ends the process by closing it
    if (http === undefined) process.stdin.once("close", done);
    if (signal.aborted) done();
  });
  if (http === undefined) {
    const server = await tools.server();
    await server.connect(new StdioServerTransport());
    context.log(`serving ${origins.join(", ")} on stdin and stdout`);
    await ended;
    await server.close();
  } else {
    const secret = token ?? randomBytes(24).toString("base64url");
    const served = await serveHttp(tools, http, secret);
    context.log(`${served.baseUrl}/mcp serves ${origins.join(", ")}; Ctrl-C ends it`);
    if (token === undefined) context.log(`Authorization: Bearer ${secret}`);
    await ended;
    await served.stop();
  }
}

function tokenText(text: string): string {
  if (!/^[\w.~+/-]{16,}=*$/.test(text))
    throw new InvalidArgumentError("Expected at least 16 letters, digits or -._~+/ of a bearer token.");
  return text;
}
