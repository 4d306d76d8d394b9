import { InvalidArgumentError } from "commander";
import { type CliCommand, portNumber } from "../../../cli/shared.js";

interface ServeFlags {
  readonly config: string;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly port: number;
  readonly sessions?: number;
  readonly idle: number;
}

/** `refusion-train serve`: the environment of a config as an OpenEnv server, until Ctrl-C. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("Offer a config's environment to any OpenEnv client: WebSocket /ws, /health, /schema, /metadata.")
      .argument("[overrides...]", "key=value, over what the config says")
      .requiredOption("-c, --config <file>", "YAML config whose environment is served; its model is not needed")
      .option("--host <address>", "interface to listen on; who can reach it can use it", "127.0.0.1")
      .option("--allow-host <names...>", "further names that clients call it by, as that of a proxy before it")
      .option("--port <number>", "port; 0 for any free one", portNumber, 8000)
      .option("--sessions <number>", "sessions at once; by default as many as the environment plays", atLeastOne)
      .option("--idle <seconds>", "a session that asks for nothing for so long is ended", atLeastOne, 600)
      .addHelpText(
        "after",
        "\nExample:\n  refusion-train serve --config configs/pages/wizard-flow-grpo.yaml\n" +
          "and in Python, with `pip install openenv`:\n" +
          '  with GenericEnvClient(base_url="http://127.0.0.1:8000").sync() as env: env.reset(split="val", index=0)',
      )
      .action(async (overrides: string[], flags: ServeFlags) => {
        const [{ loadConfig }, { openEnvironment }, { serveOpenEnv }, { versions }] = await Promise.all([
          import("../../../config/config.js"),
          import("../../../env/open.js"),
          import("../server.js"),
          import("../../../runs/run-directory.js"),
        ]);
        const config = await loadConfig(flags.config, { command: undefined, overrides });
        const environment = await openEnvironment(config, (text) => context.log(text));
        try {
          await environment.start();
          const sessions = flags.sessions ?? environment.capacity ?? 8;
          const { signal } = context;
          const server = await serveOpenEnv(environment, {
            host: flags.host,
            names: flags.allowHost ?? [],
            port: flags.port,
            sessions,
            idleSeconds: flags.idle,
            version: versions().refusion_train ?? "",
          });
          try {
            context.print(`${server.baseUrl}: ${environment.name}, ${environment.tasks.length} tasks`);
            context.log(`${sessions} sessions at once; Ctrl-C ends it`);
            if (!signal.aborted) await new Promise((done) => signal.addEventListener("abort", done));
          } finally {
            await server.stop();
          }
        } finally {
          await environment.close();
        }
      });
  },
};

function atLeastOne(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("expected an integer of at least 1");
  return value;
}
