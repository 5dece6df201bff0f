import { payableStatusOf } from '../../../shared/domain/refund.js';
import type { Payable } from '../../../shared/models/payable.js';
import { presentRefund } from '../../../shared/presenters/refund.js';
import { cancelRefund } from '../../../shared/services/refunds/cancel.js';
import { createRefund } from '../../../shared/services/refunds/create.js';
import { getRefund, listRefunds, readRefunds } from '../../../shared/services/refunds/read.js';
import type { Deps } from '../../deps.js';
import { createdRange } from '../../input/created-range.js';
import { inputParser, parseNothing } from '../../input/input-parser.js';
import { pageRequest } from '../../input/list-query.js';
import { answerList } from '../operation/answer-list.js';
import { type Operation, objectId, operation, repeatableOperation } from '../operation/operation.js';
import { namedPayment, newRefund } from './input.js';
import { CancelRefund, CreateRefund, ListRefunds } from './schema.js';

export type RefundOperations = Record<
  'createRefund' | 'listRefunds' | 'retrieveRefund' | 'cancelRefund',
  Operation
>;

const parseCreate = inputParser(CreateRefund);
const parseCancel = inputParser(CancelRefund);
const parseList = inputParser(ListRefunds);
const OBJECT = 'refund';

export function refundOperations(deps: Deps): RefundOperations {
  const { db, config, ringDeliveries, heavyAnswers } = deps;
  const { baseUrl } = config;
  const events = { baseUrl, ringDeliveries };
  const present = (refund: Payable): object => presentRefund(refund, baseUrl);
  const render = (refund: Payable): string => JSON.stringify(present(refund));

  return {
    createRefund: repeatableOperation(deps, parseCreate, async ({ principal }, input, idempotent) => {
      const refund = newRefund(input);
      const { parseWalletOn: parseWallet } = await import('../../../shared/chains/wallet-address.js');
      return await createRefund(db, principal, refund, { ...events, parseWallet }, { render, idempotent });
    }),
    listRefunds: operation(parseList, async (call, query) => {
      const { principal } = call;
      const { status, created } = query;
      const page = await listRefunds(db, principal, pageRequest(query), {
        status: status && payableStatusOf(status),
        paymentId: namedPayment(query)?.id,
        ...createdRange(created, 're_'),
      });
      return answerList(heavyAnswers, call, page, {
        url: '/v1/refunds',
        present,
        read: (ids) => readRefunds(db, principal, ids),
      });
    }),
    retrieveRefund: operation(parseNothing, async (call) =>
      present(await getRefund(db, call.principal, objectId(call, OBJECT))),
    ),
    cancelRefund: repeatableOperation(deps, parseCancel, async (call, _input, idempotent) =>
      cancelRefund(db, call.principal, objectId(call, OBJECT), events, { render, idempotent }),
    ),
  };
}
