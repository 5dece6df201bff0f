import assert from 'node:assert/strict';
import {
  altered,
  answers,
  answersGarbage,
  answersHtml,
  type Behaviour,
  breaksAfterWork,
  breaksBeforeWork,
  failsAfterWork,
  failsToSettle,
  refuses,
  settlesAsPending,
  slow,
} from '../../../lab/world/facilitator/dial.js';
import { caller, facilitator, start } from './facilitator-caller.js';

describe('the fake facilitator with faults', () => {
  beforeEach(async () => {
    await start({ strict: true });
  });

  afterEach(async () => {
    await facilitator.close();
  });

  describe('in a fault mode', () => {
    const SETTLE: Record<string, [behaviour: Behaviour, verdict: string, moved: number]> = {
      'answers 401': [answers(401), 'not_processed: HTTP 401', 0],
      'answers 429': [answers(429), 'not_processed: HTTP 429', 0],
      'answers HTML': [answersHtml(503), 'unknown: HTTP 503 without a boolean success', 0],
      'answers half of its JSON': [answersGarbage(), 'unknown: HTTP 200 without a boolean success', 0],
      'reports a failure': [failsToSettle('insufficient_funds'), 'insufficient_funds', 0],
      'names a transaction that failed': [failsToSettle('a', '0xab'), 'unknown: a with a transaction', 0],
      'resets the connection before its work': [breaksBeforeWork(), 'unknown', 0],
      'drops the connection before its work': [breaksBeforeWork('drop'), 'unknown', 0],
      'resets the connection after its work': [breaksAfterWork(), 'unknown', 1],
      'drops the connection after its work': [breaksAfterWork('drop'), 'unknown', 1],
      'ends in the middle of its answer': [breaksAfterWork('truncate'), 'unknown', 1],
      'settles and calls it pending': [
        settlesAsPending(),
        'unknown: settlement_pending with a transaction',
        1,
      ],
      'settles without a name': [altered({ transaction: '' }), 'unknown: success without a transaction', 1],
      'settles on another network': [altered({ network: 'eip155:1' }), 'unknown: another network', 1],
      'settles on a network of version 1': [altered({ network: 'base-sepolia' }), 'settled', 1],
      'settles without payer and network': [altered({ payer: null, network: '' }), 'settled', 1],
      'settles and answers with status 500': [altered({}, 500), 'unknown: HTTP 500', 1],
      'settles and fails': [failsAfterWork(500), 'unknown: HTTP 500 without a boolean success', 1],
      'is slow': [slow(1), 'settled', 1],
    };
    for (const [title, [behaviour, expected, moved]] of Object.entries(SETTLE)) {
      it(`${title}: ${expected}`, async () => {
        facilitator.settle.next(behaviour);
        const request = await caller.evmRequest();
        const verdict = await caller.settle(request);
        assert.equal(expected === 'unknown' ? verdict.split(':')[0] : verdict, expected);
        const [call] = facilitator.calls.settle;
        await call?.done;
        assert.equal(facilitator.ledger.length, moved);
      });
    }

    it('refuses to verify', async () => {
      facilitator.verify.next(refuses('insufficient_funds'));
      const request = await caller.evmRequest();
      assert.equal(await caller.verify(request), 'insufficient_funds');
      assert.equal(await caller.verify(request), 'valid');
    });

    it('behaves as queued, then as always, then honestly again', async () => {
      facilitator.verify.always(answers(500));
      facilitator.verify.next(refuses('a'), refuses('b'));
      const request = await caller.evmRequest();
      const verdicts = [];
      for (let call = 0; call < 4; call += 1) verdicts.push(await caller.verify(request));
      assert.deepEqual(verdicts, ['a', 'b', 'unavailable', 'unavailable']);
      facilitator.verify.honest();
      assert.equal(await caller.verify(request), 'valid');
    });

    it('breaks on /supported', async () => {
      facilitator.supported.next(answers(503));
      assert.deepEqual(await caller.get('/supported'), { error: 'HTTP 503' });
    });

    it('finishes its work when the caller has hung up', async () => {
      const hold = facilitator.settle.holdNext();
      const hangUp = new AbortController();
      const body = JSON.stringify(await caller.evmRequest());
      const gone = assert.rejects(
        fetch(`${facilitator.url}/settle`, { method: 'POST', body, signal: hangUp.signal }),
      );
      const call = await facilitator.waitForCall('settle');
      hangUp.abort();
      await gone;
      hold.release();
      await call.done;
      assert.equal(facilitator.ledger.length, 1);
    });
  });

  it('records calls that arrived before a waiter', async () => {
    await caller.verify('{');
    await caller.verify('x');
    assert.equal(await facilitator.waitForCall('verify', 2), facilitator.calls.verify[1]);
  });

  describe('when it closes', () => {
    it('ends hanging calls without further work', async () => {
      facilitator.settle.holdAll();
      facilitator.verify.next(slow(3_600_000));
      const request = await caller.evmRequest();
      const hanging = [caller.settle(request), caller.settle(request), caller.verify(request)];
      await Promise.all([facilitator.waitForCall('settle', 2), facilitator.waitForCall('verify')]);
      await facilitator.close();
      for (const verdict of await Promise.all(hanging)) assert.match(verdict, /^(unknown: |unavailable)/);
      assert.deepEqual(facilitator.ledger, []);
    });

    it('rejects waiters for calls', async () => {
      const waiting = assert.rejects(facilitator.waitForCall('settle', 3), /before call 3 of \/settle/);
      await facilitator.close();
      await waiting;
    });

    it('refuses connections from then on', async () => {
      const request = await caller.evmRequest();
      await facilitator.close();
      assert.equal(await caller.settle(request), 'not_processed: ECONNREFUSED');
    });
  });
});
