import { type RequestHandler, Router } from 'express';
import { readOnly } from '../errors/no-such-route.js';
import { sendJson } from '../http/send-json.js';
import type { ReceiptSigner } from '../payment-link/signed-receipts.js';

/** Shorter than the time between publishing a new key and signing with it. */
const MAX_AGE_SECONDS = 300;

/** The public keys that verify signed receipts; an empty set without keys. */
export function wellKnown({ jwks, didDocument }: ReceiptSigner): Router {
  const router = Router({ caseSensitive: true });
  router.route('/.well-known/jwks.json').get(publish(jwks)).all(readOnly);
  // With a path in BASE_URL, `did:web` resolves to `did.json` below that path.
  router.route(['/.well-known/did.json', '/did.json']).get(publish(didDocument)).all(readOnly);
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
