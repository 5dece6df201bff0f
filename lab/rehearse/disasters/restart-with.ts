import { restart } from '../../world/processes/processes.js';
import type { Deployment } from '../deployment/deployment.js';

/** Restarts one worker after the other, as a release does. */
export async function restartWith(
  workers: Deployment['workers'],
  overrides: Record<string, string>,
): Promise<void> {
  for (const worker of workers) {
    worker.overrides = overrides;
    await restart(worker, 'SIGTERM');
  }
}
