import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import Stripe from 'stripe';
import { generatePrivateKey } from 'viem/accounts';
import { eventually } from '../../../lab/world/processes/eventually.js';
import type { Ran } from '../../../lab/world/processes/supervisor.js';
import { buildMerchant } from '../../../lab/world/shop/factories.js';
import { writeExampleEnvironment } from '../../../local/demo/example-environment.js';
import { projectRoot } from '../../../local/toolchain/project-root.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { parseFacilitatorSecret } from '../../../shared/secrets/facilitator-secret.js';
import { WebhookEndpoint } from '../../../shared/webhooks/model.js';
import { client, signToken } from '../../support/api-client.js';
import { BASE_SEPOLIA, PAID, UNTOUCHED } from '../../support/checkout.js';
import { COMMANDS, type ExampleHost, listen, openExampleHost } from '../../support/example-host.js';
import { forAllTests } from '../../support/hooks.js';
import { resetTestSandbox } from '../../support/sandbox.js';
import { fetchAgent } from '../../support/stock-agents.js';

const EXAMPLES = path.join(projectRoot(), 'examples');
const README = readFileSync(path.join(projectRoot(), 'README.md'), 'utf8');
const readExample = (name: string): string => readFileSync(path.join(EXAMPLES, name), 'utf8');
const linkIn = (text: string): string => /http:\S+\/c\/cs_test_\w+/.exec(text)?.[0] ?? assert.fail(text);
const idIn = (text: string): string => linkIn(text).replace(/.*\//, '');

describe('the examples, run by the commands of docs/integrate.md', () => {
  const host = forAllTests(openExampleHost);
  // A payment that takes longer than 100 ms is answered 202.
  const shortWait = forAllTests(() => openExampleHost({ SETTLE_WAIT_MS: '100' }));
  afterEach(() => resetTestSandbox());

  async function assertPaid(on: ExampleHost, id: string, { code, stdout, stderr }: Ran): Promise<void> {
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await on.checkout.state(id), PAID);
    const { transaction } = await on.checkout.payment(id);
    assert.match(stdout, new RegExp(`Paid \\$\\S+ to .*: ${transaction} on eip155:84532`));
  }

  /** Pays in this process, where no example has to. */
  async function pay(link: string): Promise<void> {
    const { status } = await (await fetchAgent()).pay(link, { network: BASE_SEPOLIA, symbol: 'USDC' });
    assert.equal(status, 200);
  }

  it('are all named in docs/integrate.md, and the README shows stripe-sdk.mjs unchanged', () => {
    const files = readdirSync(EXAMPLES).map((name) => `examples/${name}`);
    const named = COMMANDS.slice(1).map((command) => /examples\/\S+/.exec(command)?.[0]);
    assert.deepEqual([...named].sort(), files.sort());
    assert.ok(README.includes(readExample('stripe-sdk.mjs').replace(/^(?:\/\/.*\n)+/, '')));
  });

  it('import published packages only, and have at most 80 lines each', () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(path.join(projectRoot(), 'package.json'), 'utf8'),
    );
    for (const file of readdirSync(EXAMPLES).filter((name) => name.endsWith('.mjs'))) {
      const text = readExample(file);
      assert.ok(text.split('\n').length <= 80, file);
      for (const [, name = ''] of text.matchAll(/ from '([^']+)'/g)) {
        const [, owner = ''] = /^((?:@[^/]+\/)?[^/]+)/.exec(name) ?? [];
        assert.ok(name.startsWith('node:') || owner in { ...dependencies, ...devDependencies }, name);
      }
    }
  });

  describe('create-session.sh', () => {
    it("creates one session, however often it runs, and prints the link's payment requirements", async () => {
      const [first, again] = [await host.run('create-session.sh'), await host.run('create-session.sh')];
      assert.deepEqual([first.code, first.stderr], [0, '']);
      assert.equal(linkIn(again.stdout), linkIn(first.stdout));
      const session = await host.checkout.session(idIn(first.stdout));
      assert.deepEqual([session.amountTotalCents, session.clientReferenceId], [450, '1234']);
      const { accepts } = JSON.parse(first.stdout.slice(first.stdout.indexOf('{')));
      assert.equal(accepts[0].amount, '4500000');
    });

    it("exits with the API's error when it is refused", async () => {
      const { code, stderr } = await host.run('create-session.sh', '', { CHECKOUT_KEY: 'svc_ck_test_wrong' });
      assert.notEqual(code, 0);
      assert.match(stderr, /api_key_invalid/);
    });
  });

  describe('stripe-sdk.mjs', () => {
    it('creates a session, and lists its payment once agent-axios.mjs has paid it', async () => {
      const first = await host.run('stripe-sdk.mjs');
      assert.deepEqual([first.code, first.stderr], [0, '']);
      const id = idIn(first.stdout);
      assert.match(first.stdout, new RegExp(`${id} of \\$9\\.00 is open and unpaid\\.`));
      await assertPaid(host, id, await host.run('agent-axios.mjs', linkIn(first.stdout)));
      const { stdout } = await host.run('stripe-sdk.mjs');
      assert.match(stdout, new RegExp(`${id} was paid \\$9\\.00 in USDC on Base Sepolia\\.`));
    });
  });

  // agent-fetch.mjs and agent-axios.mjs also pay a link whose first answer is final, in the specs below and above.
  for (const example of ['agent-fetch.mjs', 'agent-axios.mjs']) {
    describe(example, () => {
      it('polls after a 202, and pays once', async () => {
        await shortWait.checkout.sandbox.turn({ blocks: 'slow' });
        const { id, link } = await shortWait.newLink();
        shortWait.statuses.length = 0;
        await assertPaid(shortWait, id, await shortWait.run(example, link));
        assert.deepEqual([...new Set(shortWait.statuses)], [402, 202, 200]);
      });

      it('prints why a payment was refused', async () => {
        const { id, link } = await host.newLink();
        const poor = { BUYER_KEY: generatePrivateKey() };
        const { code, stderr } = await host.run(example, link, poor);
        assert.notEqual(code, 0);
        assert.match(stderr, /Not paid \(HTTP 402\): .*"code":"insufficient_funds"/);
        assert.equal((await host.checkout.state(id)).session, 'open');
      });
    });
  }

  it('agent-fetch.mjs pays no more than the limit that it sets', async () => {
    const { id, link } = await host.newLink(2001);
    const { code, stderr } = await host.run('agent-fetch.mjs', link);
    assert.notEqual(code, 0);
    assert.match(stderr, /rejected by spendControls\.maxAmountPerPayment \(\$20/);
    assert.deepEqual(await host.checkout.state(id), UNTOUCHED);
  });

  describe('self-service.mjs', () => {
    it('goes from a facilitator key to a paid session without a person, and accepts signed events only', async () => {
      const { app, merchant } = host.checkout;
      const seller = host.begin('self-service.mjs');
      const link = await eventually(() => linkIn(seller.printed()), 60_000);
      const endpoint = await WebhookEndpoint.query(app.db)
        .where({ accountId: merchant.accountId, deletedAt: null })
        .first()
        .throwIfNotFound();
      const forged = await fetch(endpoint.url, {
        method: 'POST',
        headers: { 'service-signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` },
        body: JSON.stringify({ id: 'evt_1', data: { object: { id: idIn(link), payment: {} } } }),
      });
      assert.equal(forged.status, 400);
      assert.doesNotMatch(seller.printed(), /Paid/);

      await assertPaid(host, idIn(link), await host.run('agent-fetch.mjs', link));
      const { code, stdout, stderr } = await seller.ran();
      assert.deepEqual([code, stderr], [0, '']);
      const { payer, transaction } = await host.checkout.payment(idIn(link));
      assert.match(stdout, new RegExp(`Paid by ${payer}: https://\\S+/tx/${transaction}`));
      const session = await CheckoutSession.query(app.db).findById(idIn(link)).throwIfNotFound();
      assert.deepEqual([session.accountId, session.livemode], [merchant.accountId, false]);
      const { deletedAt } = await WebhookEndpoint.query(app.db).findById(endpoint.id).throwIfNotFound();
      assert.notEqual(deletedAt, null);
    });

    it("exits with the API's error when its key is not registered", async () => {
      const { code, stderr } = await host.run('self-service.mjs', '', { AGENT_KEY_ID: 'unknown' });
      assert.notEqual(code, 0);
      assert.match(stderr, /names no facilitator key that is registered here/);
    });
  });

  describe('forward-events.mjs', () => {
    it('posts each event to a local address, once and signed', async () => {
      const created: string[] = [];
      const got: { raw: string; signature: string }[] = [];
      const shop = createServer((req, res) => {
        const chunks: Buffer[] = [];
        req.on('data', (chunk: Buffer) => chunks.push(chunk));
        req.on('end', () => {
          const signature = String(req.headers['service-signature']);
          const raw = Buffer.concat(chunks).toString('utf8');
          const { type, data } = JSON.parse(raw);
          // An event of an earlier test is forwarded too when it was created in the second in which the program starts.
          if (created.includes(data.object.id)) got.push({ raw, signature });
          res.writeHead(type === 'checkout.session.completed' ? 500 : 200).end();
        });
      });
      const address = await listen(shop);
      const follower = host.begin('forward-events.mjs', '', { SHOP: address });
      try {
        const secret = await eventually(
          () => /whsec_\S+/.exec(follower.printed())?.[0] ?? assert.fail(follower.printed()),
          60_000,
        );
        const { id, link } = await host.newLink();
        const { id: other } = await host.newLink();
        created.push(id, other);
        await pay(link);
        const { app, merchant } = host.checkout;
        await client(app, merchant.testKey).post(`/v1/checkout/sessions/${other}/expire`).expect(200);
        await eventually(() => assert.equal(got.length, 2), 60_000);
        const { webhooks } = new Stripe('svc_ck_test_none');
        const events = got.map(({ raw, signature }) => webhooks.constructEvent(raw, signature, secret));
        assert.deepEqual(
          events.map(({ type, data }) => [type, 'id' in data.object && data.object.id]),
          [
            ['checkout.session.completed', id],
            ['checkout.session.expired', other],
          ],
        );
        await eventually(() => {
          assert.match(follower.printed(), new RegExp(`completed ${id} → HTTP 500`));
          assert.match(follower.printed(), new RegExp(`expired ${other} → HTTP 200`));
        });
      } finally {
        await follower.stop();
        shop.closeAllConnections();
        await new Promise((resolve) => shop.close(resolve));
      }
    });
  });

  describe('examples.env', () => {
    const read = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        (await readFile(path.join(host.folder, 'examples.env'), 'utf8'))
          .trim()
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      );
    const write = (testKey: string, baseUrl = 'http://localhost:3000') =>
      writeExampleEnvironment(host.checkout.app.db, host.folder, { baseUrl, testKey, buyerKey: undefined });
    /** Signs up in this process, as self-service.mjs does in its own. */
    const assertSignsUp = async (): Promise<void> => {
      const { AGENT_KEY_ID: keyId = '', AGENT_KEY_SECRET: secret = '' } = await read();
      const privateKey = parseFacilitatorSecret('svc', secret);
      const token = signToken({ accountId: '', keyId, privateKey, publicKey: createPublicKey(privateKey) });
      await client(host.checkout.app, token).post('/v1/keys', { livemode: false }).expect(200);
    };

    it('keeps its key over restarts, and with another address or database', async () => {
      const { AGENT_KEY_SECRET: secret, AGENT_KEY_ID: id } = await read();
      await write(host.checkout.merchant.testKey, 'http://localhost:3001');
      const later = await read();
      assert.deepEqual(
        [later.AGENT_KEY_SECRET, later.AGENT_KEY_ID, later.CHECKOUT_URL, later.BUYER_KEY],
        [secret, id, 'http://localhost:3001', undefined],
      );
      const other = await buildMerchant(host.checkout.app.db);
      await write(other.testKey);
      const elsewhere = await read();
      assert.notEqual(elsewhere.AGENT_KEY_ID, id);
      await assertSignsUp();
    });

    it('is readable by its owner only, and is rewritten when it is damaged', async () => {
      const file = path.join(host.folder, 'examples.env');
      const { mode } = await stat(file);
      assert.equal(mode & 0o777, 0o600);
      for (const damaged of ['', 'AGENT_KEY_SECRET=svc_sk_AAAA\n', '\0\0\n=']) {
        await writeFile(file, damaged);
        await write(host.checkout.merchant.testKey);
        await assertSignsUp();
      }
    });
  });
});
