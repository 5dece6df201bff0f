import type { Principal } from '../accounts/api-keys.js';
import type { Knex } from '../db/knex.js';
import { runStatement, type Statement } from '../db/statement.js';
import { Refusal } from '../errors/refusal.js';
import { MAX_PENDING_DELIVERIES } from '../limits/bounds.js';
import { shareAnswers } from '../limits/share-answers.js';
import type { EventType } from './event-types.js';
import { COUNT_PENDING, EXPIRY_SIZE, REFUND_SIZE, RESEND_SIZE } from './statements/fan-out-size.sql.js';

/** A request that sends an event again, or writes one, and the id of the event, session, refund or payment that it names. */
export interface FanOutCause {
  kind: 'resend' | 'expire' | 'cancel' | 'refund';
  id: string;
}

/**
 * The number of deliveries that the request will write, one for each endpoint; 0 when it will be refused, as for an unknown
 * object. Read before anything is written, so that a refusal for its size costs no more than this.
 */
export async function fanOutSize(db: Knex, principal: Principal, cause: FanOutCause): Promise<number> {
  const type = EVENT_OF[cause.kind];
  const bindings = [principal.accountId, principal.livemode, cause.id, ...(type === undefined ? [] : [type])];
  const [row] = await runStatement<{ size: number }>(db, SIZE_OF[cause.kind], bindings);
  return row?.size ?? 0;
}

const SIZE_OF: Record<FanOutCause['kind'], Statement> = {
  resend: RESEND_SIZE,
  expire: EXPIRY_SIZE,
  cancel: EXPIRY_SIZE,
  refund: REFUND_SIZE,
};

/** An event that is sent again has its own type. */
const EVENT_OF: Record<FanOutCause['kind'], EventType | undefined> = {
  resend: undefined,
  expire: 'checkout.session.expired',
  cancel: 'refund.updated',
  refund: 'refund.created',
};

/** Refuses resends while MAX_PENDING_DELIVERIES of the account wait in both modes. Events themselves are always written. */
export type RequirePendingRoom = (db: Knex, accountId: string, deliveries: number) => Promise<void>;

/** How long a process's count of an account's pending deliveries is used; the process adds its own writes to it. */
const COUNTED_FOR_MS = 1000;
const ACCOUNTS_COUNTED = 10_000;
const RETRY_AFTER_SECONDS = 60;

export function createRequirePendingRoom(): RequirePendingRoom {
  const counted = shareAnswers<{ pending: number }>({ forMs: COUNTED_FOR_MS, keys: ACCOUNTS_COUNTED });
  return async (db, accountId, deliveries) => {
    const found = await counted(accountId, () => countPending(db, accountId));
    if (found.pending + deliveries <= MAX_PENDING_DELIVERIES) {
      found.pending += deliveries;
      return;
    }
    const most = MAX_PENDING_DELIVERIES.toLocaleString('en');
    throw new Refusal(
      'rate_limit',
      `At most ${most} deliveries of an account can be pending, and this request would exceed that. Wait until your endpoints have received some, or delete endpoints that receive none.`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  };
}

async function countPending(db: Knex, accountId: string): Promise<{ pending: number }> {
  const [row] = await runStatement<{ pending: number }>(db, COUNT_PENDING, [
    accountId,
    MAX_PENDING_DELIVERIES + 1,
  ]);
  return { pending: row?.pending ?? 0 };
}
