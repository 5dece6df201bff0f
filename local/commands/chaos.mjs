import { runLab } from './run-lab.mjs';

const ACTORS = ['buyers', 'chain', 'facilitator', 'receiver', 'solana'].map(
  (name) => `lab/chaos/actors/${name}.ts`,
);

await runLab('lab/chaos/main.ts', [...ACTORS, 'lab/chaos/weight/trade.ts']);
