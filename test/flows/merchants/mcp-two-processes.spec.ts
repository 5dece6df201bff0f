import assert from 'node:assert/strict';
import { MERCHANT_TOOLS } from '../../../api/mcp/tools.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { forAllTests } from '../../support/hooks.js';
import { connectAgent } from '../../support/mcp.js';
import { minimal } from '../../support/orders.js';
import { openWebProcesses } from '../../support/web-process.js';

describe("a merchant's agent over MCP, at two web processes in turn", () => {
  const processes = forAllTests(() => openWebProcesses('mcp'));

  it('needs no state in either process, and each request is logged in one line with its tool', async () => {
    const webs = await Promise.all([processes.start(), processes.start()]);
    const agent = await connectAgent(
      webs.map(({ port }) => port),
      processes.shop.testKey,
    );
    try {
      const { tools } = await agent.sdk.listTools();
      assert.equal(tools.length, MERCHANT_TOOLS.length);
      const args = { ...minimal, customer_email: 'never@log.example', idempotency_key: 'never-in-a-log' };
      const first = await agent.call('create_checkout_session', args);
      const again = await agent.call('create_checkout_session', args);
      assert.equal(again.text, first.text);
      for (let i = 0; i < 4; i++) {
        const { body } = await agent.call('retrieve_checkout_session', { id: first.body.id });
        assert.equal(body.id, first.body.id);
      }
      await agent.call('retrieve_checkout_session', { id: 'cs_test_never' });

      const lines = (): Record<string, unknown>[] =>
        webs.flatMap((web) => web.lines()).filter(({ event }) => event === 'request.finished');
      const requestsOf = (tool: string): unknown[] =>
        lines()
          .filter((line) => line.tool === tool)
          .map(({ method, route, status, code }) => [method, route, status, code].join(' ').trim());
      await eventually(() => {
        assert.deepEqual(requestsOf('create_checkout_session'), Array(2).fill('POST /mcp 200'));
        assert.deepEqual(requestsOf('retrieve_checkout_session').sort(), [
          ...Array(4).fill('POST /mcp 200'),
          'POST /mcp 200 resource_missing',
        ]);
        // The other requests are initialize, initialized, the GET for a stream, and tools/list.
        assert.deepEqual(
          lines()
            .filter(({ tool }) => tool === undefined)
            .map(({ method, status }) => `${method} ${status}`)
            .sort(),
          ['GET 405', 'POST 200', 'POST 200', 'POST 202'],
        );
      });
      for (const web of webs) {
        assert.ok(
          web.lines().some(({ tool }) => tool !== undefined),
          'one process answered no calls',
        );
        assert.doesNotMatch(web.output(), /never@log|never-in-a-log|svc_ck_test_/);
      }
      for (const line of lines()) assert.equal(line.account, processes.shop.accountId);
    } finally {
      await agent.close();
      await Promise.all(webs.map((web) => web.kill()));
    }
  });
});
