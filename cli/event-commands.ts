import { getAccount } from '../shared/accounts/accounts.js';
import type { Knex } from '../shared/db/knex.js';
import { isRefusal, messageOf } from '../shared/db/postgres-errors.js';
import { Refusal } from '../shared/errors/refusal.js';
import { now } from '../shared/process/clock.js';
import { EVENT_TYPES, type EventType } from '../shared/webhooks/event-types.js';
import type { WebhookEndpoint } from '../shared/webhooks/model.js';
import { resendEvent } from '../shared/webhooks/resend.js';
import {
  getReceiver,
  type ResendRange,
  type ResentCount,
  resendEventsSince,
} from '../shared/webhooks/resend-since.js';
import { type Command, type Input, PartialFailure, subjectOf } from './command.js';
import { UsageError } from './parse-command-line.js';
import { readPast } from './read-times.js';
import { PARTS_STAY } from './run-audited.js';

export const EVENT_COMMANDS: Readonly<Record<string, Command>> = {
  'resend-event': {
    usage: '<evt id> [--endpoint we_…]',
    subject: 'event',
    options: ['endpoint'],
    changes: 'at once',
    async run(db, input) {
      const event = subjectOf(input, 'event');
      const resent = await resendEvent(db, event, input.endpoint);
      return {
        event,
        deliveries: resent.map(({ deliveryId, endpointId }) => ({ id: deliveryId, endpoint: endpointId })),
      };
    },
  },
  'resend-events': {
    usage: '--since T [--until T] [--account acct_…] [--endpoint we_…] [--type T]',
    options: ['since', 'until', 'account', 'endpoint', 'type'],
    required: ['since'],
    // The deliveries of a day are too many for one transaction.
    changes: 'piecemeal',
    async run(db, input, audit) {
      const range = readRange(input);
      if (range.accountId !== undefined) await getAccount(db, range.accountId);
      const endpoint = await getReceiver(db, range);
      audit.about = range.endpointId ?? range.accountId;
      await audit.record(db);
      const count: ResentCount = { events: 0, deliveries: 0, through: undefined, unanswered: 0 };
      audit.tellIfEnded(() => `${PARTS_STAY} ${whereToGoOn(range, count, count.unanswered)}`);
      return await resend(db, range, endpoint, count);
    },
  },
};

function readRange({ since, until, account, endpoint, type }: Input): ResendRange {
  const range = {
    since: readPast('--since', since ?? ''),
    until: until === undefined ? now() : readPast('--until', until),
    accountId: account,
    endpointId: endpoint,
    type: readType(type),
  };
  if (range.since < range.until) return range;
  throw new UsageError('--since must be earlier than --until.');
}

function readType(text: string | undefined): EventType | undefined {
  const type = EVENT_TYPES.find((one) => one === text);
  if (type !== undefined || text === undefined) return type;
  throw new UsageError(`--type must be one of ${EVENT_TYPES.join(', ')}; it is "${text}".`);
}

async function resend(
  db: Knex,
  range: ResendRange,
  endpoint: WebhookEndpoint | undefined,
  count: ResentCount,
): Promise<object> {
  const answer = (): object => ({
    since: range.since.toISOString(),
    until: range.until.toISOString(),
    events: count.events,
    deliveries: count.deliveries,
  });
  try {
    await resendEventsSince(db, range, endpoint, count);
    return answer();
  } catch (error) {
    const unanswered = isRefusal(error) ? 0 : count.unanswered;
    if (error instanceof Refusal || (count.through === undefined && unanswered === 0)) throw error;
    throw new PartialFailure(
      `Stopped after ${count.events} events: ${messageOf(error)}. ${whereToGoOn(range, count, unanswered)}`,
      answer(),
    );
  }
}

/** `unanswered` is zero when Postgres refused the last statement. */
function whereToGoOn({ since }: ResendRange, { through }: ResentCount, unanswered: number): string {
  const next = unanswered === 0 ? '' : `The next ${unanswered} may have been sent as well. `;
  return `${next}Go on with --since ${(through ?? since).toISOString()}.`;
}
