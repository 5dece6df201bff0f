import assert from 'node:assert/strict';
import { slow } from '../../../lab/world/facilitator/dial.js';
import { openCheckout } from '../../support/checkout.js';
import { forEachTest } from '../../support/hooks.js';

/** Longer than a story may take: a request that waits for the call fails its story. */
const environment = { SETTLE_WAIT_MS: '1500', FACILITATOR_TIMEOUT_MS: '120000' };
const NEVER = slow(600_000);

describe('a paying request whose facilitator hangs, answered within SETTLE_WAIT_MS', () => {
  const checkout = forEachTest(() => openCheckout({ worker: false, environment }));

  it('in /verify: nothing is claimed, and the same payload pays later', async () => {
    const { id } = await checkout.buildSession();
    const { header } = await checkout.sign(id);
    checkout.facilitator.verify.next(NEVER);
    const refused = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
    assert.deepEqual([refused.status, refused.body.error.code], [503, 'payment_service_unavailable']);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.equal((await checkout.session(id)).status, 'open');
    const accepted = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
    assert.equal(accepted.status, 202);
  });

  it('in its first /supported', async () => {
    const { id } = await checkout.buildSession();
    checkout.facilitator.supported.always(NEVER);
    const payment = { x402Version: 2, accepted: {}, payload: {} };
    const header = Buffer.from(JSON.stringify(payment)).toString('base64');
    const { status, body } = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
    assert.deepEqual([status, body.error.code], [503, 'payment_service_unavailable']);
  });
});
