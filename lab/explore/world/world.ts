import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import { Payment } from '../../../shared/payments/model.js';
import { nowMs } from '../../../shared/process/clock.js';
import type { EvmPayload } from '../../../shared/x402/wire.js';
import { buildSession } from '../../world/shop/factories.js';
import type { Setup } from '../steps/steps.js';
import type { System } from '../system/system.js';
import { ModelChain } from './chain.js';
import { Journal, type Run } from './journal.js';

/** The sessions, payloads, chain and journal of a trial. */
export interface World {
  system: System;
  setup: Setup;
  chain: ModelChain;
  journal: Journal;
  sessionIds: readonly string[];
  payloads: readonly Payload[];
  /** The rows as they were last read, in the order of their claims. */
  payments: Payment[];
  steps: number;
  /** The number of link answers, by kind. */
  linkAnswers: Map<string, number>;
}

/** A buyer's payload; it is signed when it is first sent. */
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

export async function openWorld(system: System, setup: Setup): Promise<World> {
  const expiresAt = new Date(nowMs() + SESSION_MS);
  const sessionIds: string[] = [];
  for (let index = 0; index < setup.sessions; index += 1)
    sessionIds.push((await buildSession(system.db, system.accountId, { expiresAt })).id);
  return {
    system,
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
    linkAnswers: new Map(),
  };
}

export function randomHex(bytes: number): Hex {
  return `0x${randomBytes(bytes).toString('hex')}`;
}

export function at<T>(list: readonly T[], index: number): T | undefined {
  return list[index % list.length];
}

/** Signs a payload; a second call returns the same signature. */
export function sign({ system: { accepted } }: World, payload: Payload): EvmPayload {
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

/** Reads the payments, and records which ones `by` has failed. */
export async function observe(world: World, by: 'operator' | Run | undefined): Promise<void> {
  const before = new Map(world.payments.map((payment) => [payment.id, payment]));
  world.payments = await Payment.query(world.system.db)
    .whereIn('payableId', [...world.sessionIds])
    .orderBy('id');
  for (const { id, failedAt, failureCode: code } of world.payments) {
    if (failedAt === null || before.get(id)?.failedAt || by === undefined) continue;
    world.journal.failedPayments.push({ paymentId: id, code, atMs: nowMs(), by });
  }
}

export function nonceOf(payment: Payment): string {
  return payment.payloadKey.split(':').at(-1) ?? '';
}
