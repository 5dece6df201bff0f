import type { BenchServices } from './services.js';

/** What a benchmark prints of one contender or one size. */
export type Row = Record<string, string | number>;
export type Benchmark = (services: BenchServices) => Promise<Row[]>;
