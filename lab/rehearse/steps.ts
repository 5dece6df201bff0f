import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from './deployment.js';
import type { ProcessOfService } from './process-of-service.js';

/** What is done to the deployment while it sells. */
export interface Step {
  name: string;
  /** Nobody may notice: no request is lost. */
  unnoticed: boolean;
  /** It gives what went wrong by itself. */
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
    // A release waits for its balancer.
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
      await workers[0]?.kill();
      await sleep(seconds * 1000);
      return [];
    },
  },
  {
    // What it was answering is lost, and sent again.
    name: 'a web process killed',
    unnoticed: false,
    run: async ({ webs, untilAllServe }, seconds) => {
      await webs[0]?.kill();
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

/** One after the other, as a release goes out. */
async function restartAll(
  processes: readonly ProcessOfService[],
  seconds: number,
  untilAllServe: () => Promise<void>,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const one of processes) {
    await untilAllServe();
    const { code, ms } = await one.restart();
    if (code !== 0) wrong.push(`a ${one.kind} process that was told to stop ended with ${code}`);
    if (ms > STOPS_WITHIN_MS) wrong.push(`a ${one.kind} process took ${Math.round(ms)} ms to stop`);
    await sleep((seconds * 1000) / processes.length);
  }
  return wrong;
}
