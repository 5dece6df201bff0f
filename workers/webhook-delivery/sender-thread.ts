import { parentPort, workerData } from 'node:worker_threads';
import { batchPerTurn } from '../../shared/process/batch-per-turn.js';
import type { FromThread, ToThread } from './open-sender-thread.js';
import { openSenderHere } from './sender.js';

// The entry of the thread that open-sender-thread.ts opens.
const sender = openSenderHere(workerData);

const answer = batchPerTurn<FromThread>((batch) => parentPort?.postMessage(batch));

parentPort?.on('message', (batch: ToThread[]) => {
  for (const { number, webhook } of batch) {
    // A rejection ends the thread, as an error of the sender itself.
    void sender.send(webhook).then((sent) => answer({ number, sent }));
  }
});
