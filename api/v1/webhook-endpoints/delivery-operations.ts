import { listDeliveries, readDeliveries } from '../../../shared/webhooks/deliveries.js';
import { presentWebhookDelivery } from '../../../shared/webhooks/present.js';
import type { Deps } from '../../deps/deps.js';
import { inputParser } from '../../input/input-parser.js';
import { pageRequest } from '../../input/list-query.js';
import { answerList } from '../operation/answer-list.js';
import { objectId, operation } from '../operation/operation.js';
import { ListDeliveries } from './schema.js';

const parseList = inputParser(ListDeliveries);

export function deliveryOperations({ accountReads, heavyAnswers }: Deps) {
  return {
    listWebhookDeliveries: operation(parseList, async (call, query) => {
      const { principal } = call;
      const id = objectId(call, 'webhook endpoint');
      const page = await accountReads(principal, (db) =>
        listDeliveries(db, principal, id, pageRequest(query), query.status),
      );
      return answerList(heavyAnswers, call, page, {
        url: `/v1/webhook_endpoints/${id}/deliveries`,
        present: presentWebhookDelivery,
        read: (ids) => accountReads(principal, (db) => readDeliveries(db, principal, id, ids)),
      });
    }),
  };
}
