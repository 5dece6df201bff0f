import assert from 'node:assert/strict';
import { readNetworks } from '../../../cli/run-reconcile.js';
import { type FakeFacilitator, startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { NETWORKS } from '../../../shared/chains/networks/networks.js';
import { loadConfig } from '../../../shared/config/config.js';
import { countLines, openBooks } from '../../support/books.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';

describe('the books are held against the chains of', () => {
  const books = forAllTests(() => openBooks('reconcile_networks'));
  const second = forAllTests(() => startFacilitator({ networks: [SOLANA_DEVNET] }));
  afterEach(() => books.startOver());

  const onlyFirst = answersWith([BASE_SEPOLIA]);

  async function networksOf(...urls: string[]): Promise<string[]> {
    const places = urls.map((url, index) => [`FACILITATOR_URL${index === 0 ? '' : `_${index + 1}`}`, url]);
    const config = loadConfig({ ...books.environment, ...Object.fromEntries(places) }, 'cli');
    return (await readNetworks(books.db, undefined, config)).map(({ caip2 }) => caip2);
  }

  it('payments on a network that the facilitator no longer lists, in a first run', async () => {
    await books.paySolana((await books.buildSession()).id);
    books.facilitator.supported.always(onlyFirst);
    const { status, lines } = await books.reconcile();
    books.facilitator.supported.honest();
    assert.deepEqual([status, countLines(lines)], [0, { matched: 1 }]);
  });

  describe('a facilitator beside another', () => {
    beforeEach(() => books.facilitator.supported.always(onlyFirst));
    afterEach(() => {
      books.facilitator.supported.honest();
      second.supported.honest();
    });

    it('that answers later', async () => {
      second.supported.always({ delayMs: 1500 });
      assert.deepEqual(await networksOf(books.facilitator.url, second.url), [BASE_SEPOLIA, SOLANA_DEVNET]);
    });

    it('that does not answer: all', async () => {
      second.supported.always({ connection: 'reset' });
      assert.deepEqual(
        await networksOf(books.facilitator.url, second.url),
        NETWORKS.map(({ caip2 }) => caip2),
      );
    });
  });
});

function answersWith(networks: readonly string[]): Parameters<FakeFacilitator['supported']['always']>[0] {
  const kinds = networks.map((network) => ({ x402Version: 2, scheme: 'exact', network }));
  return { answer: () => ({ status: 200, body: { kinds } }) };
}
