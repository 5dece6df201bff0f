import type { Request, Response } from 'express';
import { paymentLinkUrl } from '../../../shared/payables/payment-link-url.js';
import type { Channel } from '../../../shared/payments/states.js';
import { nowMs } from '../../../shared/process/clock.js';
import {
  findLinkedPayable,
  findPagePayable,
  type LinkedPayable,
} from '../../../shared/settlement/read-link.js';
import { type DecodedHeader, readPaymentHeader } from '../../../shared/x402/headers.js';
import type { Deps } from '../../deps/deps.js';
import { NO_SESSION } from '../../errors/buyer-errors.js';
import { wantsPage } from '../../input/media-type.js';
import { addressKey } from '../../limits/address-key.js';
import { setRetryAfter } from '../../middleware/rate-limit.js';
import type { LinkAnswer } from '../link-answer.js';
import { loadPay } from '../load-pay.js';
import { viewLink } from '../view-link.js';
import { type AcceptsFilter, filterAccepts, readAcceptsFilter } from './fit-accepts.js';
import type { LinkRelations } from './link-headers.js';
import { sendPageAfterPayment, sendPageLoad } from './page.js';
import type { Refuse } from './refuse.js';
import { sendAgentAnswer } from './respond.js';
import { withinShare } from './within-share.js';

type LinkRequest = Request<{ id: string }>;

/** Only the page sends this header; other requests count as agents. */
const PAGE_MARKER_HEADER = 'checkout-channel';

/** Serves `/c/{id}` to agents and browsers. */
export function serveLink(
  allDeps: Deps,
  relations: LinkRelations,
  refuse: Refuse,
  refuseTooMany: (req: LinkRequest, res: Response) => void,
): (req: LinkRequest, res: Response) => Promise<void> {
  return async (req, res) => {
    const arrivedAtMs = nowMs();
    const isPage = wantsPage(req);
    const { session, waitMs } = await readCounted(allDeps, req, isPage);
    if (waitMs !== undefined) {
      setRetryAfter(res, waitMs);
      refuseTooMany(req, res);
      return;
    }
    if (session === undefined) {
      refuse(req, res, 'resource_missing', NO_SESSION);
      return;
    }
    const deps = withinShare(allDeps, session);
    res.setHeader('Link', relations.ofSession(session.id));
    const header = paymentHeaderOf(req);
    if (header?.kind === 'malformed') {
      const message = `The payment header is not an x402 payment payload. ${header.reason} Send base64 of a JSON PaymentPayload.`;
      refuse(req, res, 'invalid_payment_payload', message);
      return;
    }
    let answer: LinkAnswer;
    if (header === undefined) {
      answer = await viewLink(deps, session);
    } else {
      const { pay } = await loadPay();
      answer = await pay(deps, session, { header, channel: channelOf(req), arrivedAtMs, requestId: req.id });
    }
    deps.metrics.linkAnswer(metricsLabelOf(answer));
    const filtered = withFilteredAccepts(answer, readAcceptsFilter(req.url));
    if (!isPage)
      await sendAgentAnswer(deps, res, filtered, {
        link: paymentLinkUrl(session.id, deps.config.baseUrl),
        carriedPayment: header !== undefined,
      });
    else if (header === undefined) await sendPageLoad(deps, res, session, answer);
    else await sendPageAfterPayment(deps, res, session.id, { head: filtered, shown: answer });
  };
}

/**
 * Reads the session while the rate limiter is asked: for agents, whose read is cheap, unless the last request from
 * this address was refused.
 */
async function readCounted(
  { db, addressLimiters: { link } }: Deps,
  req: LinkRequest,
  isPage: boolean,
): Promise<{ session?: LinkedPayable | undefined; waitMs?: number | undefined }> {
  const { id } = req.params;
  const key = addressKey(req);
  const read = (): Promise<LinkedPayable | undefined> =>
    (isPage ? findPagePayable : findLinkedPayable)(db, id);
  const isBegun = !isPage && !link.hasRefused(key);
  const [waitMs, begun] = await Promise.all([link.take(key), isBegun ? read() : undefined]);
  if (waitMs !== undefined) return { waitMs };
  return { session: isBegun ? begun : await read() };
}

/** A HEAD request never pays. */
function paymentHeaderOf(req: LinkRequest): DecodedHeader | undefined {
  return req.method === 'HEAD' ? undefined : sentPayment(req);
}

/** Undefined when the request carries no payment. */
export function sentPayment(req: LinkRequest): DecodedHeader | undefined {
  return readPaymentHeader({
    paymentSignature: req.get('PAYMENT-SIGNATURE'),
    xPayment: req.get('X-PAYMENT'),
  });
}

function channelOf(req: LinkRequest): Channel {
  return req.get(PAGE_MARKER_HEADER) === 'page' ? 'page' : 'x402';
}

/** A request whose `network` and `token` match no entry gets none, and an `error` that names the networks. */
function withFilteredAccepts(answer: LinkAnswer, filter: AcceptsFilter | undefined): LinkAnswer {
  if (answer.kind !== 'payment_required' || filter === undefined) return answer;
  const { required } = answer;
  const accepts = filterAccepts(required.accepts, filter);
  if (accepts.length > 0) return { ...answer, required: { ...required, accepts } };
  const networks = new Set(required.accepts.map(({ network }) => network));
  const error = `${asSentence(required.error)} Nothing is offered for this \`network\` and \`token\`; the networks are ${[...networks].join(', ')}.`;
  return { ...answer, required: { ...required, error, accepts } };
}

function asSentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

/** The metrics label of a response. */
function metricsLabelOf(answer: LinkAnswer): string {
  if (answer.kind === 'error') return answer.error.code;
  if (answer.kind !== 'payment_required') return answer.kind;
  return answer.required.code === undefined ? 'payment_required' : 'payment_failed';
}
