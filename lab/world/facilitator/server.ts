import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { withResolvers } from '../../../shared/process/with-resolvers.js';
import { readBody } from '../http/json-http.js';
import { closeServer, KEEP_ALIVE_MS, listen, type PreferredPort, urlOf } from '../http/listen.js';
import { FOREIGN_CALLER, isLocalRequest } from '../http/local-requests.js';
import { Calls, type FacilitatorCall } from './calls.js';
import { type Behaviour, Dial, type FacilitatorAnswer } from './dial.js';
import { type Edge, openEdge, turnAway } from './edge.js';
import { createEndpoints, type EndpointName, type ExpectedToken, readRequest } from './endpoints.js';
import { paymentIdOf, type Rules } from './rules.js';

/**
 * A facilitator over HTTP. Its three endpoints are honest until their dials are set (dial.ts); `calls` holds each request.
 * A call completes its work after the caller has hung up, as in a real facilitator.
 */
export interface FacilitatorServer {
  url: string;
  supported: Dial;
  verify: Dial;
  settle: Dial;
  /** The proxy before the three endpoints. */
  edge: Edge;
  calls: Record<EndpointName, FacilitatorCall[]>;
  /** Resolves when that many calls have arrived, each before its behaviour begins. */
  waitForCall(endpoint: EndpointName, count?: number): Promise<FacilitatorCall>;
  callsOf(endpoint: EndpointName, paymentId: string): FacilitatorCall[];
  /** Drops its state and its connections; `revive` runs by itself after so long. */
  crash(downMs: number): Promise<void>;
  revive(): Promise<void>;
  close(): Promise<void>;
}

interface ServerOptions {
  /** Called at the start and after each crash. */
  openRules(): Rules | Promise<Rules>;
  tokens?: ExpectedToken | undefined;
  port?: PreferredPort;
  /** False where it runs for days: `calls` stays empty. */
  keepsCalls?: boolean;
  /** Handles requests that are not the facilitator's; without it they are answered 404. */
  otherwise?(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export async function serveFacilitator(options: ServerOptions): Promise<FacilitatorServer> {
  let rules = await options.openRules();
  const endpoints = createEndpoints(() => rules, options.tokens);
  const dials = { supported: new Dial(), verify: new Dial(), settle: new Dial() };
  const calls = new Calls();
  const running = new Set<Promise<void>>();
  let isClosing = false;
  let revival: NodeJS.Timeout | undefined;
  let reviving: Promise<void> | undefined;

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const answered = serve(request, response).catch(() => {
      response.destroy();
    });
    running.add(answered);
    void answered.then(() => running.delete(answered));
  });

  const edge = openEdge(server);
  const port = await listen(server, options.port ?? 0);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocalRequest(request)) return send(response, { status: 403, body: FOREIGN_CALLER });
    const name = findEndpoint(request);
    if (name === undefined && options.otherwise !== undefined)
      return await options.otherwise(request, response);
    const body = await readBody(request);
    if (!edge.admits(request.socket)) return turnAway(response);
    if (name === undefined) return send(response, { status: 404, body: { error: 'not_found' } });
    const { promise: done, resolve: end } = withResolvers();
    if (options.keepsCalls !== false)
      calls.record(name, { headers: request.headers, body, paymentId: paymentIdIn(body), done });
    try {
      const behaviour = dials[name].take(body);
      await dials[name].wait(behaviour);
      if (isClosing) return;
      const { works = true, atBroadcast } = behaviour;
      const onBroadcast = (): void => {
        if (atBroadcast === 'drop') request.socket.destroy();
        else if (atBroadcast !== undefined) void crash(atBroadcast.crashMs);
      };
      const work = (): Promise<FacilitatorAnswer> => endpoints[name](body, request.headers, onBroadcast);
      finish(response, behaviour, works === true ? await work() : undefined);
      if (works === 'after_answering') await work();
    } finally {
      end();
    }
  }

  async function crash(downMs: number): Promise<void> {
    revival ??= setTimeout(() => void revive(), downMs);
    await closeServer(server);
  }

  async function revive(): Promise<void> {
    clearTimeout(revival);
    revival = undefined;
    if (server.listening || isClosing) return;
    reviving ??= comeBack();
    await reviving;
  }

  async function comeBack(): Promise<void> {
    rules = await options.openRules();
    if (!isClosing) await listen(server, port);
    reviving = undefined;
  }

  async function close(): Promise<void> {
    isClosing = true;
    clearTimeout(revival);
    calls.close();
    for (const dial of Object.values(dials)) dial.releaseAll();
    await closeServer(server);
    await Promise.all(running);
  }

  return {
    url: urlOf(port),
    ...dials,
    edge,
    calls: calls.of,
    waitForCall: (endpoint, count) => calls.waitFor(endpoint, count),
    callsOf: (endpoint, paymentId) => calls.of[endpoint].filter((call) => call.paymentId === paymentId),
    crash,
    revive,
    close,
  };
}

function finish(response: ServerResponse, behaviour: Behaviour, honest: FacilitatorAnswer | undefined): void {
  if (behaviour.connection === 'reset') response.socket?.resetAndDestroy();
  else if (behaviour.connection === 'drop') response.socket?.destroy();
  else {
    const answer = behaviour.answer?.(honest) ?? honest ?? { status: 500, body: 'internal error' };
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
