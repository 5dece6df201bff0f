import type { Payable } from '../../../shared/payables/model.js';
import { payableStatusOf } from '../../../shared/payables/refund-statuses.js';
import { isFinal } from '../../../shared/payables/states.js';
import { cancelRefund } from '../../../shared/refunds/cancel.js';
import { createRefund } from '../../../shared/refunds/create.js';
import { presentRefund } from '../../../shared/refunds/present.js';
import { REFUND_COLUMNS } from '../../../shared/refunds/present-csv.js';
import { getRefund, listRefunds, type RefundFilter, readRefunds } from '../../../shared/refunds/read.js';
import type { Deps } from '../../deps/deps.js';
import { createdRange } from '../../input/created-filter.js';
import { inputParser, parseNothing } from '../../input/input-parser.js';
import { pageRequest } from '../../input/list-query.js';
import { listOrTable, tableOperation } from '../operation/answer-csv.js';
import { answerList } from '../operation/answer-list.js';
import { fanOutCharger } from '../operation/charge-fan-out.js';
import { idempotentOperation, objectId, operation } from '../operation/operation.js';
import { namedPayment, newRefund } from './input.js';
import { CancelRefund, CreateRefund, ListRefunds, TableRefunds } from './schema.js';

const parseCreate = inputParser(CreateRefund);
const parseCancel = inputParser(CancelRefund);
const parseList = inputParser(ListRefunds);
const parseTable = inputParser(TableRefunds);
const OBJECT = 'refund';

export function refundOperations(deps: Deps) {
  const { connections, accountReads, config, notifyDeliveries, heavyAnswers } = deps;
  const { baseUrl } = config;
  const events = { baseUrl, notifyDeliveries };
  const charge = fanOutCharger(deps);
  const present = (refund: Payable): object => presentRefund(refund, baseUrl);
  const render = (refund: Payable): string => JSON.stringify(present(refund));

  const list = operation(parseList, async (call, query) => {
    const { principal } = call;
    const page = await accountReads(principal, (from) =>
      listRefunds(from, principal, pageRequest(query), filterOf(query)),
    );
    return answerList(heavyAnswers, call, page, {
      url: '/v1/refunds',
      present,
      read: (ids) => accountReads(principal, (from) => readRefunds(from, principal, ids)),
    });
  });
  const table = tableOperation(heavyAnswers, parseTable, ({ principal }, query) => {
    const filter = filterOf(query);
    return {
      columns: REFUND_COLUMNS,
      list: (page) => accountReads(principal, (from) => listRefunds(from, principal, page, filter)),
      read: (ids) => accountReads(principal, (from) => readRefunds(from, principal, ids)),
    };
  });

  return {
    createRefund: idempotentOperation(deps, parseCreate, async (call, input, idempotent) => {
      const { principal } = call;
      const refund = newRefund(input);
      await charge(call, { kind: 'refund', id: refund.paymentId }, idempotent);
      const { walletThatPaid } = await import('../../../shared/x402/wallet-that-paid.js');
      const db = connections.of(principal.accountId);
      return await createRefund(db, principal, refund, { ...events, walletThatPaid }, { render, idempotent });
    }),
    listRefunds: listOrTable(list, table),
    retrieveRefund: operation(parseNothing, async (call) => {
      const { principal } = call;
      const id = objectId(call, OBJECT);
      return present(await accountReads(principal, (from) => getRefund(from, principal, id), isFinal));
    }),
    cancelRefund: idempotentOperation(deps, parseCancel, async (call, _input, idempotent) => {
      const id = objectId(call, OBJECT);
      await charge(call, { kind: 'cancel', id }, idempotent);
      const db = connections.of(call.principal.accountId);
      return await cancelRefund(db, call.principal, id, events, { render, idempotent });
    }),
  };
}

function filterOf(query: TableRefunds): RefundFilter {
  const { status, created } = query;
  return {
    status: status && payableStatusOf(status),
    paymentId: namedPayment(query)?.id,
    ...createdRange(created, 're_'),
  };
}
