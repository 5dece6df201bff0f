import assert from 'node:assert/strict';
import { ConfigError, loadConfig, type Role } from '../../../shared/config/config.js';

/** The least that web needs in production. */
export const COMPLETE = {
  DATABASE_URL: 'postgres://user:pass@db.example/app',
  FACILITATOR_URL: 'https://facilitator.example/',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
};

/** The message that refuses the environment, or an empty text. */
export function problemsOf(environment: Record<string, string>, role: Role = 'web'): string {
  try {
    loadConfig(environment, role);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return '';
}
