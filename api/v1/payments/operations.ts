import { presentListedPayment } from '../../../shared/presenters/payment.js';
import { listPayments, readPayments } from '../../../shared/services/payments/list.js';
import type { Deps } from '../../deps.js';
import { inputParser } from '../../input/input-parser.js';
import { pageRequest } from '../../input/list-query.js';
import { answerList } from '../operation/answer-list.js';
import { type Operation, operation } from '../operation/operation.js';
import { ListPayments } from './schema.js';

export type PaymentOperations = Record<'listPayments', Operation>;

const parseList = inputParser(ListPayments);

export function paymentOperations({ db, heavyAnswers }: Deps): PaymentOperations {
  return {
    listPayments: operation(parseList, async (call, query) => {
      const page = await listPayments(db, call.principal, pageRequest(query));
      return answerList(heavyAnswers, call, page, {
        url: '/v1/payments',
        present: presentListedPayment,
        read: (ids) => readPayments(db, call.principal, ids),
      });
    }),
  };
}
