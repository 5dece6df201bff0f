import assert from 'node:assert/strict';
import dns from 'node:dns';
import { mock } from 'node:test';
import { lookupOnce } from '../../../shared/outgoing/lookup-once.js';

describe('look-ups of names', () => {
  afterEach(() => mock.restoreAll());

  const look = (hostname: string, all: boolean): Promise<unknown> =>
    new Promise((resolve) => lookupOnce(hostname, { all }, (...found) => resolve(found)));

  it('are one at a time for each name, whoever asks and however', async () => {
    const answers: ((...found: unknown[]) => void)[] = [];
    const asked: string[] = [];
    mock.method(dns, 'lookup', (name: string, _options: object, answer: (...found: unknown[]) => void) => {
      asked.push(name);
      answers.push(answer);
    });
    const all = [look('rpc.test', true), look('rpc.test', false), look('other.test', false)];
    assert.deepEqual(asked, ['rpc.test', 'other.test']);
    const found = [{ address: '192.0.2.1', family: 4 }];
    answers[0]?.(null, found);
    answers[1]?.(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    const [whole, first, failed] = await Promise.all(all);
    assert.deepEqual(whole, [null, found]);
    assert.deepEqual(first, [null, '192.0.2.1', 4]);
    assert.match(String(failed), /no such name/);
    void look('rpc.test', true);
    assert.equal(asked.length, 3, 'the next one is asked again');
    answers[2]?.(null, found);
  });
});
