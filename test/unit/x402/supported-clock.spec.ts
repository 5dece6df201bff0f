import assert from 'node:assert/strict';
import { answers } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { advanceClock } from '../../../shared/process/clock.js';
import { openFacilitatorClients } from './facilitator-clients.js';

const HOUR_MS = 3_600_000;

describe('the kinds of a facilitator, after the clock was set back by an hour', () => {
  const { client, fake } = openFacilitatorClients();

  it('are asked for again when nothing is known of them', async () => {
    const facilitator = client();
    fake().supported.next(answers(500));
    assert.equal(await facilitator.supported(), undefined);
    advanceClock(-HOUR_MS);
    assert.ok((await facilitator.supported())?.has('eip155:84532'));
  });

  it('are refreshed', async () => {
    const facilitator = client();
    await facilitator.supported();
    advanceClock(-HOUR_MS);
    await facilitator.supported();
    await eventually(() => assert.equal(fake().calls.supported.length, 2));
  });
});
