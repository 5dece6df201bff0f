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
import { leaveToSweep } from '../../shared/queues/notify-deliveries.js';
import { newId } from '../../shared/values/ids.js';
import type { TestApp } from './app.js';

/** An account of its own with many endpoints, each a path of one of its receivers, which hang until they are told otherwise. */
export interface Crowd {
  accountId: string;
  endpointIds: readonly string[];
  receivers: readonly Receiver[];
  /** The tries that have been begun, whatever came of them. */
  got(): ReceivedEvent[];
  /** Expired sessions of this account in one transaction, with their events. */
  tell(events: number, options?: { quietly?: boolean; metadata?: Record<string, string> }): Promise<void>;
  react(reaction: Reaction): void;
  close(): Promise<void>;
}

export interface CrowdSize {
  hosts: number;
  endpointsPerHost: number;
}

export async function openCrowd(app: TestApp, { hosts, endpointsPerHost }: CrowdSize): Promise<Crowd> {
  const { accountId } = await buildMerchant(app.db, { name: 'Crowd' });
  const receivers = await Promise.all(Array.from({ length: hosts }, () => startReceiver()));
  const endpointIds: string[] = [];
  for (const receiver of receivers) {
    receiver.react(hang);
    for (let n = 1; n <= endpointsPerHost; n += 1) {
      const sealedSecret = app.secretBox.seal(`whsec_${Buffer.alloc(32, n).toString('base64')}`);
      const url = `${receiver.url}/${n}`;
      endpointIds.push(...(await buildEndpoints(app.db, accountId, 1, { url, sealedSecret })));
    }
  }
  return {
    accountId,
    endpointIds,
    receivers,
    got: () => receivers.flatMap(({ got }) => got),
    async tell(events, { quietly = false, metadata = {} } = {}) {
      const notifyDeliveries = quietly ? leaveToSweep : app.notifyDeliveries;
      await tellExpired(app.db, { accountId, metadata }, events, notifyDeliveries);
    },
    react(reaction) {
      for (const receiver of receivers) receiver.react(reaction);
    },
    async close() {
      await Promise.all(receivers.map((receiver) => receiver.close()));
    },
  };
}

async function tellExpired(
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
