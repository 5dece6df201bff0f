import path from 'node:path';
import { runProcess } from '../shared/startup/run-process.js';
import { startWorker } from './process/start-worker.js';
import { openSenderThread } from './webhook-delivery/open-sender-thread.js';
import { separateReceivers } from './webhook-delivery/separate-receivers.js';

const THREAD = `./webhook-delivery/sender-thread${path.extname(import.meta.url)}`;

await runProcess('worker', (config, logger) =>
  startWorker(config, logger, (options) =>
    separateReceivers((priority) =>
      openSenderThread(new URL(THREAD, import.meta.url), { ...options, priority }),
    ),
  ),
);
