import pg from 'pg';

/** The URL has every parameter, so that PGPORT or PGSSLMODE in the caller's environment have no effect. */
export function connectionUrl(user: string, socketDir: string, database: string): string {
  const host = encodeURIComponent(socketDir);
  return `postgres://${user}@localhost:5432/${encodeURIComponent(database)}?host=${host}&sslmode=disable`;
}

type ServerAnswer = { ready: true; clusterName: string } | { ready: false; reason: string };

/** Creates the database if it is missing. Failures are returned, since any of them may be temporary. */
export async function ensureDatabase(maintenanceUrl: string, database: string): Promise<ServerAnswer> {
  const client = new pg.Client({ connectionString: maintenanceUrl, connectionTimeoutMillis: 5000 });
  client.on('error', () => {
    // The server stopped while this client was connected; the running query fails too.
  });
  try {
    await client.connect();
    const found = await client.query<{ cluster_name: string; present: boolean }>(
      `select current_setting('cluster_name') as cluster_name,
        exists (select from pg_database where datname = $1) as present`,
      [database],
    );
    const [row] = found.rows;
    if (row === undefined) return { ready: false, reason: 'It gave no answer.' };
    if (!row.present) await client.query(`create database ${client.escapeIdentifier(database)}`);
    return { ready: true, clusterName: row.cluster_name };
  } catch (error) {
    // The server is starting or stopping, or another process is creating the same database.
    return { ready: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await client.end().catch(() => undefined);
  }
}
