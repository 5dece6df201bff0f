import { runProcess } from '../shared/run-process.js';
import { startWorker } from './start-worker.js';

await runProcess('worker', startWorker);
