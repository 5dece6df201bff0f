import { Router } from 'express';
import { presentList } from '../../../shared/presenters/list.js';
import { presentListedPayment } from '../../../shared/presenters/payment.js';
import { listPayments } from '../../../shared/services/payments/list.js';
import type { Deps } from '../../deps.js';
import { methodNotAllowed } from '../../errors/no-such-route.js';
import { inputParser } from '../../input/input-parser.js';
import { pageRequest } from '../../input/list-query.js';
import { queryOf } from '../../middleware/parse-body.js';
import { principalOf } from '../../request-context.js';
import { sendJson } from '../../send-json.js';
import { ListPayments } from './schema.js';

const parseList = inputParser(ListPayments);

export function paymentRoutes({ db }: Deps): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/')
    .get(async (req, res) => {
      const page = await listPayments(db, principalOf(req), pageRequest(parseList(queryOf(req))));
      const data = page.data.map(presentListedPayment);
      sendJson(res, JSON.stringify(presentList('/v1/payments', data, page.hasMore)));
    })
    .all(methodNotAllowed('GET, HEAD'));
  return router;
}
