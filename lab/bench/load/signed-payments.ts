import { randomBytes } from 'node:crypto';
import type { Knex } from '../../../shared/db/knex.js';
import { encodeHeader } from '../../../shared/x402/headers.js';
import { buildSessions, EVM_WALLET } from '../../world/shop/factories.js';
import { PAYER } from '../system/system.js';
import type { PreparedRequest } from './wrk.js';

/** More than either side answers in a second. */
export const MOST_PER_SECOND = 3000;
const BATCH = 1000;
const REQUIREMENTS = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '4500000',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payTo: EVM_WALLET,
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
};

/** A signature for each of `count` open sessions; each can be sent once. */
export async function signedForSessions(
  db: Knex,
  accountId: string,
  count: number,
): Promise<PreparedRequest[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const sessions = await buildSessions(db, accountId, BATCH);
    ids.push(...sessions.map(({ id }) => id));
  }
  return signed(count, (n) => `/c/${ids[n]}`);
}

export function signed(count: number, pathOf: (n: number) => string): PreparedRequest[] {
  return Array.from({ length: count }, (_, n) => ({
    path: pathOf(n),
    headers: { 'PAYMENT-SIGNATURE': encodeHeader(payload()) },
  }));
}

/** Signatures are checked by the facilitator, and this one accepts any. */
function payload(): object {
  return {
    x402Version: 2,
    accepted: REQUIREMENTS,
    payload: {
      signature: `0x${'1b'.repeat(65)}`,
      authorization: {
        from: PAYER,
        to: REQUIREMENTS.payTo,
        value: REQUIREMENTS.amount,
        validAfter: '0',
        validBefore: String(Math.floor(Date.now() / 1000) + 290),
        nonce: `0x${randomBytes(32).toString('hex')}`,
      },
    },
  };
}
