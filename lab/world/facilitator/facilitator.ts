import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { Keypair } from '@solana/web3.js';
import { type Behaviour, Dial, type FacilitatorAnswer } from './dial.js';
import { type Edge, openEdge, turnAway } from './edge.js';
import { createEndpoints, type EndpointName, type EndpointOptions, readRequest } from './endpoints.js';
import type { Movement } from './judgement.js';
import { FacilitatorRules, paymentIdOf } from './rules.js';

/**
 * A facilitator in this process that keeps records: `ledger` holds each movement of money, `calls` each request. Its
 * three endpoints are honest until their dials are set (dial.ts). A call completes its work after the caller has hung
 * up, as in a real facilitator.
 */
export interface FakeFacilitator {
  url: string;
  feePayers: readonly string[];
  supported: Dial;
  verify: Dial;
  settle: Dial;
  /** The proxy before the three endpoints. */
  edge: Edge;
  calls: Record<EndpointName, FacilitatorCall[]>;
  ledger: readonly Movement[];
  /** Resolves when that many calls have arrived, each before its behaviour begins. */
  waitForCall(endpoint: EndpointName, count?: number): Promise<FacilitatorCall>;
  callsOf(endpoint: EndpointName, paymentId: string): FacilitatorCall[];
  close(): Promise<void>;
}

export interface FacilitatorOptions extends Partial<EndpointOptions> {
  /** Verifies signatures too. */
  strict?: boolean;
}

export interface FacilitatorCall {
  headers: IncomingHttpHeaders;
  /** Undefined when the body is not JSON. */
  body: unknown;
  /** The authorization's nonce or the hash of the Solana message; empty when there is none. */
  paymentId: string;
  /** Resolves when the work is done and the connection has been answered or has ended. */
  done: Promise<void>;
}

interface Waiter {
  endpoint: EndpointName;
  count: number;
  resolve: (call: FacilitatorCall) => void;
  reject: (error: Error) => void;
}

export async function startFacilitator(options: FacilitatorOptions = {}): Promise<FakeFacilitator> {
  const feePayers = options.feePayers ?? [Keypair.generate().publicKey.toBase58()];
  const rules = new FacilitatorRules({
    strict: options.strict ?? false,
    feePayers,
    networks: options.networks,
  });
  const endpoints = createEndpoints(rules, { ...options, feePayers });
  const dials = { supported: new Dial(), verify: new Dial(), settle: new Dial() };
  const calls: Record<EndpointName, FacilitatorCall[]> = { supported: [], verify: [], settle: [] };
  const waiters = new Set<Waiter>();
  const running = new Set<Promise<void>>();
  let isClosing = false;

  // Longer than a test waits between two calls on a slow machine: no call is lost on a connection that is closing.
  const server = createServer({ keepAliveTimeout: 300_000 }, (request, response) => {
    const answered = serve(request, response).catch(() => {
      response.destroy();
    });
    running.add(answered);
    void answered.then(() => running.delete(answered));
  });

  const edge = openEdge(server);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = findEndpoint(request);
    const text = await readText(request);
    if (!edge.admits(request.socket)) return turnAway(response);
    if (name === undefined) return send(response, { status: 404, body: { error: 'not_found' } });
    const body = parseJson(text);
    const { promise: done, resolve: end } = newPromise();
    record(name, { headers: request.headers, body, paymentId: paymentIdIn(body), done });
    try {
      const behaviour = dials[name].take();
      await dials[name].wait(behaviour);
      if (isClosing) return;
      const work = (): Promise<FacilitatorAnswer> => endpoints[name](body, request.headers);
      const { works = true } = behaviour;
      finish(response, behaviour, works === true ? await work() : undefined);
      if (works === 'after_answering') await work();
    } finally {
      end();
    }
  }

  function record(endpoint: EndpointName, call: FacilitatorCall): void {
    calls[endpoint].push(call);
    for (const waiter of waiters) {
      if (waiter.endpoint !== endpoint || calls[endpoint].length < waiter.count) continue;
      waiters.delete(waiter);
      waiter.resolve(call);
    }
  }

  async function close(): Promise<void> {
    isClosing = true;
    for (const { endpoint, count, reject } of waiters) {
      reject(new Error(`The facilitator closed before call ${count} of /${endpoint}.`));
    }
    waiters.clear();
    for (const dial of Object.values(dials)) dial.releaseAll();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await Promise.all(running);
  }

  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    feePayers,
    ...dials,
    edge,
    calls,
    ledger: rules.ledger,
    waitForCall: (endpoint, count = 1) => {
      const call = calls[endpoint][count - 1];
      if (call !== undefined) return Promise.resolve(call);
      return new Promise((resolve, reject) => waiters.add({ endpoint, count, resolve, reject }));
    },
    callsOf: (endpoint, paymentId) => calls[endpoint].filter((call) => call.paymentId === paymentId),
    close,
  };
}

function finish(response: ServerResponse, behaviour: Behaviour, honest: FacilitatorAnswer | undefined): void {
  if (behaviour.connection === 'reset') response.socket?.resetAndDestroy();
  else if (behaviour.connection === 'drop') response.socket?.destroy();
  else {
    const answer = behaviour.answer?.(honest) ?? honest ?? { status: 500, body: '' };
    send(response, answer, behaviour.connection);
  }
}

function send(response: ServerResponse, answer: FacilitatorAnswer, connection?: 'truncate'): void {
  const isText = typeof answer.body === 'string';
  const bytes = Buffer.from(isText ? String(answer.body) : JSON.stringify(answer.body));
  response.writeHead(answer.status, {
    'content-type': answer.contentType ?? (isText ? 'text/plain' : 'application/json'),
    'content-length': bytes.length,
    ...answer.headers,
  });
  if (connection === 'truncate') response.write(bytes.subarray(0, 1), () => response.destroy());
  else response.end(bytes);
}

function findEndpoint({ method, url }: IncomingMessage): EndpointName | undefined {
  const endpoints: Record<string, EndpointName> = {
    'GET /supported': 'supported',
    'POST /verify': 'verify',
    'POST /settle': 'settle',
  };
  return endpoints[`${method} ${url}`];
}

function paymentIdIn(body: unknown): string {
  const request = readRequest(body);
  return typeof request === 'string' ? '' : paymentIdOf(request);
}

function newPromise(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
