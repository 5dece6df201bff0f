import assert from 'node:assert/strict';
import { buildEndpoints, buildMerchant } from '../../lab/world/shop/factories.js';
import { createSecretBox } from '../../shared/secrets/secrets.js';
import { resealSecrets } from '../../shared/webhooks/secrets.js';
import { takeDueDeliveries } from '../../shared/webhooks/take-due.js';
import { releaseReadable } from '../../shared/webhooks/unreadable-secrets.js';
import { forAllTests } from '../support/hooks.js';
import { ALLOWANCE, type Hook, openWebhookFlow } from '../support/webhook-flow.js';

/** A secret sealed with a key that is lost. */
const LOST = createSecretBox([Buffer.alloc(32, 7)]).seal('whsec_lost');

describe('endpoints whose secret could not be read', () => {
  const flow = forAllTests(() => openWebhookFlow('unreadable_endpoints', { worker: false }));

  /** An endpoint with one delivery that is held, since it was marked later than all others. */
  async function addHeld(sealedSecret: string): Promise<Hook> {
    const hook = await flow.addEndpoint();
    await flow.expireWithoutNotifying(1);
    await mark([hook.id], sealedSecret, new Date());
    assert.equal(await countTaken(hook), 0);
    return hook;
  }

  async function mark(ids: string[], sealedSecret: string, unreadableSince: Date): Promise<void> {
    await flow.db('webhookEndpoints').whereIn('id', ids).update({ sealedSecret, unreadableSince });
  }

  async function countTaken({ id }: Hook): Promise<number> {
    const { deliveries } = await takeDueDeliveries(flow.db, flow.merchant.accountId, ALLOWANCE);
    return deliveries.filter(({ endpoint }) => endpoint.id === id).length;
  }

  it('are released by a worker that opens it, although many others stay unreadable', async () => {
    const { accountId } = await buildMerchant(flow.db);
    const others = await buildEndpoints(flow.db, accountId, 1100);
    await mark(others, LOST, new Date(Date.now() - 60_000));
    const hook = await addHeld(flow.app.secretBox.seal('whsec_found'));
    const released = await releaseReadable(flow.db, flow.app.secretBox);
    assert.deepEqual(
      released.map(({ id, accountId }) => [id, accountId]),
      [[hook.id, flow.merchant.accountId]],
    );
    assert.equal(await countTaken(hook), 1);
    assert.deepEqual(await releaseReadable(flow.db, flow.app.secretBox), []);
  });

  it('are released when it is rolled', async () => {
    const hook = await addHeld(LOST);
    await flow.api.post(`/v1/webhook_endpoints/${hook.id}/roll_secret`, {}).expect(200);
    assert.equal(await countTaken(hook), 1);
  });

  it('are released when it is resealed with a key that was found', async () => {
    const found = Buffer.alloc(32, 8);
    const unread = await addHeld(LOST);
    const hook = await addHeld(createSecretBox([found]).seal('whsec_found'));
    await resealSecrets(flow.db, createSecretBox([...flow.app.config.encryptionKeys, found]));
    assert.equal(await countTaken(hook), 1);
    assert.notEqual((await flow.endpoint(unread.id)).unreadableSince, null);
  });
});
