import { json } from 'node:stream/consumers';
import { serveLocally } from '../http/listen.js';

/** An OpenTelemetry collector in this process: OTLP over HTTP. */
interface Collector {
  url: string;
  spans: readonly TakenSpan[];
  /** All request bodies. */
  text(): string;
  close(): Promise<void>;
}

export interface TakenSpan {
  service: string;
  name: string;
  trace: string;
  id: string;
  /** Empty for a root span. */
  parent: string;
  failed: boolean;
  attributes: Record<string, unknown>;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface WireSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status?: { code?: number };
  attributes: Attribute[];
}

interface Batch {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: WireSpan[] }[] }[];
}

const ERROR = 2;

export async function startCollector(): Promise<Collector> {
  const spans: TakenSpan[] = [];
  const came: string[] = [];
  const take = async (batch: Batch): Promise<void> => {
    came.push(JSON.stringify(batch));
    for (const { resource, scopeSpans } of batch.resourceSpans) {
      const service = String(valuesOf(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) spans.push(read(service, span));
    }
  };
  const server = await serveLocally(async (request, response) => {
    if (request.method === 'POST' && request.url === '/v1/traces') await take((await json(request)) as Batch);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  return { ...server, spans, text: () => came.join('\n') };
}

/** A collector that accepts requests and never answers. */
export async function startSilentCollector(): Promise<Pick<Collector, 'url' | 'close'>> {
  return await serveLocally(() => undefined);
}

function read(service: string, span: WireSpan): TakenSpan {
  return {
    service,
    name: span.name,
    trace: span.traceId,
    id: span.spanId,
    parent: span.parentSpanId ?? '',
    failed: span.status?.code === ERROR,
    attributes: valuesOf(span.attributes),
  };
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
