import { runLab } from './run-lab.mjs';

await runLab('lab/chaos/main.ts');
