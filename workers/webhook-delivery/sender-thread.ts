import { parentPort, workerData } from 'node:worker_threads';
import type { FromThread, ToThread } from './open-sender-thread.js';
import { openSenderHere } from './sender.js';

// The entry of the thread that open-sender-thread.ts opens.
const sender = openSenderHere(workerData);

parentPort?.on('message', ({ number, webhook }: ToThread) => {
  // A rejection ends the thread, as an error of the sender itself.
  void sender.send(webhook).then((sent) => {
    const answer: FromThread = { number, sent };
    parentPort?.postMessage(answer);
  });
});
