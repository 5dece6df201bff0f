import type { BenchServices } from '../system/services.js';

/** One row of a benchmark's table. */
export type Row = Record<string, string | number>;
export type Benchmark = (services: BenchServices) => Promise<Row[]>;
