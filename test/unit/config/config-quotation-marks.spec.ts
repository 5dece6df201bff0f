import assert from 'node:assert/strict';
import { COMPLETE, problemsOf } from './problems.js';

const linesOf = (environment: Record<string, string>): string[] =>
  problemsOf({ ...COMPLETE, ...environment })
    .split('\n')
    .slice(1);

describe('a setting in the quotation marks of a file for docker --env-file', () => {
  const values: Record<string, string> = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgres://user:hunter2@db.example/app',
    REDIS_URL: 'redis://:hunter2@redis.example',
    FACILITATOR_AUTH: 'none',
    FACILITATOR_SECRET: 'hunter2',
    METRICS_TOKEN: 'hunter2-hunter2-hunter2',
    ADMIN_PASSWORD: 'hunter2-hunter2-hunter2',
    PORT: '3000',
    CONFIRMATIONS_EIP155_8453: '1',
  };
  for (const [name, value] of Object.entries(values))
    for (const mark of ['"', "'"])
      it(`is refused in one line, as ${mark} around ${name}`, () => {
        const lines = linesOf({
          ...(name === 'FACILITATOR_SECRET' && { FACILITATOR_AUTH: 'bearer' }),
          [name]: `${mark}${value}${mark}`,
        });
        assert.equal(lines.length, 1);
        assert.match(lines[0] ?? '', new RegExp(`^ {2}${name} is in quotation marks, .+ without them\\.$`));
        assert.doesNotMatch(lines[0] ?? '', /hunter2/);
      });

  it('is no matter in a variable that is not a setting of the service', () => {
    assert.deepEqual(linesOf({ PS1: '"$ "' }), []);
  });

  it('may have quotation marks within', () => {
    assert.deepEqual(linesOf({ METRICS_TOKEN: '"hunter" and "hunter2' }), []);
  });
});
