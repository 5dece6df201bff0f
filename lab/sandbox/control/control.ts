import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject } from '../../../shared/values/json-object.js';
import { readBody, sendJson } from '../../world/http/json-http.js';
import { serveDemoPicture } from '../demo-order/serve.js';
import type { Dials } from '../dials/dials.js';
import { parseDials } from '../dials/dials.js';
import { serveExplorer, type TransactionFinder } from '../explorer/serve.js';
import { servePageWallets } from '../page-wallets/serve.js';
import type { WalletSigner } from '../page-wallets/sign.js';

interface Controls {
  /** Identifies this sandbox. */
  describe(): object;
  turn(change: Partial<Dials>): Promise<Dials>;
  signAsWallet: WalletSigner;
  findTransaction: TransactionFinder;
  /** False when `address` is not a wallet's. */
  fund(address: string): Promise<boolean>;
}

/**
 * The sandbox's own endpoints, beside the facilitator's. They take JSON only: a browser preflights a cross-origin JSON
 * request, so a foreign web page cannot send one.
 */
export async function handleControl(
  controls: Controls,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (serveDemoPicture(request, response)) return;
  if (await servePageWallets(controls.signAsWallet, request, response)) return;
  if (await serveExplorer(controls.findTransaction, request, response)) return;
  const route = `${request.method} ${request.url}`;
  if (route === 'GET /sandbox') return sendJson(response, 200, controls.describe());
  if (request.method !== 'POST' || !request.headers['content-type']?.startsWith('application/json')) {
    return sendJson(response, 404, {
      error: 'There are GET /sandbox, POST /sandbox/dials and POST /sandbox/fund.',
    });
  }
  const body = await readBody(request);
  if (route === 'POST /sandbox/dials') {
    const change = parseDials(body);
    if (typeof change === 'string') return sendJson(response, 400, { error: change });
    return sendJson(response, 200, await controls.turn(change));
  }
  const address = isJsonObject(body) ? body.address : undefined;
  if (route === 'POST /sandbox/fund' && typeof address === 'string' && (await controls.fund(address))) {
    return sendJson(response, 200, { funded: address });
  }
  sendJson(response, 400, { error: 'address must be the address of an EVM or a Solana wallet.' });
}
