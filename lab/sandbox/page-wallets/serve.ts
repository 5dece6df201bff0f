import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject } from '../../../shared/values/json-object.js';
import { readBody, sendJson } from '../../world/http/json-http.js';
import { readSourceFile } from '../files/read-source-file.js';
import { WalletRefusal, type WalletSigner } from './sign.js';

const WALLETS_SCRIPT_PATH = '/sandbox/wallets.js';
const SIGNER_PATH = '/sandbox/wallets';
const SCRIPT = readSourceFile('page-wallets/wallets.js');
/** The payment page has another port and so another origin; requests from other machines are refused before this. */
const ANY_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'content-type',
  'cross-origin-resource-policy': 'cross-origin',
};

/** Serves the wallets' script and signs their requests; false for any other request. */
export async function servePageWallets(
  sign: WalletSigner,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const route = `${request.method} ${request.url}`;
  if (route === `GET ${WALLETS_SCRIPT_PATH}`) {
    response.writeHead(200, {
      'content-type': 'text/javascript',
      'cache-control': 'no-store',
      ...ANY_ORIGIN,
    });
    response.end(SCRIPT);
    return true;
  }
  if (route === `OPTIONS ${SIGNER_PATH}`) {
    response.writeHead(204, ANY_ORIGIN).end();
    return true;
  }
  if (route !== `POST ${SIGNER_PATH}`) return false;
  const body = await readBody(request);
  const { owner, method, params } = isJsonObject(body) ? body : {};
  try {
    const result = await sign(
      owner === 'merchant' ? owner : 'buyer',
      String(method),
      Array.isArray(params) ? params : [],
    );
    sendJson(response, 200, { result }, ANY_ORIGIN);
  } catch (error) {
    const code = error instanceof WalletRefusal ? error.code : -32603;
    sendJson(response, 200, { error: { code, message: String(error) } }, ANY_ORIGIN);
  }
  return true;
}
