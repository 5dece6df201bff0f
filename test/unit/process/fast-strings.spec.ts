import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

describe('the methods of strings', () => {
  /** Whether String.prototype is fast for V8 after each of these imports, in a process of their own. */
  async function areFastAfter(...imports: string[]): Promise<boolean[]> {
    const steps = imports.map(
      (path) => `await import('${path}'); fast.push(%HasFastProperties(String.prototype));`,
    );
    const program = `const fast = []; ${steps.join(' ')} process.stdout.write(JSON.stringify(fast));`;
    const flags = ['--allow-natives-syntax', '--import=tsx', '--input-type=module', '--eval', program];
    return JSON.parse((await run(process.execPath, flags)).stdout);
  }

  it('are slow once ioredis is loaded, and fast again by the connection to Redis, for good', async () => {
    const connection = './shared/queues/connection.ts';
    assert.deepEqual(await areFastAfter('node:assert', 'ioredis', connection), [true, false, true]);
    const another = 'data:text/javascript,class Another extends String {}';
    assert.deepEqual(await areFastAfter(another, connection, `${another};`), [false, true, true]);
  });
});
