import { runProcess } from '../shared/startup/run-process.js';
import { startWeb } from './process/start-web.js';

await runProcess('web', startWeb);
