import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { readBody, sendJson } from '../../world/http/json-http.js';
import { closeServer, listen, type PreferredPort, urlOf } from '../../world/http/listen.js';
import { FOREIGN_CALLER, isLocalRequest } from '../../world/http/local-requests.js';
import type { Dials } from '../dials/dials.js';
import { watchBroadcast } from './broadcasts.js';
import type { TokenCheck } from './check-token.js';
import { type FacilitatorRequest, readRequest, type StockFacilitator } from './stock-facilitator.js';

/** The facilitator over HTTP. The body is checked before the token, so a malformed request is 400 for every caller. */
export interface FacilitatorServer {
  url: string;
  /** Crashes: drops its state and connections; `revive` runs by itself after `downMs`. */
  die(): Promise<void>;
  revive(): Promise<void>;
  stop(): Promise<void>;
}

export interface FacilitatorOptions {
  port: PreferredPort;
  dials: Dials;
  checkToken: TokenCheck;
  createStockFacilitator(): Promise<StockFacilitator>;
  /** Handles requests that are not the facilitator's. */
  control(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Called before a payment is verified or settled. */
  onPayment(request: FacilitatorRequest): void;
}

export async function startFacilitator(options: FacilitatorOptions): Promise<FacilitatorServer> {
  const { dials, checkToken } = options;
  let stock = await options.createStockFacilitator();
  let revival: NodeJS.Timeout | undefined;
  let reviving: Promise<void> | undefined;
  let stopped = false;
  const server: Server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) sendJson(response, 500, { error: String(error) });
    });
  });
  const port = await listen(server, options.port);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocalRequest(request)) return sendJson(response, 403, FOREIGN_CALLER);
    const route = `${request.method} ${request.url}`;
    if (route === 'POST /verify' || route === 'POST /settle') {
      return await answerPayment(route === 'POST /verify' ? 'verify' : 'settle', request, response);
    }
    if (route !== 'GET /supported') return await options.control(request, response);
    if (await checkToken(request)) sendJson(response, 200, stock.supported());
    else sendJson(response, 401, { error: 'unauthorized' });
  }

  async function answerPayment(
    endpoint: 'verify' | 'settle',
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const read = readRequest(await readBody(request));
    if ('refused' in read) {
      const verdict = endpoint === 'verify' ? { isValid: false, invalidReason: read.refused } : undefined;
      const refusal = { success: false, errorReason: read.refused, transaction: '', network: '' };
      return sendJson(response, 400, verdict ?? refusal);
    }
    if (!(await checkToken(request))) return sendJson(response, 401, { error: 'unauthorized' });
    options.onPayment(read);
    if (endpoint === 'verify') return await answerAfterDelay(response, await stock.verify(read));
    if (dials.settle === 'unavailable') return sendJson(response, 503, { error: 'unavailable' });
    const onBroadcast = (): void => {
      if (dials.settle === 'drop_connection') request.socket.destroy();
      if (dials.settle === 'die') void die();
    };
    await answerAfterDelay(response, await watchBroadcast(onBroadcast, () => stock.settle(read)));
  }

  async function answerAfterDelay(response: ServerResponse, body: object): Promise<void> {
    if (dials.delayMs > 0) await pause(dials.delayMs);
    if (!response.destroyed) sendJson(response, 200, body);
  }

  async function die(): Promise<void> {
    revival ??= setTimeout(() => void revive(), dials.downMs);
    await closeServer(server);
  }

  async function revive(): Promise<void> {
    clearTimeout(revival);
    revival = undefined;
    if (server.listening || stopped) return;
    reviving ??= comeBack();
    await reviving;
  }

  async function comeBack(): Promise<void> {
    stock = await options.createStockFacilitator();
    if (!stopped) await listen(server, port);
    reviving = undefined;
  }

  return {
    url: urlOf(port),
    die,
    revive,
    async stop() {
      stopped = true;
      clearTimeout(revival);
      await closeServer(server);
    },
  };
}
