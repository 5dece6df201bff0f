import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
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
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../process/logger.js';
import type { Closable } from '../process/shutdown.js';
import { VERSION } from '../process/version.js';
import { waitAtMost } from '../process/within.js';
import { type Attributes, type OpenSpan, type SpanStart, type Tracer, useTracer } from './spans.js';

/**
 * Keeps spans and sends them, a batch each second. Nobody waits for that: what a collector that hangs or refuses does not
 * take is dropped when there is no more room for it, and a line says so once.
 */
const SENT_EVERY_MS = 1000;
const SEND_WITHIN_MS = 5000;
const MOST_KEPT = 4096;
/** Of a process that stops: what was not sent by then is lost. */
const LAST_SENT_WITHIN_MS = 2000;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };

/** Sampling, headers and the resource's attributes are the SDK's own to read (`OTEL_TRACES_SAMPLER` and so on). */
export function openTracing(url: string, service: string, logger: Logger): Closable {
  const exporter = telling(new OTLPTraceExporter({ url, timeoutMillis: SEND_WITHIN_MS }), logger);
  const processor = new BatchSpanProcessor(exporter, {
    maxQueueSize: MOST_KEPT,
    scheduledDelayMillis: SENT_EVERY_MS,
    exportTimeoutMillis: SEND_WITHIN_MS,
  });
  const named = resourceFromAttributes({ 'service.name': service, 'service.version': VERSION });
  const resource = defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  useTracer(tracerOf(provider));
  logger.info({ event: 'traces.on' });
  return {
    async close() {
      useTracer(undefined);
      const sent = await waitAtMost(LAST_SENT_WITHIN_MS, provider.shutdown()).catch(() => false);
      if (!sent) logger.warn({ event: 'traces.not_sent_at_end' });
    },
  };
}

function tracerOf(provider: BasicTracerProvider): Tracer {
  const spans = provider.getTracer('stablecoin-checkout', VERSION);
  const inFlight = new AsyncLocalStorage<Context>();

  function begin({ name, kind, parent, attributes }: SpanStart): OpenSpan {
    const from = (parent === undefined ? inFlight.getStore() : contextOf(parent)) ?? ROOT_CONTEXT;
    const span = spans.startSpan(name, { kind: KINDS[kind], attributes: given(attributes) }, from);
    const context = trace.setSpan(from, span);
    return {
      say: (more) => void span.setAttributes(given(more)),
      rename: (next) => void span.updateName(next),
      fail: (why) => void span.setAttribute('error.type', why).setStatus({ code: SpanStatusCode.ERROR }),
      within: (work) => inFlight.run(context, work),
      end: () => span.end(),
    };
  }

  return {
    begin,
    apart: (work) => inFlight.exit(work),
    current() {
      const context = inFlight.getStore();
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

function given(attributes: Attributes = {}): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** A line for each change. */
function telling(exporter: SpanExporter, logger: Logger): SpanExporter {
  let arrives = true;
  return {
    export(batch: ReadableSpan[], done) {
      exporter.export(batch, (result) => {
        const isTaken = result.code === 0;
        if (isTaken !== arrives) {
          arrives = isTaken;
          if (isTaken) logger.info({ event: 'traces.arrive' });
          else logger.warn({ event: 'traces.not_arriving', why: result.error?.name });
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
