import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger } from '../../../shared/process/logger.js';
import { done } from '../../../workers/deps/job-outcome.js';
import { createDirectRunner } from '../../../workers/process/direct-runner.js';
import type { Handlers } from '../../../workers/process/handlers.js';

describe('the direct runner of the sweep', () => {
  let started: string[];
  let ends: (() => void)[];
  const hang = (name: string) => async () => {
    started.push(name);
    await new Promise<void>((resolve) => ends.push(resolve));
    return done;
  };
  const handlers: Handlers = {
    'settle-payment': hang('settle-payment'),
    'confirm-payment': hang('confirm-payment'),
    'expire-sessions': hang('expire-sessions'),
    'deliver-webhook': hang('deliver-webhook'),
  };
  const expire = (id: string) => ({ name: 'expire-sessions', payload: {}, id }) as const;
  const confirm = (id: string) =>
    ({ name: 'confirm-payment', payload: { paymentId: id, attempt: 0 }, id }) as const;
  const deliver = (id: string) => ({ name: 'deliver-webhook', payload: { accountId: id }, id }) as const;
  const runnerOf = (workerConcurrency: number) =>
    createDirectRunner({ config: { workerConcurrency }, logger: createLogger('silent', 'test') }, handlers);

  beforeEach(() => {
    started = [];
    ends = [];
  });

  it('runs so many jobs of a queue at once, and again as many when these have ended', async () => {
    const runner = runnerOf(2);
    for (let sweep = 0; sweep < 3; sweep += 1) {
      runner.run(['1', '2', '3'].map((n) => confirm(`${sweep}-${n}`)));
      assert.equal(started.splice(0).length, 2);
      for (const end of ends.splice(0)) end();
      await runner.finish();
      await nextTurn();
    }
  });

  it('counts each queue by itself, and deliveries not at all', () => {
    const runner = runnerOf(1);
    runner.run([expire('1'), confirm('1'), confirm('2'), deliver('1'), deliver('2'), deliver('3')]);
    assert.deepEqual(started, [
      'expire-sessions',
      'confirm-payment',
      'deliver-webhook',
      'deliver-webhook',
      'deliver-webhook',
    ]);
  });

  it('does the same work once at a time, though each sweep gives its job another id', () => {
    const runner = runnerOf(5);
    const deliverAgain = { ...deliver('1'), id: '2' };
    runner.run([confirm('1'), expire('1'), deliver('1')]);
    runner.run([confirm('1'), expire('2'), deliverAgain]);
    assert.deepEqual(started, ['confirm-payment', 'expire-sessions', 'deliver-webhook']);
  });
});
