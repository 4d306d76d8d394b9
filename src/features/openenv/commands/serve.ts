import { once } from "node:events";
import { type CliCommand, portNumber, positiveInteger } from "../../../cli/shared.js";
import { closing } from "../../../core/closing.js";
import type { ServeOptions } from "../server.js";

type ServeFlags = Omit<ServeOptions, "sessions"> & { readonly config: string; readonly sessions?: number };

/** `refusion-train serve`: offers a config's environment as an OpenEnv server, until Ctrl-C. */
export const command: CliCommand = {
  register(command, context) {
    command
      .description("offer a config's environment to any OpenEnv client")
      .argument("[overrides...]", "key=value, over what the config says")
      .requiredOption("-c, --config <file>", "YAML config whose environment is served; its model is not needed")
      .option("--host <address>", "interface to listen on; who can reach it can use it", "127.0.0.1")
      .option("--allow-host <names...>", "further names that clients call it by, as that of a proxy before it")
      .option("--port <number>", "port; 0 for any free one", portNumber, 8000)
      .option("--sessions <number>", "sessions at once; by default as many as the environment plays", positiveInteger)
      .option("--idle <seconds>", "a session that asks for nothing for so long is ended", positiveInteger, 600)
      .addHelpText(
        "after",
        "\nExample:\n  refusion-train serve --config configs/wizards/flow-grpo.yaml\n" +
          "and in Python, with `pip install openenv`: GenericEnvClient(base_url=ADDRESS).sync().reset(split='val', index=0)",
      )
      .action(async (overrides: string[], { config, ...flags }: ServeFlags) => {
        const { loadConfig } = await import("../../../config/config.js");
        const { openEnvironment } = await import("../../../env/open.js");
        const { serveOpenEnv } = await import("../server.js");
        const { print, log } = context;
        const loaded = await loadConfig(config, { command: undefined, overrides });
        await using environment = closing(await openEnvironment(loaded, log));
        await environment.start();
        const sessions = flags.sessions ?? environment.capacity ?? 8;
        const server = await serveOpenEnv(environment, { ...flags, sessions });
        await using _ = closing({ close: server.stop });
        print(`${server.baseUrl}: ${environment.name}, ${environment.tasks.length} tasks`);
        log(`${sessions} sessions at once; Ctrl-C ends it`);
        const { signal } = context;
        if (!signal.aborted) await once(signal, "abort");
      });
  },
};
