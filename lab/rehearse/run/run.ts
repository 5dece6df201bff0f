import { setTimeout as sleep } from 'node:timers/promises';
import { type Around, type Deployment, openDeployment } from '../deployment/deployment.js';
import type { Disaster } from '../disasters/disaster.js';
import { DISASTERS } from '../disasters/disasters.js';
import { hear } from '../disasters/hear.js';
import { lossOfCommits } from '../disasters/lost-commits.js';
import { Trade, type Traded } from '../trade/trade.js';
import { STEPS, type Step } from './steps.js';

interface RehearsalOptions {
  /** How long each step is watched. */
  seconds: number;
  /** Leaves out the disasters that take long. */
  isShort: boolean;
  print(text: string): void;
}

const TOLD_WITHIN_MS = 60_000;
const TARGETS = 4;
/** Alerts that the rehearsal itself causes. */
const EXPECTED_ALERTS = DISASTERS.flatMap(({ signs }) => signs).flatMap((sign) =>
  'alert' in sign ? [sign.alert] : [],
);

/** Returns the failures; none when everything held. */
export async function rehearse(
  { seconds, isShort, print }: RehearsalOptions,
  around: Around,
): Promise<string[]> {
  print(
    'Starting Postgres, a standby, PgBouncer, Redis, two web and two worker processes, HAProxy, Prometheus and Alertmanager …\n',
  );
  const deployment = await openDeployment(around);
  const trade = new Trade(deployment);
  const failures: string[] = [];
  for (const step of STEPS) {
    trade.take();
    failures.push(...(await step.run(deployment, seconds)));
    const traded = trade.take();
    print(`${line(step, traded)}\n`);
    if (step.unnoticed && traded.lost.length > 0)
      failures.push(`${step.name}: ${traded.lost.length} requests were lost, ${summary(traded)}`);
  }
  const strike = async (disasters: readonly Disaster[]): Promise<void> => {
    for (const disaster of disasters.filter(({ isLong = false }) => !(isShort && isLong))) {
      trade.take();
      const { report, failures: unheard } = await hear(disaster, deployment);
      const { lost } = trade.take();
      print(`${disaster.name.padEnd(38)} ${report}\n`);
      failures.push(...unheard);
      if (disaster.unnoticed && lost.length > 0)
        failures.push(`${disaster.name}: ${lost.length} requests were lost`);
    }
  };
  trade.slowDown();
  await strike(DISASTERS);
  await trade.end();
  failures.push(...(await findMissing(deployment, trade)), ...(await checkPrometheus(deployment)));
  const sold = trade.sold.size;
  await strike(lossOfCommits(trade));
  print(`${sold} sessions, each paid once and notified.\n`.repeat(failures.length === 0 ? 1 : 0));
  return failures;
}

/** Requires that every session is paid, its money moved once, and its event was delivered. */
async function findMissing({ facilitator, receiver }: Deployment, { sold }: Trade): Promise<string[]> {
  const failures: string[] = [];
  const unpaid = [...sold].filter(([, isPaid]) => !isPaid).map(([id]) => id);
  if (unpaid.length > 0)
    failures.push(`${unpaid.length} of ${sold.size} sessions stayed unpaid, ${unpaid[0]}`);
  if (facilitator.ledger.length !== sold.size)
    failures.push(`for ${sold.size} sessions money moved ${facilitator.ledger.length} times`);
  const unnotified = (): string[] => {
    const notified = new Set(receiver.got.map(({ raw }) => JSON.parse(raw).data.object.id));
    return [...sold.keys()].filter((id) => !notified.has(id));
  };
  for (const endsAt = performance.now() + TOLD_WITHIN_MS; unnotified().length > 0; await sleep(250)) {
    if (performance.now() < endsAt) continue;
    failures.push(`${unnotified().length} sessions without a received event, ${unnotified()[0]}`);
    break;
  }
  return failures;
}

async function checkPrometheus({ prometheus }: Deployment): Promise<string[]> {
  const failures: string[] = [];
  const up = await prometheus.targetsUp();
  if (up !== TARGETS) failures.push(`Prometheus reaches ${up} of ${TARGETS} processes`);
  const broken = await prometheus.brokenRules();
  if (broken > 0) failures.push(`Prometheus failed to evaluate ${broken} rules`);
  const firing = (await prometheus.firing()).filter((name) => !EXPECTED_ALERTS.includes(name));
  if (firing.length > 0) failures.push(`firing alerts: ${[...new Set(firing)].join(', ')}`);
  return failures;
}

function line({ name }: Step, traded: Traded): string {
  const { requests, lost, longestMs } = traded;
  const words = lost.length === 0 ? 'none lost' : `${lost.length} lost (${summary(traded)})`;
  return `${name.padEnd(38)} ${String(requests).padStart(6)} requests, ${words}, the longest ${Math.round(longestMs)} ms`;
}

function summary({ lost }: Traded): string {
  const counts = new Map<string, number>();
  for (const { request, answer } of lost) {
    const what = `${request} ${answer}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${what} × ${count}`).join(', ');
}
