import { raw } from 'objection';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, nowMs } from '../../../shared/process/clock.js';
import type { Resolution } from '../../../shared/settlement/policy/by-operator.js';
import { LONGEST_UNREADABLE_MS } from '../../../shared/settlement/policy/limits.js';
import { resolvePayment } from '../../../shared/settlement/resolve.js';
import { expireSessions } from '../../../workers/jobs/expire-sessions.js';
import type { Mutant } from '../mutants/mutants.js';
import type { Step } from '../steps/steps.js';
import { verifierOf } from '../world/facilitator.js';
import { at, nonceOf, observe, type Payload, randomHex, type World } from '../world/world.js';
import { askLink, payLink } from './pay.js';
import { playWork } from './work.js';

export interface Playing {
  depth: number;
  mutant: Mutant | undefined;
}

/** Plays steps in order; steps inside a step run during its call. */
export async function play(world: World, steps: readonly Step[], playing: Playing): Promise<void> {
  for (const step of steps) {
    world.steps += 1;
    await playStep(world, step, playing);
  }
}

async function playStep(world: World, step: Step, playing: Playing): Promise<void> {
  const inside = (steps: readonly Step[]) => async (): Promise<void> => {
    if (steps.length === 0) return;
    await observe(world, undefined);
    await play(world, steps, { ...playing, depth: playing.depth + 1 });
  };
  switch (step.do) {
    case 'pay': {
      const { verify } = step;
      const [sessionId, payload] = [at(world.sessionIds, step.session), at(world.payloads, step.payload)];
      if (sessionId === undefined || payload === undefined) return;
      return await payLink(world, sessionId, payload, { verify, meanwhile: inside(step.meanwhile) });
    }
    case 'ask':
      return await askLink(world, at(world.sessionIds, step.session) ?? '');
    case 'work': {
      const within = { stalled: inside(step.stalled), meanwhile: inside(step.meanwhile) };
      return await playWork(world, step, { ...playing, ...within });
    }
    case 'pass':
      return advanceClock(step.seconds * 1000);
    case 'expire':
      return await expire(world, at(world.sessionIds, step.session));
    case 'halt chain':
      return world.chain.halt();
    case 'resume chain':
      return world.chain.resume();
    case 'silent day':
      return await silentDay(world);
    case 'cancel':
      return cancel(world, at(world.payloads, step.payload));
    case 'resolve':
      return await resolve(world, at(world.payments, step.payment));
  }
}

async function expire(world: World, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  const { db } = world.system;
  await CheckoutSession.query(db)
    .patch({ expiresAt: new Date(nowMs()) })
    .where({ id });
  await runExpiry(world);
}

/** Runs the expiry that a worker runs each second. */
export async function runExpiry(world: World): Promise<void> {
  await expireSessions(workerDeps(world));
}

/** Sets every silence back by a day, instead of 2,880 checks that say the same. */
async function silentDay({ system: { db }, journal, payments }: World): Promise<void> {
  const silent = await Payment.query(db)
    .patch({ unreadableSince: raw(`unreadable_since - interval '1 day'`) })
    .whereIn(
      'id',
      payments.map(({ id }) => id),
    )
    .whereNotNull('unreadableSince')
    .returning('id');
  const ids = new Set(silent.map(({ id }) => id));
  for (const check of journal.checks) if (ids.has(check.run.paymentId)) check.atMs -= LONGEST_UNREADABLE_MS;
}

function cancel({ chain }: World, payload: Payload | undefined): void {
  if (payload?.validBeforeSeconds === undefined) return;
  const { nonce, validBeforeSeconds } = payload;
  const transaction = randomHex(32);
  chain.send({
    kind: 'cancels',
    nonce,
    transaction,
    paymentId: undefined,
    validBeforeSeconds,
    atMs: nowMs(),
  });
}

/**
 * An operator resolves a payment only if the chain proves it: paid when it was, failed when its money cannot move any
 * more.
 */
async function resolve(world: World, payment: Payment | undefined): Promise<void> {
  if (payment?.status !== 'processing') return;
  const resolution = truth(world, payment);
  if (resolution === undefined) return;
  await resolvePayment(workerDeps(world), payment.id, resolution);
  await observe(world, 'operator');
}

function truth({ chain }: World, payment: Payment): Resolution | undefined {
  const used = chain.used(nonceOf(payment));
  if (used?.kind === 'pays') return { kind: 'paid', transaction: used.transaction };
  const isOver = chain.head() * 1000 > payment.validUntil.getTime();
  return used !== undefined || isOver ? { kind: 'failed', reason: 'payment_failed' } : undefined;
}

function workerDeps(world: World): Parameters<typeof expireSessions>[0] {
  const { system, setup } = world;
  const [worker] = system.workers;
  if (worker === undefined) throw new Error('no worker');
  const chains = { check: () => Promise.reject(new Error('no chain check expected')), close: () => {} };
  const db = system.db;
  return {
    ...worker.deps,
    db,
    config: system.config(setup.confirmations),
    facilitators: verifierOf(world, 'honest'),
    chains,
  };
}
