import {
  hang,
  type Reaction,
  type ReceivedEvent,
  type Receiver,
  startReceiver,
} from '../../lab/world/receiver/receiver.js';
import { buildEndpoints, buildMerchant } from '../../lab/world/shop/factories.js';
import { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { recordSessionEvents } from '../../shared/checkout-sessions/record-events.js';
import type { Knex } from '../../shared/db/knex.js';
import { leaveToSweep } from '../../shared/queues/delivery-notifier.js';
import { newId } from '../../shared/values/ids.js';
import type { TestApp } from './app.js';

/** An account with many endpoints, each a path of one of its receivers; the receivers do not answer until `react`. */
export interface BusyAccount {
  accountId: string;
  endpointIds: readonly string[];
  receivers: readonly Receiver[];
  /** The tries that have arrived at its receivers. */
  got(): ReceivedEvent[];
  /**
   * Records expired sessions of this account with their events, in one transaction; `leftToSweep` notifies no
   * worker.
   */
  sendEvents(
    events: number,
    options?: { leftToSweep?: boolean; metadata?: Record<string, string> },
  ): Promise<void>;
  react(reaction: Reaction): void;
  close(): Promise<void>;
}

export interface AccountSize {
  hosts: number;
  endpointsPerHost: number;
}

export async function openBusyAccount(
  app: TestApp,
  { hosts, endpointsPerHost }: AccountSize,
): Promise<BusyAccount> {
  const { accountId } = await buildMerchant(app.db, { name: 'BusyAccount' });
  const receivers = await Promise.all(Array.from({ length: hosts }, () => startReceiver()));
  for (const receiver of receivers) receiver.react(hang);
  const endpointIds = await buildEndpoints(app.db, accountId, hosts * endpointsPerHost, (index) => {
    const n = 1 + (index % endpointsPerHost);
    return {
      url: `${receivers[Math.floor(index / endpointsPerHost)]?.url}/${n}`,
      sealedSecret: app.secretBox.seal(`whsec_${Buffer.alloc(32, n).toString('base64')}`),
    };
  });
  return {
    accountId,
    endpointIds,
    receivers,
    got: () => receivers.flatMap(({ got }) => got),
    async sendEvents(events, { leftToSweep = false, metadata = {} } = {}) {
      const notifyDeliveries = leftToSweep ? leaveToSweep : app.notifyDeliveries;
      await recordExpired(app.db, { accountId, metadata }, events, notifyDeliveries);
    },
    react(reaction) {
      for (const receiver of receivers) receiver.react(reaction);
    },
    async close() {
      await Promise.all(receivers.map((receiver) => receiver.close()));
    },
  };
}

export async function recordExpired(
  db: Knex,
  session: Pick<CheckoutSession, 'accountId' | 'metadata'>,
  events: number,
  notifyDeliveries: typeof leaveToSweep,
): Promise<void> {
  const expired = () => ({
    id: newId('cs_test_'),
    livemode: false,
    status: 'expired' as const,
    amountTotalCents: 450,
    lineItems: [],
    expiresAt: new Date(),
    ...session,
  });
  await db.transaction(async (trx) => {
    const rows = Array.from({ length: events }, expired);
    const sessions = await CheckoutSession.query(trx).insert(rows).returning('*');
    const deps = { baseUrl: 'https://pay.example', notifyDeliveries };
    await recordSessionEvents(trx, 'checkout.session.expired', sessions, deps);
  });
}
