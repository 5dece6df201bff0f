import { testServices } from './suite.js';

/** Points the operator's commands to the suite's database, or to another one, for the rest of the file. */
export function useCliDatabase(url: () => string = () => testServices().databaseUrl): void {
  const before_ = process.env.DATABASE_URL;
  before(() => {
    process.env.DATABASE_URL = url();
  });
  after(() => {
    if (before_ === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before_;
  });
}
