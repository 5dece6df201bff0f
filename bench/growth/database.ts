import knexFactory from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import type { DatabaseConfig } from '../../shared/config.js';
import { postgresConnection } from '../../shared/db/connection.js';
import type { Knex } from '../../shared/db/knex.js';

/** For statements that may take their time. */
export function openUnhurried(database: DatabaseConfig): Knex {
  return knexFactory({
    client: 'pg',
    ...knexSnakeCaseMappers(),
    connection: { ...postgresConnection(database), query_timeout: 0 },
    pool: { min: 0, max: 1 },
  });
}
