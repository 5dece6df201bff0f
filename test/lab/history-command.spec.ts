import assert from 'node:assert/strict';
import { runNode } from '../../lab/world/processes/processes.js';
import { Payment } from '../../shared/payments/model.js';
import { PAID } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { openMoneyFlow } from '../support/money-flow.js';

/** `npm run explore`, as its script starts it. */
const PROGRAM = 'local/commands/explore.mjs';

describe('`npm run explore -- --history`', () => {
  const flow = forAllTests(() => openMoneyFlow('history_command'));

  const check = (): ReturnType<typeof runNode> => runNode([PROGRAM, '--history', flow.databaseUrl]);

  async function payOne(): Promise<Payment> {
    const { id } = await flow.buildSession();
    await flow.pay(id);
    await flow.becomes(id, PAID);
    return await flow.onlyPayment(id);
  }

  it('accepts what the service has recorded, and names the payment of an entry that no row allows', async () => {
    const altered = await payOne();
    const untouched = await payOne();
    const sound = await check();
    assert.equal(sound.code, 0, sound.stderr);
    assert.match(sound.stdout, /^2 payments; 0 contradictions to the policy\.$/m);

    const [entry = assert.fail('no history'), ...rest] = altered.history;
    assert.notEqual(entry.row, undefined);
    await Payment.query(flow.db)
      .patch({ history: [{ ...entry, source: 'chain', said: 'unused' }, ...rest] })
      .where({ id: altered.id });
    const wrong = await check();
    assert.equal(wrong.code, 1, wrong.stdout);
    assert.match(wrong.stdout, new RegExp(`^${altered.id}: entry 1: .*${entry.row}`, 'm'));
    assert.match(wrong.stdout, /^2 payments; \d+ contradictions to the policy\.$/m);
    assert.ok(!wrong.stdout.includes(untouched.id));
  });
});
