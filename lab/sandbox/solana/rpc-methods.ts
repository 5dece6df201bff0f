import type { RpcMethods } from '../../world/chains/rpc-endpoint.js';
import { INVALID_PARAMS, RpcError } from '../../world/chains/rpc-error.js';
import { createAccountMethods } from './account-methods.js';
import { createBlockMethods } from './block-methods.js';
import type { Ledger } from './ledger.js';
import { RpcContext } from './rpc-context.js';
import type { Delays } from './slots.js';
import { createTransactionMethods } from './transaction-methods.js';

/** The methods of a Solana node that wallets, the x402 packages and this service use. */
export function createRpcMethods(ledger: Ledger, delays: Delays): RpcMethods {
  const context = new RpcContext(delays);
  const methods = {
    ...createBlockMethods(context),
    ...createAccountMethods(ledger.accounts, context),
    ...createTransactionMethods(ledger, context),
  };
  return Object.fromEntries(
    Object.entries(methods).map(([name, run]) => [
      name,
      (params: readonly unknown[]) => {
        try {
          return run(params);
        } catch (error) {
          // An unexpected exception means, in practice, that the request held a malformed address or transaction.
          throw error instanceof RpcError ? error : new RpcError(INVALID_PARAMS, String(error));
        }
      },
    ]),
  );
}
