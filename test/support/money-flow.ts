import assert from 'node:assert/strict';
import { raw } from 'objection';
import { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { startFacilitator } from '../../lab/world/facilitator/facilitator.js';
import type { Movement } from '../../lab/world/facilitator/judgement.js';
import { judgeHistory } from '../../lab/world/history/judge-history.js';
import { NO_RECENT_WRITES } from '../../shared/accounts/recent-writes.js';
import { createChains } from '../../shared/chains/chains.js';
import { EndpointQueues } from '../../shared/chains/rpc/endpoint-queues.js';
import { type Config, loadConfig } from '../../shared/config/config.js';
import { openCommitMemory } from '../../shared/db/commit-memory.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import { leaveToSweep } from '../../shared/queues/delivery-notifier.js';
import type { Queues } from '../../shared/queues/enqueue.js';
import { createSecretBox } from '../../shared/secrets/secrets.js';
import { newId } from '../../shared/values/ids.js';
import { Event } from '../../shared/webhooks/model.js';
import { openUnlimitedFacilitators } from '../../shared/x402/facilitator/facilitators.js';
import type { WorkerDeps } from '../../workers/deps/deps.js';
import { openWorkerMetrics } from '../../workers/deps/worker-metrics.js';
import { confirmPayment } from '../../workers/jobs/confirm-payment.js';
import { settlePayment } from '../../workers/jobs/settle-payment.js';
import { openOutsideCalls } from '../../workers/settlement/outside-calls.js';
import { type Checkout, openCheckout } from './checkout.js';
import { type Kind, recordedMoves } from './kinds.js';
import { loggerWithLines } from './log-lines.js';
import { createMigratedDatabase, testServices } from './suite.js';

/** A checkout with its own database and chain, whose books can be compared with the facilitator's ledger. */
export interface MoneyFlow extends Checkout {
  chain: EvmChain;
  databaseUrl: string;
  /** A direct connection to the database, without the proxies between it and the service. */
  db: Knex;
  /** The settings of a web or worker process of its own. */
  settings: Record<string, string>;
  onlyPayment(sessionId: string): Promise<Payment>;
  /** Stands for the time until this session's payments are due. */
  letTimePass(sessionId: string): Promise<void>;
  assertBooks(): Promise<void>;
  /** Excludes earlier sessions and movements from `assertBooks`. */
  startNewBooks(): void;
  /** Opens a worker without timers and queues: the test calls its handlers. */
  openManualWorker(settings?: Record<string, string>): ManualWorker;
}

/** Dependencies of a change of status that notifies no worker. */
export const EVENT_DEPS = { baseUrl: 'https://pay.example', notifyDeliveries: leaveToSweep };

export interface ManualWorker {
  deps: WorkerDeps;
  /** Its log lines of level `warn` and above. */
  log: Record<string, unknown>[];
  /** Moves the clock to the payment's due time and does the due work. */
  doNext(paymentId: string): Promise<void>;
}

interface MoneyFlowOptions {
  environment?: Record<string, string>;
  worker?: boolean;
  kind?: Kind;
  /** Settings that depend on the database's address. */
  around?: (databaseUrl: string) => Promise<Record<string, string>>;
}

export async function openMoneyFlow(name: string, options: MoneyFlowOptions = {}): Promise<MoneyFlow> {
  const { kind = 'session' } = options;
  const databaseUrl = await createMigratedDatabase(name);
  const db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'migrate').database);
  const chain = await startLivelyChain();
  const facilitator = await startFacilitator({ onSettled: (movement) => moveOnChain(chain, movement) });
  const environment = {
    DATABASE_URL: databaseUrl,
    RPC_URL_EIP155_84532: chain.endpoint.url,
    ...options.environment,
    ...(await options.around?.(databaseUrl)),
  };
  const checkout = await openCheckout({ facilitator, worker: options.worker ?? true, kind, environment });
  const opened: WorkerDeps[] = [];
  let page = { since: '', movements: 0 };
  return {
    ...checkout,
    chain,
    databaseUrl,
    db,
    settings: {
      DATABASE_URL: databaseUrl,
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: facilitator.url,
      RPC_URL_EIP155_84532: chain.endpoint.url,
      BASE_URL: 'https://pay.example',
      RATE_LIMIT_LINK_PER_MINUTE: '1000000',
    },
    async onlyPayment(sessionId) {
      const payments = await Payment.query(db).where({ payableId: sessionId });
      const [payment] = payments;
      assert.equal(payments.length, 1);
      assert.ok(payment !== undefined);
      return payment;
    },
    async letTimePass(sessionId) {
      await Payment.query(db)
        .patch({
          dueAt: raw(`least(due_at, now()) - interval '50 ms'`),
          settleAskedAt: raw(`settle_asked_at - interval '90 s'`),
          settleEndedAt: raw(`settle_ended_at - interval '90 s'`),
        })
        .where({ payableId: sessionId })
        .whereNotNull('dueAt');
    },
    async assertBooks() {
      const sessions = await Payable.query(db)
        .where({ accountId: checkout.merchant.accountId })
        .where('id', '>', page.since);
      await assertBooks(db, sessions, facilitator.ledger.slice(page.movements));
    },
    startNewBooks() {
      page = { since: newId(kind === 'session' ? 'cs_test_' : 're_'), movements: facilitator.ledger.length };
    },
    openManualWorker(settings = {}) {
      const set = { ...environment, FACILITATOR_URL: facilitator.url, BASE_URL: 'https://pay.example' };
      const config = loadConfig({ ...set, ...settings, DATABASE_URL: databaseUrl }, 'worker');
      const manualWorker = openManualWorker(config, db);
      opened.push(manualWorker.deps);
      return manualWorker;
    },
    async close() {
      for (const deps of opened) {
        await deps.facilitators.close();
        deps.chains.close();
      }
      await checkout.close();
      await chain.close();
      await db.destroy();
      // The clock goes back last: before, the chain's blocks would be ahead of it.
      resetClock();
    },
  };
}

export function openManualWorker(config: Config, db: Knex): ManualWorker {
  const queues: Queues = {
    enqueue: async () => undefined,
    check: async () => undefined,
    depths: async () => [],
    open: async () => [],
    close: async () => undefined,
  };
  const { logger, lines: log } = loggerWithLines('warn');
  const facilitators = openUnlimitedFacilitators(config.facilitators);
  const endpointQueues = new EndpointQueues({ pace: { firstPauseMs: 0, longestPauseMs: 0 } });
  const deps: WorkerDeps = {
    config,
    baseUrl: config.baseUrl,
    db,
    commits: openCommitMemory(() => {}),
    logger,
    recentWrites: NO_RECENT_WRITES,
    secretBox: createSecretBox(config.encryptionKeys),
    notifyDeliveries: EVENT_DEPS.notifyDeliveries,
    notifyDecided: () => {},
    queues,
    facilitators,
    // Tests move the clock, and would otherwise wait for pauses in real time.
    chains: createChains(config.rpcUrls, { queues: endpointQueues, confirmations: config.confirmations }),
    endpointQueues,
    metrics: openWorkerMetrics({ db, queues, logger, facilitators }),
    // The test waits for the end of each call.
    settleCalls: openOutsideCalls('settle-payment', 100, logger, 600_000),
    chainChecks: openOutsideCalls('confirm-payment', 100, logger, 600_000),
  };
  return {
    deps,
    log,
    async doNext(paymentId) {
      const { stage, dueAt } = await Payment.query(db).findById(paymentId).throwIfNotFound();
      assert.ok(stage !== null && dueAt !== null, `nothing is due for ${paymentId}`);
      advanceClock(Math.max(0, dueAt.getTime() - nowMs() + 1));
      if (stage === 'settle') await settlePayment(deps, { paymentId });
      else await confirmPayment(deps, { paymentId });
    },
  };
}

/** Mines a block whenever the newest one is read, as if a second had passed. */
async function startLivelyChain(): Promise<EvmChain> {
  const chain = await EvmChain.start(84532);
  chain.endpoint.onCall = (method) => {
    if (method === 'eth_getBlockByNumber') chain.mine();
  };
  return chain;
}

export function moveOnChain(chain: EvmChain, movement: Movement): void {
  const { asset, from, to, amount, paymentId, transaction } = movement;
  chain.movePayment({ asset, from, payTo: to, amount, nonce: paymentId }, transaction);
}

/**
 * Asserts the invariants once no work is due: every payment is decided; each movement of money is one succeeded
 * payment, which completed its session or is surplus, and no payment succeeded without one; each session has
 * exactly the events of its changes of status.
 */
async function assertBooks(
  db: Knex,
  sessions: readonly Payable[],
  ledger: readonly Movement[],
): Promise<void> {
  const ids = sessions.map(({ id }) => id);
  const payments = await Payment.query(db).whereIn('payableId', ids);
  const events = await Event.query(db).whereIn('payableId', ids).orderBy('id');
  assert.deepEqual(
    [...sessions, ...payments].filter(({ status }) => status === 'processing').map(({ id }) => id),
    [],
    'undecided sessions or payments',
  );

  assert.deepEqual(payments.flatMap(judgeHistory), [], 'recorded histories against the policy');
  const moved = new Map(ledger.map((movement) => [keyOf(movement), movement]));
  assert.equal(moved.size, ledger.length, 'an authorization moved money twice');
  const succeeded = payments.filter(({ status }) => status === 'succeeded');
  assert.deepEqual(
    succeeded.map(({ payloadKey, transaction }) => `${payloadKey} ${transaction}`).sort(),
    [...moved].map(([key, { transaction }]) => `${key} ${transaction}`).sort(),
    'movements of money against succeeded payments',
  );

  for (const session of sessions) {
    const own = succeeded.filter(({ payableId }) => payableId === session.id);
    const counted = own.filter(({ surplus }) => !surplus);
    const types = await recordedMoves(db, session.id);
    assert.equal(new Set(types).size, types.length, `an event of ${session.id} came twice`);
    assert.equal(types.includes('checkout.session.completed'), session.status === 'complete', session.id);
    if (session.status === 'complete') {
      assert.deepEqual(
        counted.map(({ id }) => id),
        [session.paymentId],
        `what completed ${session.id}`,
      );
      const last = events.filter(({ payableId }) => payableId === session.id).at(-1);
      assert.match(JSON.stringify(last?.object), new RegExp(counted[0]?.transaction ?? 'none'));
    } else {
      assert.deepEqual([own.length, session.paymentId], [0, null], `${session.id} is paid but not complete`);
      assert.equal(types.includes('checkout.session.expired'), session.status === 'expired', session.id);
    }
  }
}

function keyOf({ network, asset, from, paymentId }: Movement): string {
  return [network, asset, from, paymentId].join(':').toLowerCase();
}
