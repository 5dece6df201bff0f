import { presentList } from '../../../shared/presenters/list.js';
import { presentListedPayment } from '../../../shared/presenters/payment.js';
import { listPayments } from '../../../shared/services/payments/list.js';
import type { Deps } from '../../deps.js';
import { inputParser } from '../../input/input-parser.js';
import { pageRequest } from '../../input/list-query.js';
import { type Operation, operation } from '../operation/operation.js';
import { ListPayments } from './schema.js';

export type PaymentOperations = Record<'listPayments', Operation>;

const parseList = inputParser(ListPayments);

export function paymentOperations({ db }: Deps): PaymentOperations {
  return {
    listPayments: operation(parseList, async ({ principal }, query) => {
      const page = await listPayments(db, principal, pageRequest(query));
      return presentList('/v1/payments', page.data.map(presentListedPayment), page.hasMore);
    }),
  };
}
