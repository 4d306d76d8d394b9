import { Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { hostsOf, ownHostOnly, type Served, serveApp } from "../../core/serve.js";
import { type FormTools, sdk } from "./server.js";

/**
 * The tools by streamable HTTP at /mcp, on the loopback interface, for who has the token. A request is a connection of
 * its own: what is kept between calls are the pages, which are the same for all.
 */
export async function serveHttp(tools: FormTools, port: number, token: string): Promise<Served> {
  const { WebStandardStreamableHTTPServerTransport } = await sdk(
    () => import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"),
  );
  const app = new Hono();
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
  // no stream without a request, and no session to end
  app.all("/mcp", (c) => c.text("POST alone is served here.\n", 405, { allow: "POST" }));
  return serveApp(app, port, "MCP server");
}
