import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import { nowMs } from '../../shared/clock.js';
import type { Channel } from '../../shared/domain/payment.js';
import { isIdShaped } from '../../shared/ids.js';
import { sessionUrl } from '../../shared/presenters/checkout-session.js';
import { findLinkedSession } from '../../shared/services/payments/read-link.js';
import { type DecodedHeader, readPaymentHeader } from '../../shared/x402/headers.js';
import type { Deps } from '../deps.js';
import type { BuyerErrorCode } from '../errors/buyer-refusal.js';
import { NO_SESSION, renderBuyerErrors, sendBuyerError } from '../errors/render-buyer-error.js';
import { retryAfterSeconds } from '../middleware/rate-limit.js';
import type { LinkAnswer } from '../payment-link/answer.js';
import { followedBy, serveLink } from '../payment-link/serve-link.js';
import { sendImage } from './images.js';
import { LINK_METHODS, linkHeaders } from './link-headers.js';
import { linkRelations } from './link-relations.js';
import { sendCurrentPage, sendErrorPage, sendPage } from './page.js';
import { sendPayOutcome } from './pay.js';
import { sendAgentAnswer } from './respond.js';
import { sendStatus } from './status.js';
import { sendTransaction } from './transaction.js';

type Asked = Pick<Request, 'get'>;
type Refuse = (req: Asked, res: Response, code: BuyerErrorCode, message: string) => void;

/** The page's requests say so; everyone else is an agent. */
const PAGE_MARKER_HEADER = 'checkout-channel';
const READ_METHODS = 'GET, HEAD, OPTIONS';
const MAX_BODY_BYTES = 4096;

/** `/c/{id}`: one address that people open and agents pay. Below it what the page asks for. */
export function paymentLink(deps: Deps): Router {
  const router = Router({ caseSensitive: true });
  const refuse: Refuse = (req, res, code, message) => {
    if (wantsPage(req)) sendErrorPage(deps, res, code);
    else sendBuyerError(res, code, message);
  };
  const relations = linkRelations(deps.config.baseUrl);
  router.use(linkHeaders(relations));

  const limit: RequestHandler = async (req, res, next) => {
    const waitMs = await deps.linkRateLimiter.take(req.ip ?? 'unknown');
    if (waitMs === undefined) return next();
    res.setHeader('Retry-After', String(retryAfterSeconds(waitMs)));
    refuse(
      req,
      res,
      'rate_limit',
      'Too many requests from this address. Wait as long as Retry-After says, and try again.',
    );
  };

  const serve = async (req: Request<{ id: string }>, res: Response): Promise<void> => {
    const arrivedAtMs = nowMs();
    const session = isIdShaped(req.params.id) ? await findLinkedSession(deps.db, req.params.id) : undefined;
    if (session === undefined) {
      refuse(req, res, 'resource_missing', NO_SESSION);
      return;
    }
    res.setHeader('Link', relations.of(session.id));
    const header = paymentHeaderOf(req);
    if (header?.kind === 'malformed') {
      const message = `The payment header is not an x402 payment payload. ${header.reason} Send base64 of a JSON PaymentPayload.`;
      refuse(req, res, 'invalid_payment_payload', message);
      return;
    }
    const visit = { header, channel: channelOf(req), arrivedAtMs, requestId: req.id };
    const answer = await serveLink(header === undefined ? deps : followedBy(deps, req.id), session, visit);
    deps.metrics.linkAnswer(outcomeOf(answer));
    if (wantsPage(req))
      await sendPage(deps, res, answer, session.id, header === undefined ? 'load' : 'payment');
    else sendAgentAnswer(res, answer, sessionUrl(session.id, deps.config.baseUrl));
  };

  router.route('/:id').all(limit).get(serve).post(serve).all(onlyBy(LINK_METHODS, refuse));
  // Not counted: an open page asks for its state every other second.
  router
    .route('/:id/status')
    .get((req, res) => sendStatus(deps, res, req.params.id))
    .all(onlyBy(READ_METHODS, refuse));
  router.use('/:id', limit);
  router
    .route('/:id/page')
    .get((req, res) => sendCurrentPage(deps, res, req.params.id))
    .all(onlyBy(READ_METHODS, refuse));
  router
    .route('/:id/pay')
    .post((req, res) => sendPayOutcome(deps, req, res))
    .all(onlyBy('POST, OPTIONS', refuse));
  router
    .route('/:id/transaction')
    .post(express.json({ limit: MAX_BODY_BYTES }), (req, res) => sendTransaction(deps, req, res))
    .all(onlyBy('POST, OPTIONS', refuse));
  router
    .route('/:id/images/:name')
    .get((req, res) => sendImage(deps, res, req.params.id, req.params.name))
    .all(onlyBy(READ_METHODS, refuse));
  router.use((req, res) => {
    refuse(req, res, 'resource_missing', 'There is nothing at this address. Check that the link is whole.');
  });
  router.use(refuseBroken(refuse), renderBuyerErrors(refuse));
  return router;
}

function onlyBy(methods: string, refuse: Refuse) {
  return (req: Request, res: Response): void => {
    res.setHeader('Allow', methods);
    refuse(req, res, 'method_not_allowed', `This address answers ${methods}. Use one of them.`);
  };
}

/** What Express throws when an id's percent-encoding is broken, and its body parser for what is not JSON. */
function refuseBroken(refuse: Refuse): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (error instanceof URIError) {
      const message = 'This link is not percent-encoded correctly. Check that the link is whole.';
      refuse(req, res, 'resource_missing', message);
    } else if (isBodyError(error)) {
      refuse(req, res, 'invalid_payment_payload', 'The body is not JSON, or too long. Send a JSON object.');
    } else {
      next(error);
    }
  };
}

function isBodyError(error: unknown): boolean {
  return error instanceof Error && 'type' in error && 'statusCode' in error && Number(error.statusCode) < 500;
}

/** What came of a request, in few words: the metrics' labels. */
function outcomeOf(answer: LinkAnswer): string {
  if (answer.kind === 'error') return answer.error.code;
  if (answer.kind !== 'payment_required') return answer.kind;
  return answer.required.code === undefined ? 'payment_required' : 'payment_failed';
}

/** HEAD never pays. */
function paymentHeaderOf(req: Request<{ id: string }>): DecodedHeader | undefined {
  if (req.method === 'HEAD') return undefined;
  return readPaymentHeader({
    paymentSignature: req.get('PAYMENT-SIGNATURE'),
    xPayment: req.get('X-PAYMENT'),
  });
}

function channelOf(req: Request<{ id: string }>): Channel {
  return req.get(PAGE_MARKER_HEADER) === 'page' ? 'page' : 'x402';
}

/** A browser's page load names text/html; agents send anything else. */
function wantsPage(req: Asked): boolean {
  return /\btext\/html\b/i.test(req.get('Accept') ?? '');
}
