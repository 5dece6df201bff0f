/**
 * Spans of a trace, from a buyer's request over its job to the webhooks. The rest of the code uses this module only;
 * open-telemetry.ts is loaded when tracing is on, and without it every function here does nothing. Spans are named after
 * routes, jobs and calls. Attributes never hold a key, a payload, an e-mail address, or a URL, which may contain them.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  name: string;
  kind: 'server' | 'client' | 'consumer';
  /** The W3C `traceparent` of the parent. Null: a new trace. Undefined: the parent is the active span. */
  parent?: string | null;
  attributes?: Attributes;
}

export interface Span {
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** `why` is a constant or the name of an error, never its message, which may hold data of clients. */
  fail(why: string): void;
}

export interface OpenSpan extends Span {
  /** Spans that the work begins are children of this span. */
  within<T>(work: () => T): T;
  end(): void;
}

export interface Tracer {
  begin(start: SpanStart): OpenSpan;
  /** The `traceparent` of the active span. */
  current(): string | undefined;
  /** Spans that the work begins start new traces. For work that a request starts but that does not belong to it. */
  detached<T>(work: () => T): T;
}

let tracer: Tracer | undefined;

export function useTracer(next: Tracer | undefined): void {
  tracer = next;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/** Undefined when tracing is off. */
export function beginSpan(start: SpanStart): OpenSpan | undefined {
  return tracer?.begin(start);
}

/** The `traceparent` for work that continues in another process. */
export function currentTrace(): string | undefined {
  return tracer?.current();
}

export function outsideTrace<T>(work: () => T): T {
  return tracer === undefined ? work() : tracer.detached(work);
}

const NO_SPAN: Span = { set() {}, rename() {}, fail() {} };

export async function inSpan<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  if (tracer === undefined) return await work(NO_SPAN);
  const span = tracer.begin(start);
  try {
    return await span.within(() => work(span));
  } catch (error) {
    span.fail(error instanceof Error ? error.name : 'unknown');
    throw error;
  } finally {
    span.end();
  }
}
