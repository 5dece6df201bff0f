import { once } from 'node:events';
import http from 'node:http';

/**
 * A chain's JSON-RPC endpoint on a port of its own, with the ways in which real ones fail. A chain gives it the
 * methods; see `evm-chain.ts` and `solana-chain.ts`.
 */
export type Fault = 'hang' | 'stall' | 'cut' | 'http_500' | 'http_429' | 'garbage' | 'wrong_shape';
export type RpcMethods = Readonly<Record<string, (params: readonly unknown[]) => unknown>>;

/** Answered as a JSON-RPC error. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class RpcEndpoint {
  readonly url: string;
  /** How often each method was called. */
  readonly calls = new Map<string, number>();
  delayMs = 0;
  /** Hears of each request as it comes in. */
  onCall: (method: string) => void = () => {};
  readonly #faults = new Map<string, Fault>();
  readonly #server: http.Server;
  readonly #methods: RpcMethods;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #waiting: (() => void)[] = [];

  static async start(methods: RpcMethods): Promise<RpcEndpoint> {
    const server = http.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the endpoint has no port');
    return new RpcEndpoint(server, `http://127.0.0.1:${address.port}`, methods);
  }

  private constructor(server: http.Server, url: string, methods: RpcMethods) {
    this.url = url;
    this.#server = server;
    this.#methods = methods;
    server.on('request', (request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => this.#receive(body, response));
    });
  }

  /** From now on, for one method or for all. */
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
    this.#server.closeAllConnections();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #receive(body: string, response: http.ServerResponse): void {
    const {
      id,
      method,
      params = [],
    } = JSON.parse(body) as { id: unknown; method: string; params?: unknown[] };
    this.calls.set(method, this.callsOf(method) + 1);
    this.onCall(method);
    const answer = (): void => this.#answer(id, method, params, response);
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

  #answer(id: unknown, method: string, params: readonly unknown[], response: http.ServerResponse): void {
    const fault = this.#faults.get(method) ?? this.#faults.get('*');
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
      case 'http_500':
        response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Internal Server Error</h1>');
        return;
      case 'http_429':
        response.writeHead(429, { 'content-type': 'text/plain' }).end('slow down');
        return;
      case 'garbage':
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","resu');
        return;
      case 'wrong_shape':
        this.#send(response, { id, result: { surprise: [null] } });
        return;
      case undefined:
        this.#send(response, { id, ...this.#run(method, params) });
    }
  }

  #run(
    method: string,
    params: readonly unknown[],
  ): { result: unknown } | { error: { code: number; message: string } } {
    const run = this.#methods[method];
    if (run === undefined) return { error: { code: -32601, message: `the method ${method} does not exist` } };
    try {
      return { result: run(params) ?? null };
    } catch (error) {
      if (error instanceof RpcError) return { error: { code: error.code, message: error.message } };
      throw error;
    }
  }

  #send(response: http.ServerResponse, content: object): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', ...content }));
  }
}
