import type { Attributes, Tracer } from "@opentelemetry/api";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { fail } from "./errors.js";

let tracer: Tracer | undefined;

/** Tells whether spans are recorded. */
export function spansAreOn(): boolean {
  return tracer !== undefined;
}

/**
 * Turns on OpenTelemetry spans for this process where the environment has `OTEL_TRACES_EXPORTER=otlp`; the exporter
 * reads the standard `OTEL_EXPORTER_OTLP_*` variables (http/json).
 * @param exporter replaces it in tests.
 * @returns a function that sends the remaining spans and turns them off; undefined where they are off.
 * @throws UserError where the optional packages are not installed.
 */
export async function openSpans(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  exporter?: SpanExporter,
): Promise<(() => Promise<void>) | undefined> {
  if (environment.OTEL_TRACES_EXPORTER !== "otlp") return undefined;
  const load = async () => ({
    ...(await import("@opentelemetry/api")),
    ...(await import("@opentelemetry/context-async-hooks")),
    ...(await import("@opentelemetry/core")),
    ...(await import("@opentelemetry/resources")),
    ...(await import("@opentelemetry/sdk-trace")),
    ...(await import("@opentelemetry/exporter-trace-otlp-http")),
  });
  const otel = await load().catch((cause) => {
    fail("OTEL_TRACES_EXPORTER=otlp needs OpenTelemetry's packages, which are not installed.", {
      hint: "npm install (they are optional dependencies), or unset OTEL_TRACES_EXPORTER",
      cause,
    });
  });
  const provider = new otel.TracerProvider({
    resource: otel.resourceFromAttributes({ "service.name": environment.OTEL_SERVICE_NAME ?? "refusion-train" }),
    spanProcessors: [
      exporter === undefined
        ? new otel.BatchSpanProcessor({ exporter: new otel.OTLPTraceExporter() })
        : new otel.SimpleSpanProcessor({ exporter }),
    ],
  });
  otel.context.setGlobalContextManager(new otel.AsyncLocalStorageContextManager().enable());
  otel.propagation.setGlobalPropagator(new otel.W3CTraceContextPropagator());
  otel.trace.setGlobalTracerProvider(provider);
  tracer = provider.getTracer("refusion-train");
  return async () => {
    tracer = undefined;
    await provider.shutdown().catch(() => undefined);
    for (const api of [otel.context, otel.propagation, otel.trace]) api.disable();
  };
}

/** Runs work in a span, where spans are on; spans that it starts become children. */
export async function inSpan<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  if (tracer === undefined) return work();
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.recordException(error instanceof Error ? error : String(error));
      span.setStatus({ code: 2 });
      throw error;
    } finally {
      span.end();
    }
  });
}
