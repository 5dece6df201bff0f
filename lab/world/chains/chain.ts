import { once } from 'node:events';
import http from 'node:http';
import type { ChainFetch } from '../../../shared/chains/rpc-fetch.js';
import { pick, type Random } from '../chance/seeded-random.js';

/**
 * A chain's JSON-RPC endpoint on a port of its own, with the failures of real endpoints. A chain supplies the methods;
 * see `evm-chain.ts` and `solana-chain.ts`.
 */
export type Fault =
  | 'hang'
  | 'stall'
  | 'cut'
  | 'http_500'
  | 'http_429'
  | 'garbage'
  | 'wrong_shape'
  | 'unknown_method';
export type RpcMethods = Readonly<Record<string, (params: readonly unknown[]) => unknown>>;

/** A JSON-RPC error answer, with HTTP 200 by default. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly status: number;

  constructor(code: number, message: string, status = 200) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** A load balancer before several nodes, each some blocks behind the first; each request reaches one of them. */
export class Balancer {
  #lags: readonly number[] = [0];
  #random: Random | undefined;
  #requests = 0;

  /** Sets how far each node is behind. Requests go round robin, or at random when `random` is given. */
  spread(lags: readonly number[], random?: Random): void {
    this.#lags = lags;
    this.#random = random;
  }

  /** How far the node of the next request is behind. */
  next(): number {
    this.#requests += 1;
    if (this.#random !== undefined) return pick(this.#random, this.#lags);
    return this.#lags[this.#requests % this.#lags.length] ?? 0;
  }
}

interface Call {
  id: unknown;
  method: string;
  params: readonly unknown[];
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

export class RpcEndpoint {
  readonly url: string;
  /** Number of calls by method. */
  readonly calls = new Map<string, number>();
  delayMs = 0;
  /** After this many more calls, the endpoint answers HTTP 429. */
  allowance = Number.POSITIVE_INFINITY;
  /** Calls per second, beyond which the endpoint answers HTTP 429. */
  callsPerSecond = Number.POSITIVE_INFINITY;
  /** Called for each request as it arrives. */
  onCall: (method: string) => void = () => {};
  readonly #faults = new Map<string, Fault>();
  readonly #server: http.Server | undefined;
  readonly #methods: RpcMethods;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #waiting: (() => void)[] = [];
  #second = { startedAt: 0, calls: 0 };

  static async start(methods: RpcMethods): Promise<RpcEndpoint> {
    const server = http.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the endpoint has no port');
    return new RpcEndpoint(server, `http://127.0.0.1:${address.port}`, methods);
  }

  /** An endpoint without a port, reachable by `fetch` only. */
  static inProcess(methods: RpcMethods): RpcEndpoint {
    return new RpcEndpoint(undefined, 'http://in-process.test', methods);
  }

  private constructor(server: http.Server | undefined, url: string, methods: RpcMethods) {
    this.url = url;
    this.#server = server;
    this.#methods = methods;
    server?.on('request', (request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => this.#receive(body, response));
    });
  }

  /** Answers at once. Of the faults it supports those that answer, and `cut`. */
  readonly fetch: ChainFetch = async (_input, init) => {
    init?.signal?.throwIfAborted();
    const call = this.#note(JSON.parse(String(init?.body)));
    const fault = this.#faultOf(call.method);
    if (fault === 'cut') throw new TypeError('fetch failed');
    const { status, type, body } = this.#respond(fault, call);
    return new Response(body, { status, headers: { 'content-type': type } });
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

  /** Resolves when a request has arrived that is left hanging. */
  async someoneWaits(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Afterwards connections are refused. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#server?.closeAllConnections();
    if (!this.#server?.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #note({ id, method, params = [] }: Partial<Call> & { method: string }): Call {
    this.calls.set(method, this.callsOf(method) + 1);
    this.onCall(method);
    return { id, method, params };
  }

  #receive(body: string, response: http.ServerResponse): void {
    const asked: unknown = JSON.parse(body);
    const calls = [asked].flat().map((call) => this.#note(call as Call));
    const answer = (): void => this.#answer(calls, Array.isArray(asked), response);
    if (this.delayMs === 0) {
      answer();
      return;
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      answer();
    }, this.delayMs);
    this.#timers.add(timer);
  }

  #faultOf(method: string): Fault | undefined {
    const fault = this.#faults.get(method) ?? this.#faults.get('*');
    if (fault !== undefined) return fault;
    this.allowance -= 1;
    if (performance.now() - this.#second.startedAt >= 1000)
      this.#second = { startedAt: performance.now(), calls: 0 };
    this.#second.calls += 1;
    return this.allowance < 0 || this.#second.calls > this.callsPerSecond ? 'http_429' : undefined;
  }

  /** A fault of any call in a batch applies to the whole batch. */
  #answer(calls: readonly Call[], isBatch: boolean, response: http.ServerResponse): void {
    const fault = calls.map(({ method }) => this.#faultOf(method)).find((known) => known !== undefined);
    switch (fault) {
      case 'hang':
        for (const resolve of this.#waiting.splice(0)) resolve();
        return;
      case 'stall':
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc":');
        return;
      case 'cut':
        response.socket?.destroy();
        return;
      default: {
        const answers = calls.map((call) => this.#respond(fault, call));
        const [first] = answers;
        const bodies = answers.map(({ body }) => body).join();
        const isWhole = isBatch && first?.type === 'application/json';
        response
          .writeHead(first?.status ?? 200, { 'content-type': first?.type ?? 'application/json' })
          .end(isWhole ? `[${bodies}]` : first?.body);
      }
    }
  }

  #respond(fault: Fault | undefined, { id, method, params }: Call): Answer {
    const type = 'application/json';
    const present = (content: object): string => JSON.stringify({ jsonrpc: '2.0', id, ...content });
    switch (fault) {
      case 'http_500':
        return { status: 500, type: 'text/html', body: '<h1>Internal Server Error</h1>' };
      case 'http_429':
        return { status: 429, type: 'text/plain', body: 'slow down' };
      case 'garbage':
        return { status: 200, type, body: '{"jsonrpc":"2.0","resu' };
      case 'wrong_shape':
        return { status: 200, type, body: present({ result: { surprise: [null] } }) };
      case 'unknown_method':
        return { status: 200, type, body: present(unknownMethod(method)) };
      default: {
        const { status = 200, ...content } = this.#run(method, params);
        return { status, type, body: present(content) };
      }
    }
  }

  #run(
    method: string,
    params: readonly unknown[],
  ): { status?: number; result?: unknown; error?: { code: number; message: string } } {
    const run = this.#methods[method];
    if (run === undefined) return unknownMethod(method);
    try {
      return { result: run(params) ?? null };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message, status } = error;
      return { status, error: { code, message } };
    }
  }
}

function unknownMethod(method: string): { error: { code: number; message: string } } {
  return { error: { code: -32601, message: `the method ${method} does not exist` } };
}
