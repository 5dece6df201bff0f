import { runProcess } from '../shared/startup/run-process.js';
import { startWorker } from './process/start-worker.js';

await runProcess('worker', startWorker);
