import { CheckoutSession } from '../shared/models/checkout-session.js';
import { answer, startReceiver } from '../test/support/receiver.js';
import { newSession, openBench, until } from './checkout-data.js';
import type { Row } from './main.js';
import type { BenchServices } from './services.js';

const OVERDUE = 50_000;
const BATCH = 1000;

/** Overdue sessions, each with its event and one delivery, expired by one worker process; and when all were delivered. */
export async function expire(services: BenchServices): Promise<Row[]> {
  const bench = await openBench(services);
  const receiver = await startReceiver();
  receiver.react(answer(200));
  await bench.addEndpoint(receiver.url);
  for (let made = 0; made < OVERDUE; made += BATCH) {
    const sessions = Array.from({ length: BATCH }, () => newSession(bench.accountId, 'open'));
    await bench.db('checkoutSessions').insert(sessions);
  }
  await bench.startWorker();
  const began = performance.now();
  await until(async () => {
    const open = await CheckoutSession.query(bench.db).where('status', 'open').select('id').first();
    return open === undefined;
  });
  const expiredSeconds = (performance.now() - began) / 1000;
  const { rows } = await bench.db.raw<{ rows: { events: number; deliveries: number }[] }>(
    `SELECT (SELECT count(*)::int FROM events) AS events, (SELECT count(*)::int FROM webhook_deliveries) AS deliveries`,
  );
  const delivered = receiver.got.length;
  await Promise.all([receiver.close(), bench.close()]);
  return [
    {
      what: `${OVERDUE} overdue sessions, one worker`,
      seconds: Math.round(expiredSeconds * 10) / 10,
      events: rows[0]?.events ?? 0,
      deliveries: rows[0]?.deliveries ?? 0,
      'delivered meanwhile': delivered,
    },
  ];
}
