import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { waitAtMost } from '../process/timeout.js';
import { VERSION } from '../process/version.js';
import { type Attributes, type OpenSpan, type SpanStart, type Tracer, useTracer } from './spans.js';

const EXPORT_INTERVAL_MS = 1000;
const EXPORT_TIMEOUT_MS = 5000;
const MAX_QUEUED_SPANS = 4096;
/** Spans that a stopping process has not exported by then are lost. */
const SHUTDOWN_TIMEOUT_MS = 2000;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };

/**
 * Exports spans in the background, one batch a second. While the collector is unavailable, or slower than spans come, those
 * beyond MAX_QUEUED_SPANS are dropped, and one log line says so. The SDK itself reads sampling, headers and resource
 * attributes from the environment (`OTEL_TRACES_SAMPLER` …).
 */
export function openTracing(url: string, service: string, logger: Logger): Closable {
  const { counter, watched } = watchArrival(logger);
  const exporter = watched(new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS }));
  const processor = new BatchSpanProcessor(exporter, {
    maxQueueSize: MAX_QUEUED_SPANS,
    scheduledDelayMillis: EXPORT_INTERVAL_MS,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const named = resourceFromAttributes({ 'service.name': service, 'service.version': VERSION });
  const resource = defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({ resource, spanProcessors: [counter, processor] });
  useTracer(tracerOf(provider));
  logger.info({ event: 'traces.on' });
  return {
    async close() {
      useTracer(undefined);
      const sent = await waitAtMost(SHUTDOWN_TIMEOUT_MS, provider.shutdown()).catch(() => false);
      if (!sent) logger.warn({ event: 'traces.not_sent_at_end' });
    },
  };
}

function tracerOf(provider: BasicTracerProvider): Tracer {
  const spans = provider.getTracer('stablecoin-checkout', VERSION);
  const active = new AsyncLocalStorage<Context>();

  function begin({ name, kind, parent, attributes }: SpanStart): OpenSpan {
    const from = (parent === undefined ? active.getStore() : contextOf(parent)) ?? ROOT_CONTEXT;
    const span = spans.startSpan(name, { kind: KINDS[kind], attributes: defined(attributes) }, from);
    const context = trace.setSpan(from, span);
    return {
      set: (more) => void span.setAttributes(defined(more)),
      rename: (next) => void span.updateName(next),
      fail: (why) => void span.setAttribute('error.type', why).setStatus({ code: SpanStatusCode.ERROR }),
      within: (work) => active.run(context, work),
      end: () => span.end(),
    };
  }

  return {
    begin,
    detached: (work) => active.exit(work),
    current() {
      const context = active.getStore();
      const span = context && trace.getSpanContext(context);
      return span && `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
    },
  };
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function contextOf(traceparent: string | null): Context | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const parent: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}

function defined(attributes: Attributes = {}): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

interface Arrival {
  /** Comes before the batching processor, which drops spans silently, and counts those that wait in its queue. */
  counter: SpanProcessor;
  watched(exporter: SpanExporter): SpanExporter;
}

/** Logs when spans start to be lost, by failed exports or a full queue, and when all arrive again. */
function watchArrival(logger: Logger): Arrival {
  let arrive = true;
  let waiting = 0;
  let hasDropped = false;

  function lose(why: string | undefined): void {
    if (arrive) logger.warn({ event: 'traces.not_arriving', why });
    arrive = false;
  }

  function count(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (waiting < MAX_QUEUED_SPANS) waiting += 1;
    else {
      hasDropped = true;
      lose('more spans than it takes');
    }
  }

  function noteExport(error: Error | undefined, isExported: boolean): void {
    if (!isExported) lose(error?.name);
    else if (!arrive && !hasDropped) {
      arrive = true;
      logger.info({ event: 'traces.arrive' });
    }
    hasDropped = false;
  }

  const nothing = (): Promise<void> => Promise.resolve();
  return {
    counter: { onStart() {}, onEnd: count, forceFlush: nothing, shutdown: nothing },
    watched: (exporter) => ({
      export(batch, done) {
        waiting -= batch.length;
        exporter.export(batch, (result) => {
          noteExport(result.error, result.code === 0);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: () => exporter.forceFlush?.() ?? nothing(),
    }),
  };
}
