import { useEnvironment } from './environment.js';
import { testServices } from './suite.js';

/** Points the operator's commands to the suite's database, or to another one, for the rest of the file. */
export function useCliDatabase(url: () => string = () => testServices().databaseUrl): void {
  useEnvironment(() => ({ DATABASE_URL: url() }));
}
