import assert from 'node:assert/strict';
import { isProduction, loadConfig } from '../../../shared/config/config.js';

describe('NODE_ENV=production from a file with the line ends of Windows', () => {
  it('is production for the commands as for web and workers', () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production\r';
    try {
      const { production } = loadConfig({ ...process.env, DATABASE_URL: 'postgres://db.example/app' }, 'cli');
      assert.deepEqual([isProduction(), production], [true, true]);
    } finally {
      if (before === undefined) delete process.env.NODE_ENV;
      else process.env.NODE_ENV = before;
    }
  });
});
