import { fromBase58 } from '../../world/chains/base58.js';
import { RpcError } from '../../world/chains/rpc-error.js';
import { describeTransaction } from './describe-transaction.js';
import type { Ledger } from './ledger.js';
import type { MethodTable, RpcContext } from './rpc-context.js';
import { type RpcOptions, readOptions, readText, readTexts } from './rpc-params.js';
import { newestSlot, secondsOf } from './slots.js';
import { describeTransactionError } from './transaction-error.js';

const MAX_SIGNATURES = 1000;
/** A node stops counting confirmations here. */
const MAX_CONFIRMATIONS = 31;
const PREFLIGHT_FAILED = -32002;
const SIGNATURE_INVALID = -32003;

export function createTransactionMethods(ledger: Ledger, context: RpcContext): MethodTable {
  function status(signature: string): object | null {
    const landed = ledger.find(signature);
    if (landed === undefined) return null;
    const { slot, meta } = landed;
    const reached = context.commitmentOf(landed);
    const age = newestSlot('processed', context.delays) - slot;
    const confirmations = reached === 'finalized' ? null : Math.min(age, MAX_CONFIRMATIONS);
    return { slot, confirmations, err: meta.err, status: meta.status, confirmationStatus: reached };
  }

  function listSignatures(address: string, options: RpcOptions): object[] {
    const { limit = MAX_SIGNATURES, before, until } = options;
    context.slotOf(options);
    const all = ledger.listByAccount(address).filter((landed) => context.isVisible(landed, options));
    const positionOf = (signature: string): number =>
      all.findIndex((landed) => landed.signature === signature);
    const start = before === undefined ? 0 : positionOf(before) + 1;
    // A node answers an unknown `before` with nothing, and ignores an unknown `until`.
    if (before !== undefined && start === 0) return [];
    const end = until === undefined ? -1 : positionOf(until);
    return all
      .slice(start, end < 0 ? undefined : end)
      .slice(0, Math.min(limit, MAX_SIGNATURES))
      .map((landed) => ({
        signature: landed.signature,
        slot: landed.slot,
        err: landed.meta.err,
        memo: null,
        blockTime: secondsOf(landed.slot),
        confirmationStatus: context.commitmentOf(landed),
      }));
  }

  function send(wire: Uint8Array, { skipPreflight = false }: RpcOptions): string {
    if (!skipPreflight) {
      const { err, ...simulated } = ledger.simulate(wire, { signatures: true });
      if (err === 'SignatureFailure') {
        throw new RpcError(SIGNATURE_INVALID, 'Transaction signature verification failure');
      }
      if (err !== null) {
        const message = `Transaction simulation failed: ${describeTransactionError(err)}`;
        throw new RpcError(PREFLIGHT_FAILED, message, { data: { err, ...simulated } });
      }
    }
    return ledger.send(wire);
  }

  return {
    simulateTransaction([wire, given]) {
      const options = readOptions(given);
      const simulated = ledger.simulate(readWire(wire, options), { signatures: options.sigVerify ?? false });
      const { innerInstructions, ...result } = simulated;
      return context.wrap(options, {
        ...result,
        accounts: null,
        returnData: null,
        ...(options.innerInstructions === true && { innerInstructions }),
      });
    },
    sendTransaction: ([wire, given]) => send(readWire(wire, readOptions(given)), readOptions(given)),
    getSignatureStatuses: ([signatures]) =>
      context.wrap({ commitment: 'processed' }, readTexts(signatures).map(status)),
    getTransaction([signature, given]) {
      const options = readOptions(given);
      const landed = ledger.find(readText(signature));
      const isVisible = landed !== undefined && context.isVisible(landed, options);
      return isVisible ? describeTransaction(landed, options) : null;
    },
    getSignaturesForAddress: ([address, given]) => listSignatures(readText(address), readOptions(given)),
  };
}

function readWire(text: unknown, { encoding = 'base58' }: RpcOptions): Uint8Array {
  const wire = readText(text);
  return encoding === 'base64' ? new Uint8Array(Buffer.from(wire, 'base64')) : fromBase58(wire);
}
