import assert from 'node:assert/strict';
import { answer } from '../../lab/world/receiver/receiver.js';
import { assertRefused, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { forAllTests } from '../support/hooks.js';
import { openWebhookFlow } from '../support/webhook-flow.js';

describe('merchants endpoints', () => {
  const flow = forAllTests(() => openWebhookFlow('operated_endpoints'));
  useCliDatabase(() => flow.databaseUrl);

  it('lists the failing ones of all accounts with their last try', async () => {
    const failing = await flow.addEndpoint();
    failing.receiver.react(answer(500, 'no room'));
    await flow.addEndpoint();
    await flow.expireSession();
    await flow.afterTries(failing.id, 1);
    const { endpoints } = await runJson('endpoints', '--failing');
    assert.deepEqual(
      endpoints.map(({ id, account, status, last_try: last }) => [id, account, status, last?.status]),
      [[failing.id, flow.merchant.accountId, 'enabled', 500]],
    );
    assert.ok(Number(endpoints[0]?.failing_since) > 0);
    await assertRefused(/--failing is missing/, 'endpoints');
  });

  it('holds the deliveries of a disabled one, and sends them when it is enabled again', async () => {
    const hook = await flow.addEndpoint();
    assert.equal((await runJson('disable-endpoint', hook.id)).status, 'disabled');
    const { body } = await flow.api.get(`/v1/webhook_endpoints/${hook.id}`).expect(200);
    assert.equal(body.status, 'disabled');
    await flow.expireSession();
    assert.equal(hook.receiver.got.length, 0);
    const enabled = await flow.addEndpoint();
    await flow.expireSession();
    await flow.untilSucceeded(enabled.id, 1);
    assert.equal((await runJson('enable-endpoint', hook.id)).status, 'enabled');
    await flow.expireSession();
    await flow.untilSucceeded(hook.id, (await flow.deliveries(hook.id)).length);
    for (const command of ['disable-endpoint', 'enable-endpoint'])
      await assertRefused(/No such webhook endpoint: 'we_none'/, command, 'we_none');
  });

  it('keeps a deleted one deleted', async () => {
    const { id } = await flow.addEndpoint();
    await flow.api.delete(`/v1/webhook_endpoints/${id}`).expect(200);
    await assertRefused(/No such webhook endpoint/, 'enable-endpoint', id);
  });
});
