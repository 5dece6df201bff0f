import { runLab } from './run-lab.mjs';

await runLab('lab/explore/main.ts');
