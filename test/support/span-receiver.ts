import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface Sent {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly { readonly name: string; readonly traceId: string }[] }[];
  }[];
}

/** Receives the spans of an OTLP exporter, as JSON over HTTP. */
export class SpanReceiver {
  readonly got: { name: string; traceId: string }[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<SpanReceiver> {
    const server = createServer(async (request, response) => {
      const { resourceSpans } = (await json(request)) as Sent;
      for (const { scopeSpans } of resourceSpans) for (const { spans } of scopeSpans) receiver.got.push(...spans);
      response.setHeader("content-type", "application/json").end("{}");
    });
    const receiver = new SpanReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  /** Environment variables that direct a process's exporter to this receiver. */
  get env(): NodeJS.ProcessEnv {
    const { port } = this.server.address() as AddressInfo;
    return { OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
