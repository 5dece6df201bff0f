import { isEvm } from '../chains/networks/text-forms.js';
import type { JsonObject } from '../values/json-object.js';
import { type PaymentProof, parseAuthorization } from './payload.js';
import { parseSvmTransaction } from './svm-transaction.js';

/** Undefined when the payload lacks the fields of its network's family. */
export function parsePayload(network: string, payload: JsonObject): PaymentProof | undefined {
  if (isEvm(network)) return parseAuthorization(payload);
  return typeof payload.transaction === 'string' ? parseSvmTransaction(payload.transaction) : undefined;
}
