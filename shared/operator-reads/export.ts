import type { Knex } from '../db/knex.js';
import { Payment } from '../payments/model.js';
import { presentListedPayment, SHOWN_PAYMENT_FIELDS } from '../payments/present.js';
import { PAYMENT_COLUMNS } from '../payments/present-csv.js';
import { Refund } from '../refunds/model.js';
import { presentRefund, SHOWN_REFUND_FIELDS } from '../refunds/present.js';
import { REFUND_COLUMNS } from '../refunds/present-csv.js';
import { lowestIdAt } from '../values/ids.js';
import { type Columns, csvLine, headLine } from '../wire/csv.js';

/** A whole list of one account for its accountant: live mode, then test mode, each with the newest first. */
export interface Export {
  /** The first line of the table. */
  head: string;
  /** The objects of the list one after the other, read a page at a time: each as a line of the table, and as JSON. */
  rows: AsyncIterable<{ csv: string; json: string }>;
}

export const EXPORTS = { payments: exportPayments, refunds: exportRefunds };

interface ExportRange {
  accountId: string;
  from: Date | undefined;
  before: Date | undefined;
  baseUrl: string;
}

type ReadPage<T> = (livemode: boolean, lowestId: string, belowId: string) => Promise<T[]>;

const PAGE_ROWS = 1000;

/** The payments of a merchant's list: they succeeded. */
function exportPayments(db: Knex, range: ExportRange): Export {
  const read: ReadPage<Payment> = async (livemode, lowestId, belowId) =>
    await Payment.query(db)
      .select(...SHOWN_PAYMENT_FIELDS, 'payableId')
      .where({ accountId: range.accountId, livemode, status: 'succeeded' })
      .where('payableId', 'like', 'cs\\_%')
      .where('id', '>=', lowestId)
      .where('id', '<', belowId)
      .orderBy('id', 'desc')
      .limit(PAGE_ROWS);
  return exportOf('pay_', range, PAYMENT_COLUMNS, read, presentListedPayment);
}

function exportRefunds(db: Knex, range: ExportRange): Export {
  const read: ReadPage<Refund> = async (livemode, lowestId, belowId) => {
    const refunds = await Refund.query(db)
      .select(...SHOWN_REFUND_FIELDS, 'paymentId')
      .where({ accountId: range.accountId, livemode })
      .where('id', '>=', lowestId)
      .where('id', '<', belowId)
      .orderBy('id', 'desc')
      .limit(PAGE_ROWS);
    const ids = refunds.flatMap(({ paymentId }) => paymentId ?? []);
    const payments = await Payment.query(db)
      .select(...SHOWN_PAYMENT_FIELDS)
      .findByIds(ids);
    const byId = new Map(payments.map((payment) => [payment.id, payment]));
    return refunds.map((one) => Object.assign(one, { payment: byId.get(one.paymentId ?? '') ?? null }));
  };
  return exportOf('re_', range, REFUND_COLUMNS, read, (refund) => presentRefund(refund, range.baseUrl));
}

function exportOf<T extends { id: string }>(
  prefix: 'pay_' | 're_',
  { from, before }: Pick<ExportRange, 'from' | 'before'>,
  columns: Columns<T>,
  read: ReadPage<T>,
  present: (object: T) => object,
): Export {
  const lowestId = lowestIdAt(prefix, from?.getTime() ?? 0);
  const highestId = lowestIdAt(prefix, before?.getTime() ?? Number.MAX_SAFE_INTEGER);
  async function* rows(): Export['rows'] {
    for (const livemode of [true, false]) {
      for (let belowId: string | undefined = highestId; belowId !== undefined; ) {
        const page: T[] = await read(livemode, lowestId, belowId);
        for (const object of page)
          yield { csv: csvLine(columns, object), json: JSON.stringify(present(object)) };
        belowId = page.length < PAGE_ROWS ? undefined : page.at(-1)?.id;
      }
    }
  }
  return { head: headLine(columns), rows: rows() };
}
