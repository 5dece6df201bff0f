import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import knexFactory from 'knex';
import { createApiKey } from '../../shared/accounts/api-keys.js';
import { archiveMonths } from '../../shared/archive/archive.js';
import { createCheckoutSession } from '../../shared/checkout-sessions/create.js';
import { findCheckoutSession, listCheckoutSessions } from '../../shared/checkout-sessions/read.js';
import { type DatabaseConfig, loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { migrate } from '../../shared/migrate.js';
import type { Payment } from '../../shared/payments/model.js';
import { nowMs } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import { makeMonthsAhead } from '../../shared/schema/by-month.js';
import { claimSession } from '../../shared/settlement/claim.js';
import { hasOverdueSessions } from '../../shared/settlement/expire-due.js';
import { findLinkedSession, findLinkState, isPayloadUsed } from '../../shared/settlement/read-link.js';
import { succeedSettled } from '../../shared/settlement/succeed-together.js';
import { beginSettlement, listDuePayments } from '../../shared/settlement/take-work.js';
import { newId } from '../../shared/values/ids.js';
import { monthAt, monthsAfter } from '../../shared/values/months.js';
import { findDueAccounts } from '../../shared/webhooks/find-due.js';
import { recordDelivered } from '../../shared/webhooks/record-success.js';
import { takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import type { Row } from './benchmark.js';
import { openUnhurried } from './growth/database.js';
import { medians } from './growth/medians.js';
import { seedMonths } from './growth/months.js';
import { BIG_ACCOUNT } from './growth/seed.js';
import { round } from './race.js';
import type { BenchServices } from './services.js';

const TIMES = 150;
const MONTHS = 60;
/** How many of them hold anything: fewer have as many rows each, sooner. */
const FILLED_MONTHS = Number(process.env.BENCH_MONTHS ?? MONTHS);
const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 1_200_000);
const FEW = 6000;
const EVENTS = { baseUrl: 'https://pay.example', ringDeliveries: () => {} };
const ROOM = { places: 20, ofHost: () => 20, fullHosts: [], bytesOfOne: 40_000 };
const ITEM = { name: 'Coffee', description: null, images: [], unitAmountCents: 450, quantity: 1 };

/**
 * What the statements of the hottest paths take where tables are kept by month, 60 of them: with many rows and with few, and
 * on whole tables with few. Each of one connection, in turn.
 */
export async function byMonth(services: BenchServices): Promise<Row[]> {
  const whole = await open(services, 'whole', { byMonth: false, sessions: FEW });
  const few = await open(services, 'few', { byMonth: true, sessions: FEW });
  const many = await open(services, 'many', { byMonth: true, sessions: SESSIONS });
  const all = [await actsOn(whole), await actsOn(few), await actsOn(many)];
  const rows: Row[] = [];
  for (const name of Object.keys(all[0] ?? {})) {
    const acts = all.map((each) => each[name] ?? (() => Promise.reject(new Error(name))));
    const [wholeMs = 0, fewMs = 0, manyMs = 0] = await medians(acts, TIMES);
    rows.push({
      figure: name,
      'whole ms': round(wholeMs),
      'by month ms': round(fewMs),
      'by month, grown ms': round(manyMs),
      cost: round(fewMs / wholeMs),
      growth: round(manyMs / fewMs),
    });
  }
  rows.push(...(await archiveOldest(many)));
  for (const db of [whole, few, many]) await db.destroy();
  return rows;
}

/** How long it takes in all, and for how long nobody else has the tables. */
async function archiveOldest(db: Knex): Promise<Row[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'by-month-'));
  const startedAt = performance.now();
  const before = monthsAfter(monthAt(nowMs()), 1 - FILLED_MONTHS);
  const { archived } = await archiveMonths(db, { before, folder, onWritten: async () => {} });
  const seconds = (performance.now() - startedAt) / 1000;
  await rm(folder, { recursive: true });
  return archived.map(({ part, removed, lockedMs }) => ({
    figure: `archive ${part.month}: ${removed} rows in ${round(seconds)} s, tables locked for`,
    'by month, grown ms': lockedMs,
  }));
}

async function open(
  { databaseUrl }: BenchServices,
  name: string,
  { byMonth: isByMonth, sessions }: { byMonth: boolean; sessions: number },
): Promise<Knex> {
  const server = knexFactory({ client: 'pg', connection: databaseUrl });
  await server.raw('CREATE DATABASE ??', [name]);
  await server.destroy();
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const config = loadConfig({ DATABASE_URL: url.href, DATABASE_POOL_SIZE: '2' }, 'migrate');
  await migrate(config, createLogger('silent', 'bench'), { byMonth: isByMonth });
  await fill(config.database, sessions);
  return openDatabase(config.database);
}

async function fill(database: DatabaseConfig, sessions: number): Promise<void> {
  const db = openUnhurried(database, 'SET session_replication_role = replica; SET synchronous_commit = off');
  const startedAt = performance.now();
  await makeMonthsAhead(db, { from: monthsAfter(monthAt(nowMs()), -MONTHS), ahead: MONTHS });
  await seedMonths(db, { months: FILLED_MONTHS, sessions }, (line) => {
    process.stderr.write(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}\n`);
  });
  await db.destroy();
}

type Acts = Record<string, () => Promise<unknown>>;

async function actsOn(db: Knex): Promise<Acts> {
  const { key } = await createApiKey(db, { accountId: BIG_ACCOUNT, livemode: false, name: 'Bench' });
  const principal = { accountId: BIG_ACCOUNT, livemode: false, keyId: key.id };
  const deps = { db, logger: createLogger('silent', 'bench'), ...EVENTS };
  const open: string[] = [];
  const claimed: string[] = [];
  const begun: Payment[] = [];
  const create = async (): Promise<void> => {
    const input = { items: [ITEM], metadata: {}, successUrl: null, cancelUrl: null, clientReferenceId: null };
    const reply = { render: ({ id }: { id: string }) => id, idempotent: undefined };
    open.push(
      await createCheckoutSession(
        db,
        principal,
        { ...input, customerEmail: null, expiresAtSeconds: undefined },
        reply,
      ),
    );
  };
  await create();
  const [first = ''] = open;
  const paid = (
    await db('payables').where({ accountId: BIG_ACCOUNT, status: 'complete' }).orderBy('id').first('id')
  ).id;
  return {
    create,
    retrieve: () => findCheckoutSession(db, principal, paid, { lineItems: false }),
    'list of ten': () =>
      listCheckoutSessions(db, principal, page(10), { status: undefined, ...NO_RANGE }, { lineItems: false }),
    link: () => findLinkedSession(db, first),
    'link, asked again': () => findLinkState(db, first),
    'signature used before?': () => isPayloadUsed(db, newId('pay_'), first),
    claim: async () => {
      const claim = await claimSession(db, paymentOf(open.pop() ?? ''), EVENTS);
      if (claim.kind !== 'claimed') throw new Error(`the claim was ${claim.kind}`);
      claimed.push(claim.paymentId);
    },
    'begin a settlement': async () => {
      const payment = await beginSettlement(db, claimed.pop() ?? '', 30_000);
      if (payment !== undefined) begun.push(payment);
    },
    succeed: async () => {
      const payment = begun.pop();
      if (payment === undefined) throw new Error('nothing was begun');
      const observation = { source: 'facilitator', said: 'settled' } as const;
      await succeedSettled(deps, { payment, transaction: '0xabc', payer: undefined, observation });
    },
    'take and record a delivery': async () => {
      const { deliveries } = await takeDueDeliveries(db, BIG_ACCOUNT, { ...ROOM, places: 1 });
      const [delivery] = deliveries;
      if (delivery === undefined) throw new Error('nothing was due');
      const entry = {
        at: new Date(nowMs()).toISOString(),
        durationMs: 5,
        status: 200,
        answer: null,
        error: null,
      };
      await recordDelivered(db, { delivery, entry, bytesToPassOn: 0 });
    },
    'sweep: payments': () => listDuePayments(db, ['settle', 'confirm', 'watch'], 500),
    'sweep: sessions': () => hasOverdueSessions(db),
    'sweep: deliveries': () => findDueAccounts(db, '', 1000),
  };
}

const NO_RANGE = { lowestId: undefined, belowId: undefined };

function page(limit: number) {
  return { limit, startingAfter: undefined, endingBefore: undefined };
}

function paymentOf(sessionId: string) {
  return {
    sessionId,
    token: 'USDC' as const,
    tokenAmount: '4500000',
    tokenDecimals: 6,
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    channel: 'x402' as const,
    identifier: null,
    payloadKey: newId('pay_'),
    requirements: {},
    payload: {},
    validUntil: new Date(nowMs() + 300_000),
  };
}
