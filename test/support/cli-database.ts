import { testServices } from './suite.js';

/** Points the operator's commands to the suite's database, or to another one, for the rest of the file. */
export function useCliDatabase(url: () => string = () => testServices().databaseUrl): void {
  useEnvironment(() => ({ DATABASE_URL: url() }));
}

/** Sets variables of the environment, which commands read, for the rest of the file. */
export function useEnvironment(read: () => Record<string, string>): void {
  let earlier: (readonly [name: string, value: string | undefined])[] = [];
  before(() => {
    const set = read();
    earlier = Object.keys(set).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, set);
  });
  after(() => {
    for (const [name, value] of earlier) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}
