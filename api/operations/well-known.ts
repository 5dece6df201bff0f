import { type RequestHandler, Router } from 'express';
import { sendJson } from '../http/send-json.js';
import type { ReceiptSigner } from '../payment-link/signed-receipts.js';

/** Short enough that a new key is seen well before it signs. */
const MAX_AGE_SECONDS = 300;

/** The public keys that receipts are checked with; without a key of ours both say that there is none. */
export function wellKnown({ jwks, didDocument }: ReceiptSigner): Router {
  const router = Router({ caseSensitive: true });
  router.get('/.well-known/jwks.json', publish(jwks));
  // A base address with a path has its DID document directly below that.
  router.get(['/.well-known/did.json', '/did.json'], publish(didDocument));
  return router;
}

function publish(document: string): RequestHandler {
  return (_req, res) => {
    res.setHeader('Access-Control-Allow-Origin', '*');
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    res.setHeader('Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`);
    sendJson(res, document);
  };
}
