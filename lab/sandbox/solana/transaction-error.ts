import type { FailedTransactionMetadata } from 'litesvm';

/** An error in an RPC node's format, such as "BlockhashNotFound" or {"InstructionError":[2,{"Custom":1}]}. */
export type TransactionError = string | { InstructionError: [number, string | { Custom: number }] };

/** LiteSVM's errors have no such form, but their text contains it: `err: InstructionError(2, Custom(1))`. */
export function readTransactionError(failed: FailedTransactionMetadata): TransactionError {
  const text = failed.toString();
  const [, index, reason, custom] = /InstructionError\((\d+), (\w+)(?:\((\d+)\))?/.exec(text) ?? [];
  if (index !== undefined && reason !== undefined) {
    const isCustom = reason === 'Custom' && custom !== undefined;
    return { InstructionError: [Number(index), isCustom ? { Custom: Number(custom) } : reason] };
  }
  const [, name] = /err: (\w+)/.exec(text) ?? [];
  return name ?? 'UnknownError';
}

/** An RPC node's wording of a failed preflight. */
export function describeTransactionError(error: TransactionError): string {
  if (error === 'BlockhashNotFound') return 'Blockhash not found';
  if (typeof error === 'string') return error;
  const [index, reason] = error.InstructionError;
  const said = typeof reason === 'string' ? reason : `custom program error: 0x${reason.Custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${said}`;
}
