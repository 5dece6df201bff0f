/**
 * A program of the specs: holds an embedded Postgres until it is told to end, and reports events as JSON lines. After
 * SIGINT or SIGTERM it uses the database once more before it stops it.
 */
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/local/postgres/embedded-postgres.js';

const { user, ...options } = JSON.parse(process.argv[2]);
if (user !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(user.gid);
  process.setuid?.(user.uid);
}

const postgres = await startEmbeddedPostgres(options);
const pool = new pg.Pool({ connectionString: postgres.url });
pool.on('error', () => {
  // The owner of the server may stop it.
});

async function describeServer() {
  const settings = await pool.query(
    `select array[pg_encoding_to_char(encoding), datcollate, current_setting('timezone')]::text[] as settings
      from pg_database where datname = current_database()`,
  );
  return settings.rows[0]?.settings ?? [];
}

function tell(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

async function end() {
  const answer = await describeServer().catch(() => undefined);
  tell({ name: answer === undefined ? 'database was gone' : 'used it while stopping' });
  await pool.end();
  await postgres.stop();
  process.exit(0);
}

const keepAlive = setInterval(() => undefined, 1000);
const onSignal = () => {
  clearInterval(keepAlive);
  end().catch(() => process.exit(1));
};
process.once('SIGINT', onSignal);
process.once('SIGTERM', onSignal);

const { url, owned, dataDir } = postgres;
tell({ name: 'started', url, owned, dataDir, server: await describeServer() });
