import assert from 'node:assert/strict';
import { openEventsApi } from '../../local/listen/events-api.js';
import { forwardEvent, secretFor } from '../../local/listen/forward.js';
import { Failure } from '../../local/listen/options.js';

const BLOCKED = 'http://127.0.0.1:6000';

describe('npm run listen, at a port that Node.js blocks', () => {
  it('names the reason for an event that it does not post', async () => {
    assert.equal(await forwardEvent(`${BLOCKED}/hook`, secretFor('key'), 'evt_1', '{}'), 'bad port');
  });

  it('ends, since no later try would reach the service', async () => {
    const api = openEventsApi(BLOCKED, 'key', new AbortController().signal);
    await assert.rejects(api.list(0, undefined), (error: unknown) => {
      assert.ok(error instanceof Failure, String(error));
      assert.match(error.message, /does not connect to the port of http:\/\/127\.0\.0\.1:6000 \(bad port\)/);
      return true;
    });
  });
});
