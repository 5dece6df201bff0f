import type { System } from '../system/system.js';

/** One row of a benchmark's table. */
export type Row = Record<string, string | number>;
export type Benchmark = (system: System) => Promise<Row[]>;
