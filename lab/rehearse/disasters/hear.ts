import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '../../world/processes/processes.js';
import type { Deployment } from '../deployment/deployment.js';
import { type Disaster, nameOf, type Sign } from './disaster.js';

const PATIENCE_MS = 120_000;
const LISTEN_EVERY_MS = 250;

/** A restarted process has another pid, and its log begins anew. */
interface Logged {
  pid: number;
  length: number;
}

/** Returns a report of one line, the alerts that were not heard and the alerts that did not end. */
export async function hear(
  disaster: Disaster,
  deployment: Deployment,
): Promise<{ report: string; failures: string[] }> {
  const { alertmanager } = deployment;
  const alerts = disaster.signs.flatMap((sign) => ('alert' in sign ? [sign.alert] : []));
  // The step before may still be heard of.
  await until(performance.now(), async () => !alerts.some(alertmanager.isFiring));
  const before = alerts.map((alert) => alertmanager.beginnings(alert));
  const processes = [...deployment.webs, ...deployment.workers];
  const logged = new Map(processes.map((one) => [one, { pid: one.pid, length: one.bytes().length }]));
  const beganAt = performance.now();
  const end = await disaster.strike(deployment);
  const failures: string[] = [];
  const heard = await Promise.all(
    disaster.signs.map(async (sign) => {
      const ms = await until(beganAt, () => isHeard(sign, deployment, logged));
      if (ms === undefined) failures.push(`${disaster.name}: ${nameOf(sign)} was not heard`);
      return `${nameOf(sign)} after ${seconds(ms)}`;
    }),
  ).finally(end);
  const undone = (await disaster.answer?.(deployment)) ?? [];
  failures.push(...undone.map((one) => `${disaster.name}: ${one}`));
  if (disaster.isOverAtOnce === false) return { report: heard.join(', '), failures };
  const endedAt = performance.now();
  const overMs = await until(
    endedAt,
    async () => !alerts.some(alertmanager.isFiring) && (await isReady(deployment)),
  );
  if (overMs === undefined) failures.push(`${disaster.name}: it was still heard of after its end`);
  const repeated = alerts.filter((alert, index) => alertmanager.beginnings(alert) > (before[index] ?? 0) + 1);
  const again = repeated.length === 0 ? '' : `; more than once: ${repeated.join(', ')}`;
  return { report: `${heard.join(', ')}; over after ${seconds(overMs)}${again}`, failures };
}

async function until(sinceMs: number, holds: () => Promise<boolean>): Promise<number | undefined> {
  for (
    const endsAt = performance.now() + PATIENCE_MS;
    performance.now() < endsAt;
    await sleep(LISTEN_EVERY_MS)
  )
    if (await holds()) return performance.now() - sinceMs;
  return undefined;
}

async function isHeard(
  sign: Sign,
  deployment: Deployment,
  logged: ReadonlyMap<ServiceProcess, Logged>,
): Promise<boolean> {
  if ('alert' in sign) return deployment.alertmanager.isFiring(sign.alert);
  if ('readyz' in sign)
    return (await readiness(deployment)).some((text) => text.includes(`"${sign.readyz}"`));
  const line = `"event":"${sign.line}"`;
  return [...logged].some(([one, { pid, length }]) =>
    one
      .bytes()
      .subarray(one.pid === pid ? length : 0)
      .includes(line),
  );
}

async function isReady(deployment: Deployment): Promise<boolean> {
  const answers = await readiness(deployment);
  return answers.every((text) => text.includes('"ready"') && !text.includes('"degraded"'));
}

async function readiness({ webs }: Deployment): Promise<string[]> {
  return await Promise.all(
    webs.map(async ({ port }) => await (await fetch(`http://127.0.0.1:${port}/readyz`)).text()),
  );
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? 'no time' : `${(ms / 1000).toFixed(1)} s`;
}
