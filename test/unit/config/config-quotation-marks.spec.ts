import assert from 'node:assert/strict';
import { ConfigError, loadConfig } from '../../../shared/config/config.js';

const COMPLETE = {
  DATABASE_URL: 'postgres://db.example/app',
  FACILITATOR_URL: 'https://facilitator.example',
};

function problemsOf(environment: Record<string, string>): string[] {
  try {
    loadConfig({ ...COMPLETE, ...environment }, 'web');
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message.split('\n').slice(1);
  }
  return [];
}

describe('a setting in the quotation marks of a file for docker --env-file', () => {
  const values: Record<string, string> = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgres://user:hunter2@db.example/app',
    REDIS_URL: 'redis://:hunter2@redis.example',
    FACILITATOR_AUTH: 'none',
    METRICS_TOKEN: 'hunter2-hunter2-hunter2',
    ADMIN_PASSWORD: 'hunter2-hunter2-hunter2',
    PORT: '3000',
    CONFIRMATIONS_EIP155_8453: '1',
  };
  for (const [name, value] of Object.entries(values))
    for (const mark of ['"', "'"])
      it(`is refused in one line, as ${mark} around ${name}`, () => {
        const secrets = name === 'NODE_ENV' ? { ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') } : {};
        const lines = problemsOf({ ...secrets, [name]: `${mark}${value}${mark}` });
        assert.equal(lines.length, 1);
        assert.match(lines[0] ?? '', new RegExp(`^ {2}${name} is in quotation marks, .+ without them\\.$`));
        assert.doesNotMatch(lines[0] ?? '', /hunter2/);
      });

  it('is refused as the token of a facilitator', () => {
    const lines = problemsOf({ FACILITATOR_AUTH: 'bearer', FACILITATOR_SECRET: '"hunter2"' });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /FACILITATOR_SECRET is in quotation marks/);
    assert.doesNotMatch(lines[0] ?? '', /hunter2/);
  });

  it('is no matter in a variable that is not a setting of the service', () => {
    assert.deepEqual(problemsOf({ PS1: '"$ "' }), []);
  });

  it('may have quotation marks within', () => {
    assert.deepEqual(problemsOf({ METRICS_TOKEN: '"hunter" and "hunter2' }), []);
  });
});
