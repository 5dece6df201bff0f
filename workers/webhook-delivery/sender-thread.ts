import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { batchPerTurn } from '../../shared/process/batch-per-turn.js';
import type { FromThread, ThreadOptions, ToThread } from './open-sender-thread.js';
import { openSenderHere } from './sender.js';

// The entry of the thread that open-sender-thread.ts opens.

/** Added to the process' niceness. On a busy processor Linux then gives the other threads three times as much time. */
const NICER_BY = 5;

const options: ThreadOptions = workerData;
if (options.priority === 'low') lowerPriority();
const sender = openSenderHere(options);

const answer = batchPerTurn<FromThread>((batch) => parentPort?.postMessage(batch));

parentPort?.on('message', (batch: ToThread[]) => {
  for (const { number, webhook } of batch) {
    // A rejection ends the thread, as an error of the sender itself.
    void sender.send(webhook).then((sent) => answer({ number, sent }));
  }
});

/** Linux has a priority for each thread, which Node sets by the thread's number. Elsewhere there is no such file. */
function lowerPriority(): void {
  try {
    const [, thread] = readlinkSync('/proc/thread-self').split('/task/');
    setPriority(Number(thread), Math.min(getPriority() + NICER_BY, constants.priority.PRIORITY_LOW));
  } catch {
    // Without a lower priority all threads have an equal share of the processors.
  }
}
