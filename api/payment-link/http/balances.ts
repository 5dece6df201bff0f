import type { Request, Response } from 'express';
import type { TokenBalances } from '../../../shared/chains/evm/throttled-evm.js';
import { findToken, type Network, type OfferedToken } from '../../../shared/chains/networks/networks.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import type { LinkBalances } from '../../checkout-page/page-data.js';
import type { Deps } from '../../deps/deps.js';
import { sendBuyerError } from '../../errors/buyer-errors.js';
import { sendJson } from '../../http/send-json.js';
import { linkQuery } from '../../input/link-query.js';
import { requireAccepts } from './require-accepts.js';

interface Wallet {
  family: Network['family'];
  address: string;
}

/**
 * `GET /c/{id}/balances?address=…`: the balances of a public address, for each payable token of its chain family.
 * The page needs no RPC endpoint to find the buyer's tokens.
 */
export async function sendBalances(deps: Deps, req: Request<{ id: string }>, res: Response): Promise<void> {
  const wallet = await readWallet(req.url);
  if (wallet === undefined) {
    const message =
      'Send `address` once in the query: an EVM address, in lower case or with its checksum, or a Solana wallet address.';
    sendBuyerError(res, 'invalid_payment_payload', message);
    return;
  }
  const accepts = await requireAccepts(deps, req, res);
  if (accepts === undefined) return;
  const query = { session: req.params.id, accepts, wallet };
  sendJson(res, JSON.stringify(await readAll(deps, query)));
}

async function readWallet(url: string): Promise<Wallet | undefined> {
  const [text, ...others] = linkQuery(url).getAll('address');
  if (text === undefined || others.length > 0) return undefined;
  const { parseEvmWallet, parseSolanaWallet } = await import(
    '../../../shared/chains/networks/wallet-address.js'
  );
  const evm = parseEvmWallet(text);
  if (evm !== undefined) return { family: 'evm', address: evm };
  const solana = parseSolanaWallet(text);
  return solana === undefined ? undefined : { family: 'svm', address: solana };
}

interface BalanceQuery {
  session: string;
  accepts: readonly PaymentRequirements[];
  wallet: Wallet;
}

async function readAll(
  { readBalances, logger }: Deps,
  { session, accepts, wallet: { family, address } }: BalanceQuery,
): Promise<LinkBalances> {
  const tokens = accepts.flatMap(({ network, asset }): OfferedToken[] => {
    const token = findToken(network, asset);
    return token?.family === family ? [token] : [];
  });
  const read = await readBalances();
  const networks = [...new Set(tokens.map(({ network }) => network))];
  const balances = await Promise.all(
    networks.map(async (network): Promise<[Network, TokenBalances | undefined]> => {
      const found = await read(network, address);
      if (!('kind' in found)) return [network, found];
      const { reason } = found;
      logger.info({ event: 'balances.chain_unreadable', session, network: network.caip2, reason });
      return [network, undefined];
    }),
  );
  const ofNetwork = new Map(balances);
  return {
    balances: tokens.map(({ network, address: asset }) => {
      const balance = ofNetwork.get(network)?.get(asset);
      return { network: network.caip2, asset, balance: balance?.toString() ?? null };
    }),
  };
}
