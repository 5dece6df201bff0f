import assert from 'node:assert/strict';
import path from 'node:path';
import request from 'supertest';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import type { CheckoutSession } from '../../shared/checkout-sessions/model.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { allStatements } from '../support/query-plans.js';
import { arrowsBetween, findCircle, readImports } from '../support/source-graph.js';

/**
 * The rooms of api/ in the order of their imports: a room imports only from lines below its own, types included. An entry
 * file in api/ itself counts as a room, and so does a sub-folder that is listed here.
 */
const ROOMS = [
  ['server.ts'],
  ['process'],
  ['app.ts'],
  ['payment-link/http', 'mcp', 'docs', 'dashboard', 'operator'],
  ['openapi'],
  ['v1'],
  ['middleware'],
  ['deps'],
  ['payment-link', 'checkout-page', 'merchant-images', 'metrics'],
  ['errors', 'input', 'limits'],
  ['http'],
];

const graph = readImports('api');

function roomOf(file: string): string {
  const [, folder = '', subFolder] = file.split(path.sep);
  const inner = `${folder}/${subFolder}`;
  return ROOMS.flat().includes(inner) ? inner : folder;
}

function folderOf(file: string): string {
  const folder = path.dirname(file);
  return folder === 'api' ? file : folder;
}

function importersOf(imported: RegExp): string[] {
  return [...graph].flatMap(([file, imports]) => (imports.some((name) => imported.test(name)) ? [file] : []));
}

describe('the architecture of api/', () => {
  it('is not empty', () => {
    assert.ok(graph.size > 100);
    assert.ok(graph.get('api/app.ts')?.includes('api/deps/deps.ts'));
  });

  it('has its rooms in one order, and each imports only from rooms below', () => {
    const level = new Map(ROOMS.flatMap((rooms, index) => rooms.map((room) => [room, index] as const)));
    const arrows = arrowsBetween(graph, roomOf);
    assert.deepEqual([...arrows.keys()].sort(), [...level.keys()].sort());
    const upwards = [...arrows].flatMap(([from, all]) =>
      all.filter((to) => Number(level.get(to)) <= Number(level.get(from))).map((to) => `${from} → ${to}`),
    );
    assert.deepEqual(upwards, []);
  });

  it('has no import circle of files or folders', () => {
    assert.equal(findCircle(graph), undefined);
    assert.equal(findCircle(arrowsBetween(graph, folderOf)), undefined);
  });

  it('answers a link without HTTP, and renders its page without a database', () => {
    const http = importersOf(/^express$/).filter((file) => roomOf(file) === 'payment-link');
    assert.deepEqual(http, []);
    const reads = importersOf(/^shared\/(db|queues)\/|^(knex|objection)$/).filter(
      (file) => roomOf(file) === 'checkout-page',
    );
    assert.deepEqual(reads, []);
  });

  it('loads the paying code only for a sent payment', () => {
    assert.deepEqual(importersOf(/^api\/payment-link\/pay\.ts$/), ['api/payment-link/load-pay.ts']);
    // The server only preloads it.
    const payers = [
      'api/payment-link/http/send-pay-outcome.ts',
      'api/payment-link/http/serve-link.ts',
      'api/process/start-web.ts',
    ];
    assert.deepEqual(importersOf(/^api\/payment-link\/load-pay\.ts$/).sort(), payers);
  });

  it('answers an MCP tool without a made-up request', () => {
    const makers = importersOf(/^node:(http|net)$/).filter((file) => roomOf(file) === 'mcp');
    assert.deepEqual(makers, []);
  });
});

describe('a visit of a link', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false }));

  /** The statements that a request for this URL sends to Postgres. */
  async function statementsOf(address: string, accept: string, status: number): Promise<string[]> {
    const sent = await allStatements(checkout.app.db, () =>
      request(checkout.app.server).get(address).set('Accept', accept).expect(status).then(),
    );
    return sent.map(({ sql }) => sql);
  }

  const SESSIONS: [state: string, build: () => Promise<CheckoutSession>, load: number, agent: number][] = [
    ['open', () => checkout.buildSession(), 200, 402],
    ['expired', () => checkout.buildSession({ status: 'expired' }), 410, 410],
    ['past its time', () => checkout.buildSession({ expiresAt: new Date(0) }), 410, 410],
    ['processing', () => checkout.buildSession({ status: 'processing' }), 200, 202],
    [
      'complete',
      async () => (await buildPaidSession(checkout.app.db, checkout.merchant.accountId)).session,
      200,
      200,
    ],
  ];
  for (const [state, build, load, agent] of SESSIONS) {
    it(`reads a session that is ${state} once, and nothing else`, async () => {
      const { id } = await build();
      // The first visit stores the offer.
      await checkout.visit(id);
      const asked: [address: string, accept: string, status: number][] = [
        [`/c/${id}`, 'text/html', load],
        [`/c/${id}`, 'application/json', agent],
        [`/c/${id}/page`, 'text/html', 200],
        [`/c/${id}/status`, 'application/json', 200],
      ];
      for (const [address, accept, status] of asked) {
        const sent = await statementsOf(address, accept, status);
        const [first = '', ...others] = sent;
        assert.match(first, /FROM payables/);
        // The receipt names payments beside the payment that completed the session.
        if (state === 'complete' && accept === 'text/html') assert.match(others.shift() ?? '', /surplus/);
        assert.deepEqual(others, [], `${address} as ${accept}`);
      }
    });
  }
});
