import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { extractOffersFromPaymentRequired } from '@x402/extensions/offer-receipt';
import { failsToSettle } from '../../../lab/world/facilitator/dial.js';
import {
  FRONT_PROXIES,
  type FrontProxy,
  type FrontProxyKind,
  LONG_HEADERS,
  startFrontProxy,
} from '../../../lab/world/proxy/front-proxies.js';
import { paymentHeader } from '../../../lab/world/shop/agent.js';
import { updateAccount } from '../../../shared/accounts/accounts.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { type Checkout, openCheckout, X_LAYER_TESTNET } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { answerOf, decodeHeader } from '../../support/link-answers.js';

const MAX_BYTES = 4096;
const LEAST_BYTES = 3584;
const HEAD_END = '\r\n\r\n';
const LONG = '🥐'.repeat(250);

/** Every kind of answer that a link gives, and what makes it. */
const ANSWERS: Record<string, (world: World) => Promise<Sent>> = {
  'a 402 of a test session': async ({ open }) => ({ path: await open({}), status: 402 }),
  'a 402 of every network, with the longest names': async ({ open, longest }) => ({
    path: await open(longest),
    status: 402,
  }),
  'a 402 of one network and token, which has room for a signed offer': async ({ open }) => ({
    path: `${await open({})}?network=${X_LAYER_TESTNET}&token=USDG`,
    status: 402,
  }),
  'a 402 to the payment of a browser that failed': async ({ failing }) => ({
    ...(await failing()),
    accept: 'text/html',
    status: 402,
  }),
  'a 402 to a payment that failed': async ({ failing }) => ({ ...(await failing()), status: 402 }),
  'a 200 to a payment': async ({ paying }) => ({ ...(await paying()), status: 200 }),
  'a 200 to a plain request': async ({ paid }) => ({ path: (await paid()).path, status: 200 }),
  'a 200 with the page': async ({ paid }) => ({
    path: (await paid()).path,
    accept: 'text/html',
    status: 200,
  }),
  'a 200 with the page of an open session': async ({ open, longest }) => ({
    path: await open(longest),
    accept: 'text/html',
    status: 200,
  }),
  'a 409 to the same payment again': async ({ paid }) => ({ ...(await paid()), status: 409 }),
  'a 410': async ({ open }) => ({ path: await open({ status: 'expired' }), status: 410 }),
  'a 404': async () => ({ path: '/c/cs_test_unknown', status: 404 }),
};

interface Sent {
  path: string;
  payment?: string;
  accept?: string;
  status: number;
}

interface World {
  longest: Partial<CheckoutSession>;
  open(details: Partial<CheckoutSession>): Promise<string>;
  paying(): Promise<{ path: string; payment: string }>;
  failing(): Promise<{ path: string; payment: string }>;
  paid(): Promise<{ path: string; payment: string }>;
}

describe('an answer of a link', () => {
  const proxies = new Map<FrontProxyKind, FrontProxy>();
  const checkout = forAllTests(() =>
    openCheckout({
      environment: {
        RESPONSE_HEADER_MAX_BYTES: String(MAX_BYTES),
        RECEIPT_SIGNING_KEYS: newSigningKey(),
      },
    }),
  );
  let world: World;

  before(async () => {
    const logoUrl = `https://shop.example/${'l'.repeat(2000)}`;
    await updateAccount(checkout.app.db, checkout.merchant.accountId, { name: LONG, logoUrl });
    world = worldOf(checkout);
    await Promise.all(
      FRONT_PROXIES.map(async (kind) => proxies.set(kind, await startFrontProxy(kind, checkout.app.port))),
    );
  });
  after(async () => {
    await Promise.all([...proxies.values()].map((proxy) => proxy.stop()));
  });

  it('has a signed offer when one network and token are asked for, and more entries instead when not', async () => {
    const { id } = await checkout.buildSession();
    const offersOf = async (path: string): Promise<number> =>
      extractOffersFromPaymentRequired((await checkout.quote(path)) as never).length;
    assert.equal(await offersOf(`${id}?network=${X_LAYER_TESTNET}&token=USDG`), 1);
    assert.equal(await offersOf(id), 0);
  });

  for (const [title, prepare] of Object.entries(ANSWERS)) {
    it(`has ${MAX_BYTES} bytes of headers at most: ${title}`, async () => {
      const sent = await prepare(world);
      const { status, bytes } = await readHead(checkout.app.port, sent);
      assert.equal(status, sent.status);
      assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
    });

    for (const kind of FRONT_PROXIES) {
      it(`passes ${kind} as it is after its installation: ${title}`, async () => {
        const sent = await prepare(world);
        const res = await fetch(`${proxies.get(kind)?.url}${sent.path}`, { headers: headersOf(sent) });
        assert.equal(res.status, sent.status);
        const [required, body] = [res.headers.get('PAYMENT-REQUIRED'), await res.text()];
        if (status402(sent)) assert.deepEqual(decodeHeader(required ?? ''), JSON.parse(body));
        else assert.notEqual(body, '');
      });
    }
  }
});

describe('an answer of a link with the least room that the longest one needs', () => {
  const checkout = forAllTests(() =>
    openCheckout({
      environment: {
        RESPONSE_HEADER_MAX_BYTES: String(LEAST_BYTES),
        RECEIPT_SIGNING_KEYS: newSigningKey(),
      },
    }),
  );
  let world: World;

  before(async () => {
    await updateAccount(checkout.app.db, checkout.merchant.accountId, { name: LONG });
    world = worldOf(checkout);
  });

  for (const [title, prepare] of Object.entries(ANSWERS)) {
    it(`has ${LEAST_BYTES} bytes of headers at most: ${title}`, async () => {
      const sent = await prepare(world);
      const { status, bytes } = await readHead(checkout.app.port, sent);
      assert.equal(status, sent.status);
      assert.ok(bytes <= LEAST_BYTES, `${bytes} bytes`);
    });
  }
});

describe('an entry that a 402 has no room for', () => {
  const checkout = forAllTests(() =>
    openCheckout({ environment: { RESPONSE_HEADER_MAX_BYTES: String(LEAST_BYTES) } }),
  );

  const entriesOf = async (path: string): Promise<string[]> =>
    (await checkout.quote(path)).accepts.map(({ network, asset }) => `${network} ${asset}`);

  it('is reached by its parameters, and paid at the link itself', async () => {
    const { id } = await checkout.buildSession();
    const path = `${id}?network=${X_LAYER_TESTNET}&token=USDG`;
    const [entry = '', ...others] = await entriesOf(path);
    assert.deepEqual([entry.split(' ')[0], others], [X_LAYER_TESTNET, []]);
    assert.equal((await entriesOf(id)).includes(entry), false);
    const { header } = await checkout.sign(path, { network: X_LAYER_TESTNET });
    assert.equal(answerOf(await checkout.visit(id, { 'PAYMENT-SIGNATURE': header })), '200 complete');
  });

  it('is paid at the link with its network as a parameter', async () => {
    const { id } = await checkout.buildSession();
    const res = await checkout.pay(`${id}?network=${X_LAYER_TESTNET}`, { network: X_LAYER_TESTNET });
    assert.equal(answerOf(res), '200 complete');
  });

  it('is not paid where it is not offered: the 402 says what is', async () => {
    const { id } = await checkout.buildSession();
    const res = await fetch(`http://127.0.0.1:${checkout.app.port}/c/${id}?network=eip155:5`);
    const { error, accepts } = JSON.parse(await res.text());
    assert.deepEqual([res.status, accepts], [402, []]);
    assert.match(error, /the networks are eip155:84532, /);
  });
});

describe('a payment header of 16 KiB', () => {
  const checkout = forAllTests(openCheckout);

  for (const kind of FRONT_PROXIES) {
    it(`passes ${kind} as docs/deploy.md configures it`, async () => {
      const deploy = await readFile(new URL('../../../docs/deploy.md', import.meta.url), 'utf8');
      assert.ok(deploy.includes(LONG_HEADERS[kind]), LONG_HEADERS[kind]);
      const proxy = await startFrontProxy(kind, checkout.app.port, LONG_HEADERS[kind]);
      const { id } = await checkout.buildSession();
      const { accepted, payload } = await checkout.sign(id);
      const bare = Buffer.from(paymentHeader(accepted, payload, { filler: '' }), 'base64').length;
      const filler = 'x'.repeat(12 * 1024 - bare);
      const payment = paymentHeader(accepted, payload, { filler });
      assert.equal(payment.length, 16 * 1024);
      const res = await fetch(`${proxy.url}/c/${id}`, { headers: { 'PAYMENT-SIGNATURE': payment } });
      assert.equal(res.status, 200);
      await proxy.stop();
    });
  }
});

const newSigningKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');

const status402 = ({ status, accept }: Sent): boolean => status === 402 && accept === undefined;

function headersOf({ payment, accept }: Sent): Record<string, string> {
  return {
    ...(payment !== undefined && { 'PAYMENT-SIGNATURE': payment }),
    ...(accept !== undefined && { Accept: accept }),
  };
}

/** Reads an answer's head from the socket, byte by byte as the service sends it. */
async function readHead(port: number, sent: Sent): Promise<{ status: number; bytes: number }> {
  const socket = connect(port, '127.0.0.1');
  const headers = { Host: 'pay.example', ...headersOf(sent), Connection: 'keep-alive' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${sent.path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  let text = '';
  for await (const piece of socket) {
    text += piece.toString('latin1');
    if (text.includes(HEAD_END)) break;
  }
  return { status: Number(text.slice(9, 12)), bytes: text.indexOf(HEAD_END) + HEAD_END.length };
}

function worldOf(checkout: Checkout): World {
  const pathOf = (id: string): string => `/c/${id}`;
  const open = async (details: Partial<CheckoutSession>): Promise<string> =>
    pathOf((await checkout.buildSession(details)).id);
  const paying = async () => {
    const { id } = await checkout.buildSession();
    return { path: pathOf(id), payment: (await checkout.sign(id)).header };
  };
  return {
    longest: {
      livemode: true,
      // The most that can be paid on Solana; the most that a session can cost has as many digits.
      amountTotalCents: 1_844_674_407_370_955,
      lineItems: [
        {
          id: 'li_1',
          name: LONG,
          description: LONG,
          images: [],
          unitAmountCents: 1,
          quantity: 999_999,
        },
      ],
    },
    open,
    paying,
    async failing() {
      const ready = await paying();
      checkout.facilitator.settle.next(failsToSettle('kyt_risk_detected'));
      return ready;
    },
    async paid() {
      const ready = await paying();
      const res = await fetch(`http://127.0.0.1:${checkout.app.port}${ready.path}`, {
        headers: { 'PAYMENT-SIGNATURE': ready.payment },
      });
      assert.equal(res.status, 200);
      return ready;
    },
  };
}
