import assert from 'node:assert/strict';
import { forAllTests } from '../../support/hooks.js';
import { openWebhookFlow } from '../../support/webhook-flow.js';

const BACKLOG = 300;

describe('the backlog of a re-enabled webhook endpoint', () => {
  const flow = forAllTests(() => openWebhookFlow('webhooks_backlog', { worker: false }));

  it('leaves slots to events that come after it', async () => {
    const hook = await flow.addEndpoint({ enabled_events: ['checkout.session.expired'] });
    const setDisabled = (disabled: boolean) =>
      flow.api.post(`/v1/webhook_endpoints/${hook.id}`, { disabled }).expect(200);
    await flow.expireWithoutNotifying(BACKLOG);
    await setDisabled(true);
    await setDisabled(false);
    const fresh = await flow.expireSession();
    await flow.startWorker();
    await flow.untilSucceeded(hook.id, BACKLOG + 1);
    const place = hook.receiver.got.findIndex(({ raw }) => JSON.parse(raw).data.object.id === fresh);
    assert.ok(place < BACKLOG / 3, `the fresh event was number ${place + 1} of ${BACKLOG + 1}`);
  });
});
