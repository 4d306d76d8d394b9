import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { InMemorySpanExporter } from "@opentelemetry/sdk-trace";
import { inSpan, openSpans, spansAreOn } from "../../../../src/core/spans.js";
import { otlpSpans } from "../../../../src/features/tracing/spans/otlp.js";

describe("OpenTelemetry's spans", () => {
  let close: (() => Promise<void>) | undefined;
  afterEach(async () => close?.());

  it("are off unless the environment asks for them", async () => {
    close = await openSpans({});
    assert.equal(close, undefined);
    assert.equal(spansAreOn(), false);
    assert.equal(await inSpan("step", {}, async () => 3), 3);
  });

  it("lie in each other as the work does, over what is awaited; a failure is in its span", async () => {
    const exporter = new InMemorySpanExporter();
    close = await openSpans({ OTEL_TRACES_EXPORTER: "otlp" }, [otlpSpans(exporter)]);
    assert.equal(spansAreOn(), true);
    const failed = inSpan("step", { step: 7 }, async () => {
      await inSpan("collect", {}, () => new Promise(setImmediate));
      await inSpan("score", {}, async () => Promise.reject(new Error("no session")));
    });
    await assert.rejects(failed, /no session/);
    const spans = exporter.getFinishedSpans();
    const actual = spans.map(({ name, status }) => [name, status.code]);
    assert.deepEqual(actual, [
      ["collect", 0],
      ["score", 2],
      ["step", 2],
    ]);
    const [collect, score, step] = spans;
    assert.equal(collect?.parentSpanContext?.spanId, step?.spanContext().spanId);
    assert.equal(score?.parentSpanContext?.spanId, step?.spanContext().spanId);
    assert.deepEqual(step?.attributes, { step: 7 });
    assert.equal(step?.resource.attributes["service.name"], "refusion-train");
  });
});
