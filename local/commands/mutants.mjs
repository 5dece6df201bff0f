import { runLab } from './run-lab.mjs';

await runLab('lab/mutants/main.ts');
