import { loadConfig } from '../../shared/config/config.js';
import { openDatabase } from '../../shared/db/knex.js';

/** Lets Postgres' clock_timestamp() be off for new connections to this database: a function that is found first. */
export async function moveClockOf(databaseUrl: string): Promise<(seconds: number) => Promise<void>> {
  const db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'cli').database);
  const name = new URL(databaseUrl).pathname.slice(1);
  await db.raw(`
    CREATE SCHEMA moved;
    CREATE TABLE moved.clock (by interval NOT NULL);
    INSERT INTO moved.clock VALUES ('0');
    CREATE FUNCTION moved.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      'SELECT pg_catalog.clock_timestamp() + by FROM moved.clock';
    ALTER DATABASE ${name} SET search_path = moved, pg_catalog, public`);
  await db.destroy();
  return async (seconds) => {
    const again = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'cli').database, undefined, {
      readsClock: false,
    });
    await again.raw('UPDATE moved.clock SET by = make_interval(secs => ?)', [seconds]);
    await again.destroy();
  };
}
