/**
 * What took how long, and because of what: spans of one trace, from a buyer's request over its job to the webhooks. This
 * is all that the service knows of it: who keeps and sends them is loaded where traces are asked for (open-telemetry.ts),
 * and without that nothing here does anything. Names are those of routes, jobs and calls. What a span says of itself is
 * chosen field by field: never a key, a payload, an e-mail address, or a URL, which may hold any of them.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  name: string;
  /** Whether it answers somebody, asks somebody, or does what it was left to do. */
  kind: 'server' | 'client' | 'consumer';
  /** W3C's `traceparent` of what it comes of, or null when it begins a trace; else it comes of what is under way here. */
  parent?: string | null;
  attributes?: Attributes;
}

export interface Span {
  say(attributes: Attributes): void;
  rename(name: string): void;
  /** `why` is a word of ours, or the name of an error: messages hold what others have sent. */
  fail(why: string): void;
}

export interface OpenSpan extends Span {
  /** What it begins comes of this span. */
  within<T>(work: () => T): T;
  end(): void;
}

export interface Tracer {
  begin(start: SpanStart): OpenSpan;
  /** `traceparent` of what is under way. */
  current(): string | undefined;
  /** What is begun by whoever comes by, and is not theirs, begins traces of its own. */
  apart<T>(work: () => T): T;
}

let tracer: Tracer | undefined;

export function useTracer(next: Tracer | undefined): void {
  tracer = next;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/** Undefined when nobody traces. */
export function beginSpan(start: SpanStart): OpenSpan | undefined {
  return tracer?.begin(start);
}

/** For whoever goes on elsewhere. */
export function currentTrace(): string | undefined {
  return tracer?.current();
}

export function outsideTrace<T>(work: () => T): T {
  return tracer === undefined ? work() : tracer.apart(work);
}

const UNSEEN: Span = { say() {}, rename() {}, fail() {} };

export async function inSpan<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  if (tracer === undefined) return await work(UNSEEN);
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
