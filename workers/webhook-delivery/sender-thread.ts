import { parentPort, workerData } from 'node:worker_threads';
import { openSenderHere } from './sender.js';
import type { FromThread, ToThread } from './sender-in-thread.js';

// The entry of the thread that sender-in-thread.ts opens.
const sender = openSenderHere(workerData);

parentPort?.on('message', ({ number, webhook }: ToThread) => {
  // A rejection ends the thread, as an error of the sender itself.
  void sender.send(webhook).then((sent) => {
    const answer: FromThread = { number, sent };
    parentPort?.postMessage(answer);
  });
});
