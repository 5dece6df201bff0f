import knexFactory from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import type pg from 'pg';
import type { DatabaseConfig } from '../../../shared/config/config.js';
import { postgresConnection } from '../../../shared/db/connection.js';
import type { Knex } from '../../../shared/db/knex.js';

/** Opens one connection without a statement timeout. */
export function openUnhurried(database: DatabaseConfig, settings = 'SELECT 1'): Knex {
  return knexFactory({
    client: 'pg',
    ...knexSnakeCaseMappers(),
    connection: { ...postgresConnection(database), query_timeout: 0 },
    pool: {
      min: 0,
      max: 1,
      afterCreate: (connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) => {
        connection.query(settings).then(
          () => done(null, connection),
          (error: Error) => done(error, connection),
        );
      },
    },
  });
}
