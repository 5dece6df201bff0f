import { runProcess } from '../shared/startup/run-process.js';

// Most of the start is the time to load the code: a signal meanwhile ends the process.
await runProcess('web', async (config, logger) => {
  const { startWeb } = await import('./process/start-web.js');
  return await startWeb(config, logger);
});
