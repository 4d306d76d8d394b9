import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { packageRoot } from "../../../src/core/files.js";

export const MODEL = ["--model", "models/tiny-refusion-template", "runtime.provider=cpu", "runtime.threads=1"];

export async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return client;
}

/** Starts the server as a client's configuration has it, and connects to its stdio. */
export function started(...flags: readonly string[]): Promise<Client> {
  const program = join(packageRoot(), "dist", "src", "cli", "train.js");
  const call = { command: process.execPath, args: [program, "mcp", ...MODEL, ...flags], cwd: packageRoot() };
  return connected(
    new StdioClientTransport({ ...call, env: { ...process.env } as Record<string, string>, stderr: "ignore" }),
  );
}
