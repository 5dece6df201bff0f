import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { nowMs } from '../../../shared/process/clock.js';
import { honestWork } from '../steps/steps.js';
import { passUntil } from '../world/time.js';
import { observe, type World } from '../world/world.js';
import { askLink } from './pay.js';
import { type Playing, play, runExpiry } from './play.js';

const MOST_WORK = 300;

/**
 * All parties become honest, and time passes until nothing is due and every transaction in flight has landed or
 * expired.
 */
export async function recover(world: World, playing: Playing): Promise<void> {
  world.chain.resume();
  await doAllWork(world, playing);
  passUntil(world.chain.settledAtMs());
  await doAllWork(world, playing);
  for (const id of world.sessionIds) await askLink(world, id);
  const sessions = CheckoutSession.query(world.system.db).whereIn('id', [...world.sessionIds]);
  for (const { expiresAt } of await sessions) passUntil(expiresAt.getTime());
  await runExpiry(world);
}

async function doAllWork(world: World, playing: Playing): Promise<void> {
  await observe(world, undefined);
  for (let count = 0; count < MOST_WORK; count += 1) {
    const next = nextDue(world);
    if (next === undefined) return;
    await play(world, [honestWork(next)], playing);
  }
  world.journal.violations.push(`work is left undone at ${new Date(nowMs()).toISOString()}`);
}

function nextDue({ payments }: World): number | undefined {
  const due = payments
    .flatMap(({ dueAt }, index) => (dueAt === null ? [] : [{ index, atMs: dueAt.getTime() }]))
    .sort((a, b) => a.atMs - b.atMs);
  return due[0]?.index;
}
