import type { Request, Response } from 'express';
import { findToken, type OfferedSvmToken } from '../../../shared/chains/networks/networks.js';
import type { EndpointUnreadable } from '../../../shared/chains/rpc/throttled-endpoint.js';
import { isJsonObject } from '../../../shared/values/json-object.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import type { TransactionOffer } from '../../checkout-page/page-data.js';
import type { Deps } from '../../deps/deps.js';
import { sendBuyerError } from '../../errors/buyer-errors.js';
import { sendJson } from '../../http/send-json.js';
import { requireAccepts } from './require-accepts.js';

interface SolanaEntry {
  accepted: PaymentRequirements;
  token: OfferedSvmToken;
  feePayer: string;
}

/**
 * `POST /c/{id}/transaction {payer, asset}`: an unsigned Solana transaction with a recent blockhash, so that the
 * page needs no RPC endpoint. Without `asset` only the balances of the payer. Changes nothing.
 */
export async function sendTransaction(
  deps: Deps,
  req: Request<{ id: string }>,
  res: Response,
): Promise<void> {
  const body: unknown = req.body;
  const { payer, asset } = isJsonObject(body) ? body : {};
  const { parseSolanaWallet } = await import('../../../shared/chains/networks/wallet-address.js');
  const wallet = typeof payer === 'string' ? parseSolanaWallet(payer) : undefined;
  if (wallet === undefined || (asset !== undefined && typeof asset !== 'string')) {
    const message = 'Send JSON with `payer`, a Solana wallet address, and `asset`, a mint of this link.';
    sendBuyerError(res, 'invalid_payment_payload', message);
    return;
  }
  const accepts = await requireAccepts(deps, req, res);
  if (accepts === undefined) return;
  const prepared = await prepare(deps, { session: req.params.id, accepts, payer: wallet, asset });
  // 200 instead of 503: browsers log a 503 as an error, and the page shows its own message.
  const unavailable = { code: 'payment_service_unavailable' };
  if (prepared === undefined) res.locals.errorCode = unavailable.code;
  sendJson(res, JSON.stringify(prepared ?? unavailable));
}

interface Wanted {
  session: string;
  accepts: readonly PaymentRequirements[];
  payer: string;
  asset: string | undefined;
}

/** Undefined when the chain cannot be read. */
async function prepare(
  { solanaTransfers, references, logger }: Deps,
  { session, accepts, payer, asset }: Wanted,
): Promise<TransactionOffer | undefined> {
  const entries = accepts.flatMap(solanaEntry);
  const chosen = entries.find(({ accepted }) => accepted.asset === asset) ?? entries[0];
  if (chosen === undefined) return undefined;
  const unreadable = ({ reason }: EndpointUnreadable): undefined => {
    const { network } = chosen.accepted;
    logger.warn({ event: 'transaction.chain_unreadable', session, network, reason });
  };
  const transfers = await solanaTransfers();
  const holdings = await transfers.readHoldings(
    chosen.token.network,
    entries.map(({ token }) => ({ wallet: payer, token })),
  );
  if (!Array.isArray(holdings)) return unreadable(holdings);
  const held = (entry: SolanaEntry): bigint => holdings[entries.indexOf(entry)] ?? 0n;
  const amount = BigInt(chosen.accepted.amount);
  const canPay = asset !== undefined && held(chosen) >= amount;
  const transaction = canPay
    ? await transfers.build({
        token: chosen.token,
        payer,
        payTo: chosen.accepted.payTo,
        feePayer: chosen.feePayer,
        amount,
        memo: references.memoOf(session, 'fresh'),
      })
    : null;
  if (transaction !== null && typeof transaction !== 'string') return unreadable(transaction);
  return {
    network: chosen.accepted.network,
    asset: chosen.accepted.asset,
    transaction,
    balances: Object.fromEntries(entries.map((entry) => [entry.accepted.asset, held(entry).toString()])),
  };
}

function solanaEntry(accepted: PaymentRequirements): SolanaEntry[] {
  const token = findToken(accepted.network, accepted.asset);
  return token?.family === 'svm' && 'feePayer' in accepted.extra
    ? [{ accepted, token, feePayer: accepted.extra.feePayer }]
    : [];
}
