import { INVALID_PARAMS, RpcError } from '../../world/chains/rpc-error.js';
import { COMMITMENTS, type Commitment } from './slots.js';

/** The options of all methods; a value of the wrong type counts as absent. */
export interface RpcOptions {
  commitment?: Commitment;
  minContextSlot?: number;
  encoding?: string;
  dataSlice?: { offset: number; length: number };
  maxSupportedTransactionVersion?: number;
  sigVerify?: boolean;
  innerInstructions?: boolean;
  skipPreflight?: boolean;
  limit?: number;
  before?: string;
  until?: string;
  mint?: string;
  programId?: string;
}

export function readOptions(value: unknown): RpcOptions {
  const given: Record<string, unknown> =
    typeof value === 'string'
      ? { encoding: value }
      : typeof value === 'object' && value !== null
        ? { ...value }
        : {};
  const number = (name: string): number | undefined =>
    typeof given[name] === 'number' ? given[name] : undefined;
  const text = (name: string): string | undefined =>
    typeof given[name] === 'string' ? given[name] : undefined;
  const flag = (name: string): boolean | undefined =>
    typeof given[name] === 'boolean' ? given[name] : undefined;
  return withoutUndefined({
    commitment: COMMITMENTS.find((commitment) => commitment === given.commitment),
    minContextSlot: number('minContextSlot'),
    encoding: text('encoding'),
    dataSlice: readSlice(given.dataSlice),
    maxSupportedTransactionVersion: number('maxSupportedTransactionVersion'),
    sigVerify: flag('sigVerify'),
    innerInstructions: flag('innerInstructions'),
    skipPreflight: flag('skipPreflight'),
    limit: number('limit'),
    before: text('before'),
    until: text('until'),
    mint: text('mint'),
    programId: text('programId'),
  });
}

export function readText(value: unknown): string {
  if (typeof value !== 'string') throw new RpcError(INVALID_PARAMS, 'Invalid params: a text is missing');
  return value;
}

export function readTexts(value: unknown): string[] {
  if (!Array.isArray(value)) throw new RpcError(INVALID_PARAMS, 'Invalid params: a list is missing');
  return value.map(readText);
}

function readSlice(value: unknown): { offset: number; length: number } | undefined {
  if (typeof value !== 'object' || value === null || !('offset' in value) || !('length' in value))
    return undefined;
  return { offset: Number(value.offset), length: Number(value.length) };
}

function withoutUndefined(options: { [Key in keyof RpcOptions]: RpcOptions[Key] | undefined }): RpcOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
