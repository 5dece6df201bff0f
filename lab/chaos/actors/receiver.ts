import { nowMs } from '../../../shared/process/clock.js';
import { seededRandom } from '../../world/chance/seeded-random.js';
import {
  answer,
  hangFor,
  isSigned,
  type Reaction,
  type ReceivedEvent,
  reset,
  startReceiver,
} from '../../world/receiver/receiver.js';
import type { Received } from '../journals/entries.js';
import { Journal } from '../journals/journal.js';
import { connectToRun } from './actor.js';

/** The merchant's webhook receiver: verifies and records each delivery, and fails often until recovery. */
const HANG_MS = 12_000;
/** Shares of attempts that fail: at the steady endpoint only first attempts of an event, at the others any attempt. */
const STEADY_FAILING_SHARE = 0.1;
const FAILING_SHARE = 0.3;

const { settings, ready, onOrder } = connectToRun<{ seed: number; journal: string; steady: string }>();
const journal = new Journal<Received>(settings.journal);
const random = seededRandom(settings.seed);
const secrets = new Map<string, string>();
const failedOnce = new Set<string>();
let hasRecovered = false;

interface Session {
  id: string;
  status: string;
  payment: { transaction: string } | null;
}

interface Refund {
  id: string;
  status: string;
  transaction: string | null;
}

interface EventBody {
  id: string;
  type: string;
  created: number;
  data: { object: Session | Refund };
}

const receiver = await startReceiver();
receiver.react((response, event) => reactionTo(event)(response, event));

function reactionTo(event: ReceivedEvent): Reaction {
  const endpoint = event.path.split('/').at(-1) ?? '';
  const secret = secrets.get(endpoint);
  // The endpoint was just enabled: the merchant has not read its secret yet.
  if (secret === undefined) return answer(503);
  const { id, type, created, data }: EventBody = JSON.parse(event.raw);
  const verified = isSigned(event, secret);
  const reaction = verified ? chooseReaction(endpoint, id) : 400;
  const { object } = data;
  const { id: sessionId, status } = object;
  const transaction = 'transaction' in object ? object.transaction : (object.payment?.transaction ?? null);
  journal.write({
    at: nowMs(),
    endpoint,
    verified,
    ...(!verified && isSigned(event, secret, Number.POSITIVE_INFINITY) && { untimely: true }),
    reaction,
    eventId: id,
    type,
    created,
    sessionId,
    status,
    transaction,
  });
  if (reaction === 'reset') return reset;
  if (reaction === 'hang') return hangFor(HANG_MS);
  return answer(reaction, '', reaction === 302 ? { location: '/elsewhere' } : {});
}

function chooseReaction(endpoint: string, eventId: string): Received['reaction'] {
  const share = endpoint === settings.steady ? STEADY_FAILING_SHARE : FAILING_SHARE;
  const hadItsFailure = endpoint === settings.steady && failedOnce.has(eventId);
  if (hasRecovered || hadItsFailure || random() >= share) return 200;
  failedOnce.add(eventId);
  const draw = random();
  if (draw < 0.1) return 'hang';
  return draw < 0.4 ? 'reset' : draw < 0.7 ? 500 : 302;
}

onOrder({
  addSecret: ({ endpoint = '', secret = '' }) => secrets.set(endpoint, secret),
  recover() {
    hasRecovered = true;
  },
});
ready({ url: receiver.url });
