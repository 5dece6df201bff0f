import assert from 'node:assert/strict';
import { forAllTests } from '../../support/hooks.js';
import {
  type HostileServer,
  SPEECHES,
  type SpeechName,
  startHostileServer,
} from '../../support/hostile-server.js';
import { openWebhookFlow } from '../../support/webhook-flow.js';

describe('receivers that answer without end', () => {
  const flow = forAllTests(() => openWebhookFlow('hostile_receivers'));
  const servers: HostileServer[] = [];
  after(async () => {
    await Promise.all(servers.map((server) => server.close()));
  });

  async function addHostile(name: SpeechName): Promise<string> {
    const server = await startHostileServer();
    servers.push(server);
    server.say(SPEECHES[name]);
    return (await flow.api.post('/v1/webhook_endpoints', { url: server.url }).expect(200)).body.id;
  }

  const OUTCOMES: [SpeechName, (number | string)[]][] = [
    ['interim answers without end', ['pending', 'TOO_MANY_INTERIM_ANSWERS']],
    ['headers without end', ['pending', 'UND_ERR_HEADERS_OVERFLOW']],
    ['one-byte chunks without end', ['succeeded', 200]],
    ['chunk extensions without end', ['succeeded', 200]],
    ['a body without end', ['succeeded', 200]],
  ];

  it('have failed, or succeeded by their status line and headers, while other events arrive', async () => {
    const hostile = await Promise.all(OUTCOMES.map(async ([name]) => await addHostile(name)));
    const good = await flow.addEndpoint();
    await flow.expireSession();
    for (const [index, [name, outcome]] of OUTCOMES.entries()) {
      const id = hostile[index] ?? '';
      const { status, history } = await flow.afterTries(id, 1);
      const [only] = history;
      assert.deepEqual([status, only?.status ?? only?.error], outcome, name);
    }
    await flow.untilSucceeded(good.id, 1);
    await flow.expireWithoutNotifying(20);
    await flow.untilSucceeded(good.id, 21);
    assert.equal(new Set(good.receiver.got.map(({ raw }) => raw)).size, 21);
  });
});
