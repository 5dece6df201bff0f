import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { Payment } from '../../../shared/payments/model.js';
import { nowMs } from '../../../shared/process/clock.js';
import type { EvmPayload } from '../../../shared/x402/wire.js';
import { buildSession } from '../../world/shop/factories.js';
import type { Stage } from '../stage/stage.js';
import type { Setup } from '../steps.js';
import { ModelChain } from './chain.js';
import { Journal, type Run } from './journal.js';

/** One trial's sessions, its buyers' payloads, its chain, and what is known of them. */
export interface World {
  stage: Stage;
  setup: Setup;
  chain: ModelChain;
  journal: Journal;
  sessionIds: readonly string[];
  payloads: readonly Payload[];
  /** As they were seen last, in the order in which they were claimed. */
  payments: Payment[];
  steps: number;
  /** The links' answers, counted. */
  said: Map<string, number>;
}

/** What a buyer signs when it first sends it. */
export interface Payload {
  name: string;
  nonce: Hex;
  from: Hex;
  validSeconds: number;
  identifier: string | undefined;
  validBeforeSeconds: number | undefined;
}

const BUYERS: readonly Hex[] = [`0x${'b1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];
const SESSION_MS = 3_600_000;

export async function openWorld(stage: Stage, setup: Setup): Promise<World> {
  const expiresAt = new Date(nowMs() + SESSION_MS);
  const sessionIds: string[] = [];
  for (let index = 0; index < setup.sessions; index += 1)
    sessionIds.push((await buildSession(stage.db, stage.accountId, { expiresAt })).id);
  return {
    stage,
    setup,
    chain: new ModelChain(),
    journal: new Journal(),
    sessionIds,
    payloads: setup.payloads.map(({ buyer, validSeconds, named }, index) => ({
      name: `payload ${index}`,
      nonce: randomHex(32),
      from: BUYERS[buyer % BUYERS.length] ?? '0x',
      validSeconds,
      identifier: named ? 'one-name-for-all-of-them' : undefined,
      validBeforeSeconds: undefined,
    })),
    payments: [],
    steps: 0,
    said: new Map(),
  };
}

export function randomHex(bytes: number): Hex {
  return `0x${randomBytes(bytes).toString('hex')}`;
}

export function at<T>(list: readonly T[], index: number): T | undefined {
  return list[index % list.length];
}

/** Signed now, unless it was before. */
export function sign({ stage: { accepted } }: World, payload: Payload): EvmPayload {
  payload.validBeforeSeconds ??= Math.floor(nowMs() / 1000) + payload.validSeconds;
  return {
    signature: `0x${'5e'.repeat(65)}`,
    authorization: {
      from: payload.from,
      to: accepted.payTo,
      value: accepted.amount,
      validAfter: '0',
      validBefore: String(payload.validBeforeSeconds),
      nonce: payload.nonce,
    },
  };
}

/** Reads the payments, and notes whom `by` has failed. */
export async function observe(world: World, by: 'operator' | Run | undefined): Promise<void> {
  const before = new Map(world.payments.map((payment) => [payment.id, payment]));
  world.payments = await Payment.query(world.stage.db)
    .whereIn('checkoutSessionId', [...world.sessionIds])
    .orderBy('id');
  for (const { id, failedAt } of world.payments) {
    if (failedAt === null || before.get(id)?.failedAt || by === undefined) continue;
    world.journal.failings.push({ paymentId: id, atMs: nowMs(), by });
  }
}

export function nonceOf(payment: Payment): string {
  return payment.payloadKey.split(':').at(-1) ?? '';
}
