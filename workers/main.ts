import path from 'node:path';
import { runProcess } from '../shared/startup/run-process.js';

const THREAD = `./webhook-delivery/sender-thread${path.extname(import.meta.url)}`;

// Most of the start is the time to load the code: a signal meanwhile ends the process.
await runProcess('worker', async (config, logger) => {
  const [{ startWorker }, { openSenderThread }, { separateReceivers }] = await Promise.all([
    import('./process/start-worker.js'),
    import('./webhook-delivery/open-sender-thread.js'),
    import('./webhook-delivery/separate-receivers.js'),
  ]);
  return await startWorker(config, logger, (options) =>
    separateReceivers((priority) =>
      openSenderThread(new URL(THREAD, import.meta.url), { ...options, priority }),
    ),
  );
});
