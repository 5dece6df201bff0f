import { buildRefund } from '../../lab/world/shop/factories.js';
import type { Knex } from '../../shared/db/knex.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { now } from '../../shared/process/clock.js';

/** The refunded payment's transaction: one name, so that two ways of writing leave the same rows. */
const REFUNDED = `0x${'ef'.repeat(32)}`;

/** Rows by table. */
export type Rows = Record<string, Record<string, unknown>[]>;

/** A refund takes the place of the payment's session. */
export async function moveToRefund(db: Knex, payment: Payment): Promise<string> {
  const held = { status: 'processing', paymentId: payment.id } as const;
  const { id } = await buildRefund(db, payment.accountId, held, {
    livemode: payment.livemode,
    transaction: REFUNDED,
  });
  await Payable.query(db).patch({ status: 'open', paymentId: null }).where('id', payment.payableId);
  await Payment.query(db).patch({ payableId: id }).where('id', payment.id);
  return id;
}

export async function rowsOf(db: Knex, accountId: string): Promise<Rows> {
  const events = db('events').where('account_id', accountId);
  return {
    payments: await db('payments').where('account_id', accountId).orderBy('id'),
    payables: await db('payables').where('account_id', accountId).orderBy('id'),
    events: await events.clone().orderBy('id'),
    webhook_deliveries: await db('webhook_deliveries')
      .whereIn('event_id', events.clone().select('id'))
      .orderBy('endpoint_id'),
  };
}

/** Ids are named in the order in which they appear, and times by how they lie to the moment of the outcome. */
export function nameless<T extends object>(left: T): T {
  const names = new Map<string, string>();
  const text = JSON.stringify(left)
    .replaceAll(/\b([a-z]{2,4}(?:_test|_live)?)_[0-9a-z]{20,}/gi, (id, prefix: string) => {
      const known = names.get(id) ?? `${prefix}-${names.size}`;
      names.set(id, known);
      return known;
    })
    .replaceAll(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/g, (quoted, at: string) => {
      if (at.startsWith('2026-11-01') || at.startsWith('1970')) return quoted;
      const seconds = Math.round((Date.parse(at) - now().getTime()) / 10_000);
      return `"now + ${seconds * 10} s"`;
    })
    .replaceAll(/"created":\d+|"expires_at":\d+|"settled_at":\d+/g, '"then":0');
  return JSON.parse(text);
}
