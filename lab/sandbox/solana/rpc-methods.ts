import { createAccountMethods } from './account-methods.js';
import { createBlockMethods } from './block-methods.js';
import type { Ledger } from './ledger.js';
import { RpcContext } from './rpc-context.js';
import { METHOD_NOT_FOUND, RpcError } from './rpc-error.js';
import type { Delays } from './slots.js';
import { createTransactionMethods } from './transaction-methods.js';

export type RpcMethods = (method: string, params: readonly unknown[]) => unknown;

/** The methods of a Solana node that wallets, the x402 packages and this service use. */
export function createRpcMethods(ledger: Ledger, delays: Delays): RpcMethods {
  const context = new RpcContext(delays);
  const methods = {
    ...createBlockMethods(context),
    ...createAccountMethods(ledger.accounts, context),
    ...createTransactionMethods(ledger, context),
  };
  return (method, params) => {
    const implementation = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (implementation === undefined) {
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: this local cluster does not have ${method}`);
    }
    return implementation(params);
  };
}
