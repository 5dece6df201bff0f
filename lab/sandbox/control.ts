import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject } from '../../shared/x402/json-object.js';
import type { Dials } from './facilitator/dials.js';
import { parseDials } from './facilitator/dials.js';
import { readBody, sendJson } from './json-http.js';
import { servePageWallets } from './page-wallets/serve.js';
import type { WalletSigner } from './page-wallets/sign.js';

export interface Controls {
  /** Says who this sandbox is. */
  describe(): object;
  turn(change: Partial<Dials>): Promise<Dials>;
  signAsWallet: WalletSigner;
  /** False when it is no wallet's address. */
  fund(address: string): Promise<boolean>;
}

/** The sandbox's own endpoints, beside the facilitator's. JSON only, so that no foreign web page can ask for them. */
export async function handleControl(
  controls: Controls,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (await servePageWallets(controls.signAsWallet, request, response)) return;
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
