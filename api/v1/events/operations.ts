import { soughtId } from '../../../shared/values/ids.js';
import { getEvent, listEvents, readEvents } from '../../../shared/webhooks/events.js';
import { renderEvent } from '../../../shared/webhooks/present.js';
import { resendOwnEvent } from '../../../shared/webhooks/resend.js';
import type { Deps } from '../../deps/deps.js';
import { createdRange } from '../../input/created-filter.js';
import { inputParser, parseNothing } from '../../input/input-parser.js';
import { pageRequest } from '../../input/list-query.js';
import { answerList } from '../operation/answer-list.js';
import { fanOutCharger } from '../operation/charge-fan-out.js';
import { idempotentOperation, objectId, operation } from '../operation/operation.js';
import { ListEvents, ResendEvent } from './schema.js';

const parseList = inputParser(ListEvents);
const parseResend = inputParser(ResendEvent);
const OBJECT = 'event';

const sought = (id: string | undefined): string | undefined => id && soughtId(id);

export function eventOperations(deps: Deps) {
  const { connections, accountReads, heavyAnswers, notifyDeliveries, requirePendingRoom } = deps;
  const charge = fanOutCharger(deps);
  return {
    listEvents: operation(parseList, async (call, query) => {
      const { type, checkout_session: checkoutSession, created } = query;
      const filter = { type, checkoutSession: sought(checkoutSession), ...createdRange(created, 'evt_') };
      const { principal } = call;
      const page = await accountReads(principal, (from) =>
        listEvents(from, principal, pageRequest(query), filter),
      );
      return answerList(heavyAnswers, call, page, {
        url: '/v1/events',
        render: (event) => [renderEvent(event)],
        read: (ids) => accountReads(principal, (from) => readEvents(from, principal, ids)),
      });
    }),
    retrieveEvent: operation(parseNothing, async (call) => {
      const { principal } = call;
      const id = objectId(call, OBJECT);
      return renderEvent(await accountReads(principal, (from) => getEvent(from, principal, id)));
    }),
    resendEvent: idempotentOperation(deps, parseResend, async (call, input, idempotent) => {
      const resend = { eventId: objectId(call, OBJECT), endpointId: sought(input.webhook_endpoint) };
      const { accountId } = call.principal;
      const db = connections.of(accountId);
      const requireRoom = (deliveries: number): Promise<void> =>
        requirePendingRoom(db, accountId, deliveries);
      if (resend.endpointId !== undefined) await requireRoom(1);
      else await charge(call, { kind: 'resend', id: resend.eventId }, idempotent, requireRoom);
      return await resendOwnEvent(db, call.principal, resend, notifyDeliveries, {
        render: renderEvent,
        idempotent,
      });
    }),
  };
}
