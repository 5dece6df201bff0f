import { findToken, NETWORKS } from '../../shared/chains/networks/networks.js';
import {
  type PublicSession,
  presentPublicSession,
  type ShownItem,
  visibleItem,
} from '../../shared/checkout-sessions/present-public.js';
import { paymentLinkUrl } from '../../shared/payables/payment-link-url.js';
import type { Payment } from '../../shared/payments/model.js';
import { presentPayment, type WirePayment } from '../../shared/payments/present.js';
import type { LinkedPayable } from '../../shared/settlement/read-link.js';
import { createdAt } from '../../shared/values/ids.js';
import { unixSeconds } from '../../shared/wire/timestamp.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import { type Formats, formatsOf } from './format.js';
import type { Language } from './language.js';
import { Marks } from './marks.js';
import type { PayableEntry } from './page-data.js';
import type { PageState } from './page-state.js';
import { languageOf, type RefundView, refundView } from './refund-view.js';
import { walletChainId } from './wallet-chains.js';

/** The input for rendering a page. `session` holds public fields only. */
export interface PageView {
  session: PublicSession;
  items: ShownItem[];
  /** Undefined for a checkout session. */
  refund: RefundView | undefined;
  state: PageState;
  /** Payments that arrived in addition to the payment that completed the session; empty unless the page is a receipt. */
  surplus: WirePayment[];
  entries: PayableEntry[];
  nonces: `0x${string}`[];
  link: string;
  /** URL of this page: the link, with the language if the buyer chose one. */
  ownUrl: string;
  /** Unix seconds, like `now`. */
  created: number;
  now: number;
  language: Language;
  formats: Formats;
  /** The drawings that the page shows. */
  marks: Marks;
}

interface ViewOptions {
  baseUrl: string;
  language: Language;
  /** True when the buyer chose the language on the page, false when Accept-Language did. */
  isLanguageAsked: boolean;
  surplus: readonly Payment[];
  now: Date;
  newNonce(payableId: string): `0x${string}`;
}

/** A nonce for each attempt to pay. After the last of them the page loads its data again. */
const NONCES = 2;

export function buildPageView(
  session: LinkedPayable,
  state: PageState,
  { baseUrl, language, isLanguageAsked, surplus, now, newNonce }: ViewOptions,
): PageView {
  const formats = formatsOf(language.tag);
  const link = paymentLinkUrl(session.id, baseUrl);
  const refund = refundView(session, language, baseUrl);
  const entries =
    state.kind === 'open' ? state.accepts.map((accepted) => payableEntry(accepted, formats)) : [];
  const nonces = entries.some(({ family }) => family === 'evm') ? NONCES : 0;
  return {
    session: presentPublicSession(session, session.account, now),
    items: (session.shownItems ?? []).map(visibleItem),
    refund,
    state,
    surplus: surplus.map(presentPayment),
    entries,
    nonces: Array.from({ length: nonces }, () => newNonce(session.id)),
    link,
    ownUrl: isLanguageAsked ? `${link}?lang=${language.tag}` : link,
    created: unixSeconds(createdAt(session.id)),
    now: unixSeconds(now),
    language: languageOf(language, refund),
    formats,
    marks: new Marks(),
  };
}

function payableEntry(accepted: PaymentRequirements, formats: Formats): PayableEntry {
  const token = findToken(accepted.network, accepted.asset);
  if (token === undefined) throw new Error('an offered token is not in the table');
  return {
    accepted,
    family: token.family,
    token: token.symbol,
    decimals: token.decimals,
    networkName: token.network.name,
    rank: NETWORKS.indexOf(token.network),
    amount: formats.tokens(accepted.amount, token.decimals, token.symbol),
    ...(token.family === 'evm'
      ? { chain: { chainId: walletChainId(token.network) } }
      : { walletChain: token.network.testnet ? 'solana:devnet' : 'solana:mainnet' }),
  };
}

/** The countdown is shown in the last quarter of the lifetime of a session. */
export function isInLastQuarter({ session, created, now }: PageView): boolean {
  return (session.expires_at - now) * 4 < session.expires_at - created;
}
