import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { openFailureLog } from '../../workers/process/failure-log.js';
import { loggerWithLines } from '../support/log-lines.js';

const MINUTE_MS = 60_000;

describe('work of a worker that is repeated and fails each time', () => {
  afterEach(() => mock.restoreAll());

  function open() {
    const { logger, lines } = loggerWithLines<{ event: string; level: string; err: { message: string } }>();
    const now = mock.method(performance, 'now', () => 0).mock;
    const failures = openFailureLog(logger, 'sweep.failed');
    return {
      failures,
      logged: () => lines.splice(0).map(({ err }) => err.message),
      waitUntil: (ms: number) => now.mockImplementation(() => ms),
    };
  }

  it('is logged once a minute', () => {
    const { failures, logged, waitUntil } = open();
    for (let second = 0; second < 150; second += 1) {
      waitUntil(second * 1000);
      failures.failed(new Error('connect ECONNREFUSED'));
    }
    assert.equal(logged().length, 3);
  });

  it('is logged at once when it fails for another reason, or again after a success', () => {
    const { failures, logged } = open();
    for (const reason of ['shutting down', 'connect ECONNREFUSED', 'shutting down', 'read only'])
      failures.failed(new Error(reason));
    assert.deepEqual(logged(), ['shutting down', 'connect ECONNREFUSED', 'read only']);
    failures.succeeded();
    failures.failed(new Error('read only'));
    assert.deepEqual(logged(), ['read only']);
  });

  it('does not fill the memory of the process when each failure says something else', () => {
    const { failures, logged, waitUntil } = open();
    for (let n = 0; n < 1000; n += 1) failures.failed(new Error(`statement ${n}`));
    assert.equal(logged().length, 1000);
    waitUntil(MINUTE_MS - 1);
    failures.failed(new Error('statement 999'));
    failures.failed(new Error('statement 0'));
    assert.deepEqual(logged(), ['statement 0']);
  });
});
