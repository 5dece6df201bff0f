import { TOKEN_PROGRAMS } from '../../../shared/chains/associated-token-account.js';
import { fromBase58 } from './base58.js';
import { describeAccount } from './describe-account.js';
import { describeTransaction } from './describe-transaction.js';
import type { Ledger } from './ledger.js';
import type { LandedTransaction } from './records.js';
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from './rpc-error.js';
import { type RpcOptions, readOptions, readText, readTexts } from './rpc-params.js';
import {
  BLOCKHASH_SLOTS,
  blockhashOf,
  commitmentOf,
  type Delays,
  isAtLeast,
  isBlockhashValid,
  newestSlot,
  secondsOf,
} from './slots.js';
import { describeAmount, readMint, readTokenAccount } from './token-data.js';
import { describeTransactionError } from './transaction-error.js';

/** The methods of a Solana node that wallets, x402's packages and this service use. */
export type RpcMethods = (method: string, params: readonly unknown[]) => unknown;

/** Of devnet, whose name the cluster bears. */
const GENESIS_HASH = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const MOST_SIGNATURES = 1000;
const PREFLIGHT_FAILED = -32002;
const SIGNATURE_INVALID = -32003;
const BEHIND_MIN_CONTEXT_SLOT = -32016;

export function createRpcMethods(ledger: Ledger, delays: Delays): RpcMethods {
  const { accounts } = ledger;

  const slotOf = ({ commitment = 'finalized', minContextSlot = 0 }: RpcOptions): number => {
    const slot = newestSlot(commitment, delays);
    if (slot < minContextSlot)
      throw new RpcError(BEHIND_MIN_CONTEXT_SLOT, 'Minimum context slot has not been reached');
    return slot;
  };
  const inContext = (options: RpcOptions, value: unknown): object => ({
    context: { apiVersion: '3.0.0', slot: slotOf(options) },
    value,
  });
  const commitment = ({ landedAtMs }: LandedTransaction) => commitmentOf(landedAtMs, delays);
  const isVisible = (landed: LandedTransaction, { commitment: wanted = 'finalized' }: RpcOptions): boolean =>
    isAtLeast(commitment(landed), wanted);

  function status(signature: string): object | null {
    const landed = ledger.find(signature);
    if (landed === undefined) return null;
    const { slot, meta } = landed;
    const reached = commitment(landed);
    const confirmations =
      reached === 'finalized' ? null : Math.min(newestSlot('processed', delays) - slot, 31);
    return { slot, confirmations, err: meta.err, status: meta.status, confirmationStatus: reached };
  }

  function listSignatures(address: string, options: RpcOptions): object[] {
    const { limit = MOST_SIGNATURES, before, until } = options;
    slotOf(options);
    const all = ledger.listByAccount(address).filter((landed) => isVisible(landed, options));
    const positionOf = (signature: string): number =>
      all.findIndex((landed) => landed.signature === signature);
    const start = before === undefined ? 0 : positionOf(before) + 1;
    // An unknown `before` gives nothing, an unknown `until` everything.
    if (before !== undefined && start === 0) return [];
    const end = until === undefined ? -1 : positionOf(until);
    return all
      .slice(start, end < 0 ? undefined : end)
      .slice(0, Math.min(limit, MOST_SIGNATURES))
      .map((landed) => ({
        signature: landed.signature,
        slot: landed.slot,
        err: landed.meta.err,
        memo: null,
        blockTime: secondsOf(landed.slot),
        confirmationStatus: commitment(landed),
      }));
  }

  function send(wire: Uint8Array, { skipPreflight = false }: RpcOptions): string {
    if (!skipPreflight) {
      const { err, ...simulated } = ledger.simulate(wire, { signatures: true });
      if (err === 'SignatureFailure') {
        throw new RpcError(SIGNATURE_INVALID, 'Transaction signature verification failure');
      }
      if (err !== null) {
        const said = `Transaction simulation failed: ${describeTransactionError(err)}`;
        throw new RpcError(PREFLIGHT_FAILED, said, { err, ...simulated });
      }
    }
    return ledger.send(wire);
  }

  function tokenAmount(
    address: string,
    read: (owner: string, data: Buffer) => [bigint, number] | undefined,
  ): object {
    const account = accounts.find(address);
    const amount = account && read(account.owner, Buffer.from(account.data, 'base64'));
    if (amount === undefined) throw new RpcError(INVALID_PARAMS, 'Invalid param: could not find account');
    return describeAmount(...amount);
  }

  function listTokenAccounts(owner: string, filter: RpcOptions, options: RpcOptions): object[] {
    const programs = Object.values(TOKEN_PROGRAMS).map((program) => program.toBase58());
    const wanted = filter.programId === undefined ? programs : [filter.programId];
    return wanted
      .flatMap((program) => accounts.list(program))
      .flatMap((account) => {
        const held = readTokenAccount(account.owner, Buffer.from(account.data, 'base64'));
        if (held?.owner !== owner || (filter.mint !== undefined && filter.mint !== held.mint)) return [];
        return [{ pubkey: account.address, account: describeAccount(account, options, accounts) }];
      });
  }

  const methods: Record<string, (params: readonly unknown[]) => unknown> = {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': '3.0.0', 'feature-set': 0 }),
    getGenesisHash: () => GENESIS_HASH,
    getSlot: ([options]) => slotOf(readOptions(options)),
    getBlockHeight: ([options]) => slotOf(readOptions(options)),
    getBlockTime: ([slot]) =>
      typeof slot === 'number' && slot <= newestSlot('processed', delays) ? secondsOf(slot) : null,
    getLatestBlockhash([given]) {
      const options = readOptions(given);
      const slot = slotOf(options);
      return inContext(options, {
        blockhash: blockhashOf(slot),
        lastValidBlockHeight: slot + BLOCKHASH_SLOTS,
      });
    },
    isBlockhashValid([blockhash, given]) {
      const options = readOptions(given);
      return inContext(options, isBlockhashValid(readText(blockhash), slotOf(options)));
    },
    getFeeForMessage: ([message]) => inContext({}, 5000 * (Buffer.from(readText(message), 'base64')[1] ?? 1)),
    getRecentPrioritizationFees: () => [{ slot: newestSlot('processed', delays), prioritizationFee: 0 }],
    getMinimumBalanceForRentExemption: ([bytes]) => accounts.minimumBalance(Number(bytes)),
    getBalance: ([address, given]) =>
      inContext(readOptions(given), accounts.find(readText(address))?.lamports ?? 0),
    getAccountInfo([address, given]) {
      const options = readOptions(given);
      return inContext(options, describeAccount(accounts.find(readText(address)), options, accounts));
    },
    getMultipleAccounts([addresses, given]) {
      const options = readOptions(given);
      const found = readTexts(addresses).map((one) => describeAccount(accounts.find(one), options, accounts));
      return inContext(options, found);
    },
    getTokenAccountBalance: ([address, given]) =>
      inContext(
        readOptions(given),
        tokenAmount(readText(address), (owner, data) => {
          const held = readTokenAccount(owner, data);
          return held && [held.amount, accounts.decimalsOf(held.mint)];
        }),
      ),
    getTokenSupply: ([address, given]) =>
      inContext(
        readOptions(given),
        tokenAmount(readText(address), (owner, data) => {
          const mint = readMint(owner, data);
          return mint && [mint.supply, mint.decimals];
        }),
      ),
    getTokenAccountsByOwner: ([owner, filter, given]) =>
      inContext(
        readOptions(given),
        listTokenAccounts(readText(owner), readOptions(filter), readOptions(given)),
      ),
    simulateTransaction([wire, given]) {
      const options = readOptions(given);
      const simulated = ledger.simulate(readWire(wire, options), { signatures: options.sigVerify ?? false });
      const { innerInstructions, ...result } = simulated;
      return inContext(options, {
        ...result,
        accounts: null,
        returnData: null,
        ...(options.innerInstructions === true && { innerInstructions }),
      });
    },
    sendTransaction: ([wire, given]) => send(readWire(wire, readOptions(given)), readOptions(given)),
    getSignatureStatuses: ([signatures]) =>
      inContext({ commitment: 'processed' }, readTexts(signatures).map(status)),
    getTransaction([signature, given]) {
      const options = readOptions(given);
      const landed = ledger.find(readText(signature));
      return landed !== undefined && isVisible(landed, options) ? describeTransaction(landed, options) : null;
    },
    getSignaturesForAddress: ([address, given]) => listSignatures(readText(address), readOptions(given)),
  };

  return (method, params) => {
    const implementation = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (implementation === undefined) {
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: this local cluster does not have ${method}`);
    }
    return implementation(params);
  };
}

function readWire(text: unknown, { encoding = 'base58' }: RpcOptions): Uint8Array {
  const wire = readText(text);
  return encoding === 'base64' ? new Uint8Array(Buffer.from(wire, 'base64')) : fromBase58(wire);
}
