import assert from 'node:assert/strict';
import { buildMerchant } from '../../../lab/world/shop/factories.js';
import { loadConfig } from '../../../shared/config/config.js';
import { reconcileWhenDue } from '../../../workers/process/reconcile-regularly.js';
import { openBooks } from '../../support/books.js';
import { BASE_SEPOLIA } from '../../support/checkout.js';
import { forEachTest } from '../../support/hooks.js';
import { openManualWorker } from '../../support/money-flow.js';
import { NETWORKS, runReconcile } from '../../support/reconcile-run.js';

const NEW_WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const EVM_ONLY = NETWORKS.slice(0, 1);

describe('the books are held against the chains', () => {
  const books = forEachTest(() => openBooks('reconcile_changes'));

  it('for a wallet that became known while the run read other networks', async () => {
    const told: string[] = [];
    const run = async (meanwhile = async (): Promise<void> => {}): Promise<void> => {
      const { lines } = await runReconcile(books, {
        networks: EVM_ONLY,
        wrap: (reader) => ({
          ...reader,
          async evmHead(network) {
            await meanwhile();
            return await reader.evmHead(network);
          },
        }),
      });
      told.push(...lines.map(({ status, pay_to: payTo }) => `${status} ${payTo}`));
    };
    await run();
    await run(async () => {
      await buildMerchant(books.db, { evmWallet: NEW_WALLET });
      books.arrives({ nonce: `0x${'ab'.repeat(32)}`, payTo: NEW_WALLET });
      books.evm.mineAt(6, 100);
    });
    await run();
    assert.deepEqual(told, [`unrecorded ${NEW_WALLET}`]);
  });

  it('on a network that no facilitator lists any more', async () => {
    const settings = {
      ...books.environment,
      FACILITATOR_URL: books.facilitator.url,
      REDIS_URL: 'redis://unused',
    };
    const worker = openManualWorker(loadConfig(settings, 'worker'), books.db);
    const { facilitators } = worker.deps;
    const run = () => reconcileWhenDue(worker.deps, 0, new AbortController().signal);
    await run();
    const { id } = await books.buildSession();
    books.arrives({ nonce: books.app.references.nonceOf(id) });
    worker.deps.facilitators = {
      ...facilitators,
      supportedByAll: async () => new Map([...((await facilitators.supportedByAll()) ?? [])].filter(isOther)),
    };
    await run();
    await facilitators.close();
    worker.deps.chains.close();
    const told = worker.log.filter(({ event }) => event === 'reconcile.unrecorded');
    assert.deepEqual(
      told.map(({ session }) => session),
      [id],
    );
  });
});

const isOther = ([network]: readonly [string, unknown]): boolean => network !== BASE_SEPOLIA;
