import { runLab } from './run-lab.mjs';

await runLab('lab/rehearse/main.ts');
