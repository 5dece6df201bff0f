import { setTimeout as sleep } from 'node:timers/promises';
import { restart, type ServiceProcess } from '../../world/processes/processes.js';
import type { Deployment } from '../deployment/deployment.js';

/** A change of the deployment during sales. */
export interface Step {
  name: string;
  /** No request may be lost during the step. */
  unnoticed: boolean;
  /** Returns the step's own failures. */
  run(deployment: Deployment, seconds: number): Promise<string[]>;
}

const STOPS_WITHIN_MS = 25_000;

export const STEPS: readonly Step[] = [
  {
    name: 'nothing',
    unnoticed: true,
    run: async (_deployment, seconds) => {
      await sleep(seconds * 1000);
      return [];
    },
  },
  {
    name: 'each web process restarted',
    unnoticed: true,
    // A release waits for the balancer.
    run: ({ webs, untilAllServe }, seconds) => restartAll(webs, seconds, untilAllServe),
  },
  {
    name: 'each worker restarted',
    unnoticed: true,
    run: ({ workers }, seconds) => restartAll(workers, seconds, async () => undefined),
  },
  {
    name: 'a worker killed',
    unnoticed: true,
    run: async ({ workers }, seconds) => {
      if (workers[0] !== undefined) await restart(workers[0], 'SIGKILL');
      await sleep(seconds * 1000);
      return [];
    },
  },
  {
    // The killed process loses its requests in flight, which are sent again.
    name: 'a web process killed',
    unnoticed: false,
    run: async ({ webs, untilAllServe }, seconds) => {
      if (webs[0] !== undefined) await restart(webs[0], 'SIGKILL');
      await untilAllServe();
      await sleep(seconds * 1000);
      return [];
    },
  },
  {
    name: 'Redis gone, and empty when it is back',
    unnoticed: true,
    run: async ({ loseRedis }, seconds) => {
      await loseRedis(seconds * 1000);
      await sleep(seconds * 1000);
      return [];
    },
  },
];

/** Restarts one process after another, as a release does. */
async function restartAll(
  processes: readonly ServiceProcess[],
  seconds: number,
  untilAllServe: () => Promise<void>,
): Promise<string[]> {
  const failures: string[] = [];
  for (const one of processes) {
    await untilAllServe();
    const { code, ms } = await restart(one, 'SIGTERM');
    if (code !== 0) failures.push(`a ${one.name} process ended after SIGTERM with ${code}`);
    if (ms > STOPS_WITHIN_MS) failures.push(`a ${one.name} process took ${Math.round(ms)} ms to stop`);
    await sleep((seconds * 1000) / processes.length);
  }
  return failures;
}
