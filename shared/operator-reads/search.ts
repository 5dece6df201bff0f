import { Account } from '../accounts/model.js';
import { presentAccount } from '../accounts/present.js';
import { runStatement } from '../db/statement.js';
import { noSuch } from '../errors/refusal.js';
import { Payable } from '../payables/model.js';
import { Payment } from '../payments/model.js';
import { presentOperatorPayment } from '../payments/present-operator.js';
import { getById, presentPayable, type ShowContext, type Shown } from './show.js';
import { type Found, SEARCHES } from './statements/search.sql.js';

const MOST_LISTED = 20;

/**
 * Finds objects in all accounts by a transaction, a wallet, a merchant's own order id or an email address: one is shown as
 * by its id; of several, the newest of each kind are listed. Every part is read by an index.
 */
export async function searchByText({ db, baseUrl }: ShowContext, text: string): Promise<Shown> {
  const ids = await Promise.all(
    Object.values(SEARCHES).map(async (search) => {
      if (!search.isFor(text)) return [];
      return await runStatement<Found>(db, { text: search.sql }, [text, MOST_LISTED]);
    }),
  );
  const found = ids.flat();
  const [first] = found;
  if (first === undefined) throw noSuch('id, transaction, wallet, client_reference_id or email', text);
  if (found.every(({ id }) => id === first.id)) return await getById({ db, baseUrl }, first.id);
  return { answer: await listFound({ db, baseUrl }, found) };
}

async function listFound({ db, baseUrl }: ShowContext, found: readonly Found[]): Promise<object> {
  const newest = (kind: Found['kind']): string[] => {
    const ids = new Set(found.flatMap((row) => (row.kind === kind ? [row.id] : [])));
    return [...ids].sort().reverse().slice(0, MOST_LISTED);
  };
  const [sessions, payments, accounts] = await Promise.all([
    Payable.query(db).findByIds(newest('session')).orderBy('id', 'desc'),
    Payment.query(db).findByIds(newest('payment')).orderBy('id', 'desc'),
    Account.query(db).findByIds(newest('account')).orderBy('id'),
  ]);
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
