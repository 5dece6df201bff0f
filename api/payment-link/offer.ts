import type { PayoutAccounts } from '../../shared/chains/solana/payout-accounts.js';
import type { Knex } from '../../shared/db/knex.js';
import { paymentLinkUrl } from '../../shared/payables/payment-link-url.js';
import { OUTCOME_UNKNOWN } from '../../shared/payments/states.js';
import type { LinkedPayable } from '../../shared/settlement/read-link.js';
import { recordOfferedFeePayers } from '../../shared/settlement/record-answers.js';
import { describeFailure } from '../../shared/x402/failure-codes.js';
import type { Offer } from '../../shared/x402/match-payment.js';
import { PAYMENT_IDENTIFIER, PAYMENT_IDENTIFIER_DECLARATION } from '../../shared/x402/payment-identifier.js';
import { askForMemo, buildAccepts, type OfferInput } from '../../shared/x402/requirements.js';
import type { PaymentRequired, PaymentRequirements, ResourceInfo } from '../../shared/x402/wire.js';
import { describePayment, serviceNameOf } from './describe.js';
import { earlierFailure, type LinkFailure } from './earlier-failure.js';
import { busy, errorAnswer, type LinkAnswer, uncertainPayment } from './link-answer.js';
import type { LinkDeps } from './link-deps.js';

const RETRY_SECONDS = 60;
const EXTENSIONS = { [PAYMENT_IDENTIFIER]: PAYMENT_IDENTIFIER_DECLARATION };

/** The networks and tokens the session can be paid with, or an error response when there are none. */
export async function readOffer(
  {
    facilitators,
    payoutAccounts,
    references,
  }: Pick<LinkDeps, 'facilitators' | 'payoutAccounts' | 'references'>,
  session: LinkedPayable,
): Promise<Offer | LinkAnswer> {
  if (session.account.disabledAt) {
    return errorAnswer(
      'payments_unavailable',
      'This link cannot be paid right now, because its merchant takes no payments. Ask the merchant.',
      RETRY_SECONDS,
    );
  }
  const supported = await facilitators.supported();
  if (supported === undefined) return busy();
  const offeredFeePayers = session.offeredFeePayers ?? [];
  const built = buildAccepts({
    livemode: session.livemode,
    ...receiverOf(session),
    amountCents: session.amountTotalCents,
    supported,
    offeredFeePayers,
  });
  // The wallet of a refund has sent this token, so its token account exists.
  const payable = session.refund == null ? built.filter((entry) => isPayable(entry, payoutAccounts)) : built;
  const accepts = askForMemo(payable, () => references.memoOf(session.id, 'fixed'));
  if (accepts.length > 0) return { accepts, supported, offeredFeePayers };
  return errorAnswer(
    'payments_unavailable',
    'There is no network on which this link can be paid right now. Try again in a minute, or ask the merchant.',
    RETRY_SECONDS,
  );
}

function isPayable({ network, payTo, asset }: PaymentRequirements, accounts: PayoutAccounts): boolean {
  return !(network.startsWith('solana:') && accounts.isMissing({ network, wallet: payTo, asset }));
}

/** The merchant's wallets. A refund is paid to the wallet that paid, in the same token. */
function receiverOf({ account, refund }: LinkedPayable): Pick<OfferInput, 'wallets' | 'only'> {
  return refund == null
    ? { wallets: { evm: account.evmWallet, solana: account.solanaWallet } }
    : { wallets: { evm: refund.payTo, solana: refund.payTo }, only: refund };
}

/** The 402 response, with the reason when a signed payment failed. */
export async function askForPayment(
  { db, config, commits }: Pick<LinkDeps, 'commits' | 'config' | 'db'>,
  session: LinkedPayable,
  offer: Offer,
  failed?: LinkFailure,
): Promise<LinkAnswer> {
  const failure = failed ?? doubted(await earlierFailure(db, session), commits);
  await rememberFeePayers(db, session, offer);
  const required: PaymentRequired = {
    x402Version: 2,
    error: failure?.message ?? 'Payment required',
    ...(failure !== undefined && { code: failure.code }),
    resource: describeResource(session, offer, paymentLinkUrl(session.id, config.baseUrl)),
    accepts: offer.accepts,
    extensions: EXTENSIONS,
  };
  const uncertain = failure?.isUncertain ? { uncertain: uncertainPayment(failure) } : {};
  return { kind: 'payment_required', required, validUntil: session.expiresAt, ...uncertain };
}

/** Postgres may have forgotten a later payment, whose buyer would read the earlier payment's failure as the later one's. */
function doubted(failure: LinkFailure | undefined, commits: LinkDeps['commits']): LinkFailure | undefined {
  if (failure === undefined || failure.isUncertain || !commits.mayHaveLost()) return failure;
  return describeFailure(OUTCOME_UNKNOWN);
}

function describeResource(session: LinkedPayable, { accepts }: Offer, url: string): ResourceInfo {
  const { account, refund, livemode } = session;
  const serviceName = serviceNameOf(account.name);
  return {
    url,
    description: describePayment(session, accepts),
    mimeType: 'application/json',
    ...(serviceName !== undefined && { serviceName }),
    tags: [refund == null ? 'checkout' : 'refund', ...(livemode ? [] : ['test'])],
    // The merchant's own address of the logo may be longer than the headers.
    ...(account.logoUrl !== null && { iconUrl: `${url}/images/logo` }),
  };
}

async function rememberFeePayers(
  db: Knex,
  session: LinkedPayable,
  { accepts, offeredFeePayers }: Offer,
): Promise<void> {
  const offered = new Set(accepts.flatMap(({ extra }) => ('feePayer' in extra ? [extra.feePayer] : [])));
  const unknown = [...offered].filter((feePayer) => !offeredFeePayers.includes(feePayer));
  if (unknown.length > 0) await recordOfferedFeePayers(db, session.id, unknown);
}
