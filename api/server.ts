import { runProcess } from '../shared/run-process.js';
import { startWeb } from './start-web.js';

await runProcess('web', startWeb);
