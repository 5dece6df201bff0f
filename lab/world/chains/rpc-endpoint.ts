import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ChainFetch } from '../../../shared/chains/rpc/rpc-fetch.js';
import { isJsonObject } from '../../../shared/values/json-object.js';
import { readBody, sendJson } from '../http/json-http.js';
import { type LocalServer, serveLocally } from '../http/listen.js';
import { FOREIGN_CALLER, isLocalRequest } from '../http/local-requests.js';
import { type BatchHandling, RATE_LIMITS, type RateLimit } from './rate-limits.js';
import { INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RpcError } from './rpc-error.js';

/** The failures of real endpoints. */
export type Fault =
  | 'hang'
  | 'stall'
  | 'cut'
  | 'http_500'
  | RateLimit
  | 'garbage'
  | 'wrong_shape'
  | 'unknown_method';
type RpcMethod = (params: readonly unknown[]) => unknown;
/** A table of methods, or a function that finds a method by its name. */
export type RpcMethods = Readonly<Record<string, RpcMethod>> | ((method: string) => RpcMethod | undefined);

interface Call {
  id: unknown;
  /** Undefined when the request is malformed. */
  method: string | undefined;
  params: readonly unknown[];
}

interface Answer {
  status: number;
  type: string;
  body: string;
  headers?: Record<string, string>;
}

const JSON_TYPE = 'application/json';
/** Wallet extensions call from pages of their own origin. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
};

/** A chain's JSON-RPC endpoint for programs and pages of this machine, with batches and the failures of real endpoints. */
export class RpcEndpoint {
  url = 'http://in-process.test';
  /** Number of calls by method. */
  readonly calls = new Map<string, number>();
  delayMs = 0;
  /** The number of further calls after which the endpoint limits. */
  allowance = Number.POSITIVE_INFINITY;
  /** Calls per second, beyond which the endpoint limits. */
  callsPerSecond = Number.POSITIVE_INFINITY;
  /** How the endpoint limits. */
  limitsBy: RateLimit = 'http_429';
  /** The Retry-After of HTTP 429. */
  retryAfterSeconds: number | undefined;
  batches: BatchHandling = 'answered';
  /** The clock of the limit. */
  nowMs: () => number = () => performance.now();
  /** Number of HTTP requests, and of calls that were not limited. */
  requests = 0;
  unlimited = 0;
  /** Called for each request as it arrives. */
  onCall: (method: string) => void = () => {};
  /** Called for each result that a method has returned, before it is sent. */
  onResult: (method: string, result: unknown) => void = () => {};
  readonly #faults = new Map<string, Fault>();
  readonly #methods: RpcMethods;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #waiting: (() => void)[] = [];
  #server: LocalServer | undefined;
  #second = { startedAt: 0, calls: 0 };

  static async start(methods: RpcMethods, port = 0): Promise<RpcEndpoint> {
    const endpoint = new RpcEndpoint(methods);
    const server = createServer((request, response) => void endpoint.#receive(request, response));
    endpoint.#server = await serveLocally(server, port);
    endpoint.url = endpoint.#server.url;
    return endpoint;
  }

  /** An endpoint without a port, reachable by `fetch` only. */
  static inProcess(methods: RpcMethods): RpcEndpoint {
    return new RpcEndpoint(methods);
  }

  private constructor(methods: RpcMethods) {
    this.#methods = methods;
  }

  /** Answers at once. It supports the faults that answer, and `cut`. */
  readonly fetch: ChainFetch = async (_input, init) => {
    init?.signal?.throwIfAborted();
    const asked = JSON.parse(String(init?.body));
    const calls = [asked].flat().map((call) => this.#note(call));
    this.requests += 1;
    const fault = this.#faultOfAll(calls);
    if (fault === 'cut') throw new TypeError('fetch failed');
    const { status, type, body, headers } = await this.#respondToAll(fault, calls, Array.isArray(asked));
    return new Response(body, { status, headers: { 'content-type': type, ...headers } });
  };

  /** Applies a fault to one method or to all, until `recover`. */
  fail(fault: Fault, method = '*'): void {
    this.#faults.set(method, fault);
  }

  recover(): void {
    this.#faults.clear();
  }

  callsOf(method: string): number {
    return this.calls.get(method) ?? 0;
  }

  /** Number of calls of all methods. */
  get total(): number {
    return [...this.calls.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Resolves when a request has arrived that is left hanging. */
  async someoneWaits(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Closes the endpoint: connections are refused from then on. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#server?.close();
  }

  #note(request: unknown): Call {
    const { id = null, method, params } = isJsonObject(request) ? request : {};
    if (typeof method !== 'string') return { id, method: undefined, params: [] };
    this.calls.set(method, this.callsOf(method) + 1);
    this.onCall(method);
    return { id, method, params: Array.isArray(params) ? params : [] };
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocalRequest(request)) return sendJson(response, 403, FOREIGN_CALLER);
    if (request.method !== 'POST') {
      response.writeHead(request.method === 'OPTIONS' ? 204 : 405, CORS).end();
      return;
    }
    const asked = await readBody(request);
    if (asked === undefined) {
      const error = { code: PARSE_ERROR, message: 'Parse error' };
      return sendJson(response, 200, { jsonrpc: '2.0', id: null, error }, CORS);
    }
    const calls = [asked].flat().map((call) => this.#note(call));
    this.requests += 1;
    const isBatch = Array.isArray(asked);
    if (this.delayMs === 0) return await this.#answer(calls, isBatch, response);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#answer(calls, isBatch, response);
    }, this.delayMs);
    this.#timers.add(timer);
  }

  #faultOf({ method = '' }: Call): Fault | undefined {
    const fault = this.#faults.get(method) ?? this.#faults.get('*');
    if (fault !== undefined) return fault;
    this.allowance -= 1;
    if (this.nowMs() - this.#second.startedAt >= 1000) this.#second = { startedAt: this.nowMs(), calls: 0 };
    this.#second.calls += 1;
    return this.allowance < 0 || this.#second.calls > this.callsPerSecond ? this.limitsBy : undefined;
  }

  /** A fault of any call in a batch applies to the whole batch. */
  #faultOfAll(calls: readonly Call[]): Fault | undefined {
    const fault = calls.map((call) => this.#faultOf(call)).find((known) => known !== undefined);
    if (fault === undefined || !Object.hasOwn(RATE_LIMITS, fault)) this.unlimited += calls.length;
    return fault;
  }

  async #answer(calls: readonly Call[], isBatch: boolean, response: ServerResponse): Promise<void> {
    const fault = this.#faultOfAll(calls);
    switch (fault) {
      case 'hang':
        for (const resolve of this.#waiting.splice(0)) resolve();
        return;
      case 'stall':
        response.writeHead(200, { 'content-type': JSON_TYPE }).write('{"jsonrpc":');
        return;
      case 'cut':
        response.socket?.destroy();
        return;
      default: {
        const { status, type, body, headers } = await this.#respondToAll(fault, calls, isBatch);
        response.writeHead(status, { 'content-type': type, ...CORS, ...headers }).end(body);
      }
    }
  }

  async #respondToAll(fault: Fault | undefined, calls: readonly Call[], isBatch: boolean): Promise<Answer> {
    if (isBatch && (this.batches === 'refused' || this.batches === 'http_400')) {
      const error = { code: INVALID_REQUEST, message: 'batches are not supported' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
      return { status: this.batches === 'refused' ? 200 : 400, type: JSON_TYPE, body };
    }
    const answers = await Promise.all(calls.map((call) => this.#respond(fault, call)));
    const { status = 200, type = JSON_TYPE, body = '[]', headers = {} } = answers[0] ?? {};
    if (!isBatch || type !== JSON_TYPE) return { status, type, body, headers };
    if (this.batches === 'shuffled') answers.reverse();
    if (this.batches === 'partly') answers.splice(0, Math.ceil(answers.length / 2));
    const bodies = answers.map((answer) => answer.body);
    if (this.batches === 'with_twice_used_ids') bodies.unshift(...underOtherIds(bodies));
    return { status, type, body: `[${bodies.join()}]`, headers };
  }

  async #respond(fault: Fault | undefined, { id, method, params }: Call): Promise<Answer> {
    const type = JSON_TYPE;
    const present = (content: object): string => JSON.stringify({ jsonrpc: '2.0', id, ...content });
    switch (fault) {
      case 'http_500':
        return { status: 500, type: 'text/html', body: '<h1>Internal Server Error</h1>' };
      case 'http_429': {
        const seconds = this.retryAfterSeconds;
        const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
        return { status: 429, type: 'text/plain', body: 'slow down', headers };
      }
      case 'garbage':
        return { status: 200, type, body: '{"jsonrpc":"2.0","resu' };
      case 'wrong_shape':
        return { status: 200, type, body: present({ result: { surprise: [null] } }) };
      case 'limit_error':
      case 'over_rate':
      case 'too_many':
      case 'capacity': {
        const { code, message } = RATE_LIMITS[fault];
        return { status: 200, type, body: present({ error: { code, message } }) };
      }
      case 'unknown_method':
        return { status: 200, type, body: present({ error: unknownMethod(method) }) };
      default: {
        const { status = 200, ...content } = await this.#run(method, params);
        return { status, type, body: present(content) };
      }
    }
  }

  async #run(
    method: string | undefined,
    params: readonly unknown[],
  ): Promise<{ status?: number; result?: unknown; error?: object }> {
    if (method === undefined) return { error: { code: INVALID_REQUEST, message: 'Invalid request' } };
    const run = this.#find(method);
    if (run === undefined) return { error: unknownMethod(method) };
    try {
      const result = (await run(params)) ?? null;
      this.onResult(method, result);
      return { result };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message, status, data } = error;
      return { status, error: { code, message, ...(data !== undefined && { data }) } };
    }
  }

  #find(method: string): RpcMethod | undefined {
    if (typeof this.#methods === 'function') return this.#methods(method);
    return Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined;
  }
}

/** Each answer but the last under the id of the answer after it. */
function underOtherIds(bodies: readonly string[]): string[] {
  return bodies
    .slice(1)
    .map((body, index) => JSON.stringify({ ...JSON.parse(bodies[index] ?? ''), id: JSON.parse(body).id }));
}

function unknownMethod(method = ''): object {
  return { code: METHOD_NOT_FOUND, message: `the method ${method} does not exist` };
}
