import { Account } from '../accounts/model.js';
import { presentAccount } from '../accounts/present.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { noSuch } from '../errors/refusal.js';
import { Payable } from '../payables/model.js';
import { Payment } from '../payments/model.js';
import { presentOperatorPayment } from '../payments/present-operator.js';
import { presentPayable } from './show.js';
import { type Found, SEARCHES } from './statements/search.sql.js';

const MOST_LISTED = 20;

/**
 * Finds the newest objects of each kind, in all accounts, by a transaction, a wallet, a merchant's own order id or an email
 * address. Each account's part is read by an index.
 */
export async function searchByText(db: Knex, text: string, baseUrl: string): Promise<object> {
  const ids = await Promise.all(
    Object.values(SEARCHES).map(async (search) => {
      if (!search.isFor(text)) return [];
      return await runStatement<Found>(db, { name: undefined, text: search.sql }, [text, MOST_LISTED]);
    }),
  );
  const found = ids.flat();
  const of = (kind: Found['kind']): string[] => [
    ...new Set(found.flatMap((row) => (row.kind === kind ? [row.id] : []))),
  ];
  const [sessions, payments, accounts] = await Promise.all([
    Payable.query(db).findByIds(of('session')).orderBy('id', 'desc'),
    Payment.query(db).findByIds(of('payment')).orderBy('id', 'desc'),
    Account.query(db).findByIds(of('account')).orderBy('id'),
  ]);
  if (found.length === 0) throw noSuch('id, transaction, wallet, client_reference_id or email', text);
  const ofSessions = await Payment.query(db).findByIds(sessions.flatMap(({ paymentId }) => paymentId ?? []));
  const byId = new Map(ofSessions.map((payment) => [payment.id, payment]));
  return {
    checkout_sessions: sessions.map((session) => {
      const { lineItems: _, ...shown } = session;
      const payment = byId.get(session.paymentId ?? '') ?? null;
      return {
        ...presentPayable(Object.assign(new Payable(), shown, { payment }), baseUrl),
        account: session.accountId,
      };
    }),
    payments: payments.map((payment) => ({
      ...presentOperatorPayment(payment),
      account: payment.accountId,
    })),
    accounts: accounts.map(presentAccount),
  };
}
