import { Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { failedRequest, hostsOf, ownHostOnly, type Served, serveApp } from "../../core/serve.js";
import { type FormTools, sdk } from "./server.js";

/**
 * Serves the tools by streamable HTTP at /mcp, on the loopback interface, to clients with the token. Each request is a
 * separate connection: only the pages are kept between calls, and all clients share them.
 */
export async function serveHttp(tools: FormTools, port: number, token: string): Promise<Served> {
  const { WebStandardStreamableHTTPServerTransport } = await sdk(
    () => import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"),
  );
  const app = new Hono();
  app.onError(failedRequest("MCP server"));
  app.use(ownHostOnly(hostsOf("127.0.0.1")));
  app.use(bearerAuth({ token }));
  app.post("/mcp", async (c) => {
    const server = await tools.server();
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(c.req.raw);
    } finally {
      await server.close();
    }
  });
  // there are no streams without a request, and no sessions
  app.all("/mcp", (c) => c.text("POST alone is served here.\n", 405, { allow: "POST" }));
  return serveApp(app, port, "MCP server");
}
