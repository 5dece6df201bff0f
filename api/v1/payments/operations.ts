import type { Payment } from '../../../shared/payments/model.js';
import { presentListedPayment } from '../../../shared/payments/present.js';
import { PAYMENT_COLUMNS } from '../../../shared/payments/present-csv.js';
import { getPayment, listPayments, type PaymentFilter, readPayments } from '../../../shared/payments/read.js';
import type { Deps } from '../../deps/deps.js';
import { createdRange } from '../../input/created-filter.js';
import { inputParser, parseNothing } from '../../input/input-parser.js';
import { pageRequest } from '../../input/list-query.js';
import { listOrTable, tableOperation } from '../operation/answer-csv.js';
import { answerList } from '../operation/answer-list.js';
import { objectId, operation } from '../operation/operation.js';
import { ListPayments, TablePayments } from './schema.js';

const parseList = inputParser(ListPayments);
const parseTable = inputParser(TablePayments);

export function paymentOperations({ accountReads, heavyAnswers }: Deps) {
  const list = operation(parseList, async (call, query) => {
    const { principal } = call;
    const page = await accountReads(principal, (db) =>
      listPayments(db, principal, pageRequest(query), filterOf(query)),
    );
    return answerList(heavyAnswers, call, page, {
      url: '/v1/payments',
      present: presentListedPayment,
      read: (ids) => accountReads(principal, (db) => readPayments(db, principal, ids)),
    });
  });
  const table = tableOperation(heavyAnswers, parseTable, ({ principal }, query) => {
    const filter = filterOf(query);
    return {
      columns: PAYMENT_COLUMNS,
      list: (page) => accountReads(principal, (db) => listPayments(db, principal, page, filter)),
      read: (ids) => accountReads(principal, (db) => readPayments(db, principal, ids)),
    };
  });

  return {
    listPayments: listOrTable(list, table),
    retrievePayment: operation(parseNothing, async (call) => {
      const { principal } = call;
      const id = objectId(call, 'payment');
      const isSettled = ({ status }: Payment): boolean => status === 'succeeded';
      return presentListedPayment(
        await accountReads(principal, (db) => getPayment(db, principal, id), isSettled),
      );
    }),
  };
}

function filterOf({ transaction, payer, token, network, ...query }: TablePayments): PaymentFilter {
  const { status = 'succeeded', checkout_session: checkoutSession, created } = query;
  return { status, transaction, payer, token, network, checkoutSession, ...createdRange(created, 'pay_') };
}
