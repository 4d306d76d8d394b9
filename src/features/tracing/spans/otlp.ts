import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { fail } from "../../../core/errors.js";
import type { SpansKind } from "../../../core/spans.js";

/**
 * OpenTelemetry's spans, on where the environment has `OTEL_TRACES_EXPORTER=otlp`; the exporter reads the standard
 * `OTEL_EXPORTER_OTLP_*` variables (http/json).
 */
export const spans: SpansKind = otlpSpans();

/** @param exporter replaces the one over HTTP in tests. */
export function otlpSpans(exporter?: SpanExporter): SpansKind {
  return {
    async open(environment) {
      if (environment.OTEL_TRACES_EXPORTER !== "otlp") return undefined;
      const otel = await loadPackages();
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
      const tracer = provider.getTracer("refusion-train");
      return {
        run: (name, attributes, work) =>
          tracer.startActiveSpan(name, { attributes }, async (span) => {
            try {
              return await work();
            } catch (error) {
              span.recordException(error instanceof Error ? error : String(error));
              span.setStatus({ code: 2 });
              throw error;
            } finally {
              span.end();
            }
          }),
        async close() {
          await provider.shutdown().catch(() => undefined);
          for (const api of [otel.context, otel.propagation, otel.trace]) api.disable();
        },
      };
    },
  };
}

/** Loads the optional packages. @throws UserError where they are not installed. */
async function loadPackages() {
  try {
    return {
      ...(await import("@opentelemetry/api")),
      ...(await import("@opentelemetry/context-async-hooks")),
      ...(await import("@opentelemetry/core")),
      ...(await import("@opentelemetry/resources")),
      ...(await import("@opentelemetry/sdk-trace")),
      ...(await import("@opentelemetry/exporter-trace-otlp-http")),
    };
  } catch (cause) {
    fail("OTEL_TRACES_EXPORTER=otlp needs OpenTelemetry's packages, which are not installed.", {
      hint: "npm install (they are optional dependencies), or unset OTEL_TRACES_EXPORTER",
      cause,
    });
  }
}
