import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Hex } from 'viem';
import type { Chain } from '../../lab/world/chains/chain.js';
import { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { SolanaChain } from '../../lab/world/chains/solana-chain.js';
import { startFacilitator } from '../../lab/world/facilitator/facilitator.js';
import { type LocalServer, serveLocally } from '../../lab/world/http/listen.js';
import { eventually } from '../../lab/world/processes/eventually.js';
import { paymentHeader, signSolanaPayment } from '../../lab/world/shop/agent.js';
import { buildMerchant, EVM_WALLET } from '../../lab/world/shop/factories.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import { BASE_SEPOLIA, BUYER, type Checkout, findEntry, openCheckout, SOLANA_DEVNET } from './checkout.js';
import { type Ran, runCommand } from './cli.js';
import { emptyTables } from './empty-tables.js';
import { setEnvironment } from './environment.js';
import type { Kind } from './kinds.js';
import { moveOnChain } from './money-flow.js';
import { createPooledDatabase } from './suite.js';

/** A checkout on an EVM chain and a Solana cluster of its own, whose books an operator holds against them. */
export interface Books extends Checkout {
  evm: EvmChain;
  solana: SolanaChain;
  databaseUrl: string;
  db: Knex;
  environment: Record<string, string>;
  /** Pays as the page does, whose nonces come from the server. */
  payByPage(id: string): Promise<void>;
  /** Pays as a stock agent does, with a nonce of its own. */
  payByAgent(id: string): Promise<void>;
  /** Pays as a stock agent does, with the memo that the link asks for, or with another. */
  paySolana(id: string, memo?: string): Promise<void>;
  /** Settles an authorization of BUYER, in Base Sepolia's USDC, that the service never saw; returns the transaction. */
  arrives(transfer: { nonce: string; amount?: bigint; payTo?: string }): string;
  /** Keeps a copy of sessions, payments, events and deliveries. */
  takeCopy(): Promise<void>;
  restoreCopy(): Promise<void>;
  /** The state after opening: no rows but a new merchant's and operators' actions, and new chains behind the same endpoints. */
  startOver(): Promise<void>;
  reconcile(...argv: string[]): Promise<Report>;
  /** Runs `reconcile` and returns the lines that people read. */
  printed(...argv: string[]): Promise<Ran>;
}

export interface ReportLine {
  status: 'matched' | 'unrecorded' | 'missing' | 'different';
  at: string | null;
  network: string;
  transaction: string | null;
  token: string;
  token_amount: string;
  payer: string | null;
  pay_to: string;
  checkout_session?: string;
  refund?: string;
  payment?: string;
  account?: string;
  differs?: string[];
  because?: string;
  repaired?: true;
}

export interface Report {
  status: number;
  lines: ReportLine[];
  counts: Record<string, unknown>;
  log: Record<string, unknown>[];
  /** The command's last line. */
  said: string;
  ran: Ran;
}

/** The amount of every session. */
export const PRICE = 4_500_000n;
export const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const COPIED = ['payables', 'payments', 'events', 'webhook_deliveries'];
const FORGOTTEN = [
  ...COPIED,
  ...['payment_marks', 'reconcile_positions', 'reconcile_turns'],
  ...['api_keys', 'payout_wallets', 'accounts'],
];

export async function openBooks(
  name: string,
  {
    kind = 'session',
    environment: settings = {},
  }: { kind?: Kind; environment?: Record<string, string> } = {},
): Promise<Books> {
  const databaseUrl = await createPooledDatabase(name);
  const db = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'migrate').database);
  const evmEndpoint = await serveCurrent(() => books.evm);
  const solanaEndpoint = await serveCurrent(() => books.solana);
  /** Signed transactions by the hash of their message. */
  const signed = new Map<string, string>();
  const facilitator = await startFacilitator({
    networks: [BASE_SEPOLIA, SOLANA_DEVNET],
    onSettled: (movement) => {
      if (movement.network === BASE_SEPOLIA) return moveOnChain(books.evm, movement);
      books.solana.movePayment(signed.get(movement.paymentId) ?? '', { signature: movement.transaction });
    },
  });
  const environment = {
    DATABASE_URL: databaseUrl,
    RPC_URL_EIP155_84532: evmEndpoint.url,
    RPC_URL_SOLANA_DEVNET: solanaEndpoint.url,
    ...settings,
  };
  const checkout = await openCheckout({ facilitator, environment, kind });
  const paid = async (id: string, header: string): Promise<void> => {
    const answer = await checkout.visit(id, { 'PAYMENT-SIGNATURE': header });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  const solanaEntry = async (id: string): Promise<PaymentRequirements> =>
    findEntry((await checkout.quote(id)).accepts, SOLANA_DEVNET);
  const books: Books = {
    ...checkout,
    evm: EvmChain.inProcess(84532),
    solana: SolanaChain.inProcess(SOLANA_DEVNET),
    databaseUrl,
    db,
    environment,
    async payByPage(id) {
      const nonce: Hex = checkout.app.references.nonceOf(id);
      await paid(id, (await checkout.sign(id, { nonce })).header);
    },
    payByAgent: async (id) => paid(id, (await checkout.sign(id)).header),
    async paySolana(id, memo) {
      const entry = await solanaEntry(id);
      const blockhash = books.solana.issueBlockhash();
      const payload = signSolanaPayment(entry, {
        payer: Keypair.generate(),
        blockhash,
        ...(memo && { memo }),
      });
      signed.set(hashOf(payload.transaction), payload.transaction);
      await paid(id, paymentHeader(entry, payload));
    },
    arrives: ({ nonce, amount = PRICE, payTo = EVM_WALLET }) =>
      books.evm.movePayment({ asset: USDC, from: BUYER.address, payTo, amount, nonce }),
    async takeCopy() {
      for (const table of COPIED) {
        await db.raw('DROP TABLE IF EXISTS ??', [`${table}_copy`]);
        await db.raw('CREATE TABLE ?? AS TABLE ??', [`${table}_copy`, table]);
      }
    },
    async restoreCopy() {
      await emptyTables(db, ...COPIED);
      for (const table of COPIED) await db.raw('INSERT INTO ?? SELECT * FROM ??', [table, `${table}_copy`]);
    },
    async startOver() {
      // One statement deletes the rows, which refer to each other, and at its end all are gone. It fails, and runs again, if
      // a worker commits an event meanwhile, as of a session that expires.
      const deletions = FORGOTTEN.map((table) => `${table}_gone AS (DELETE FROM ${table})`);
      await eventually(() => db.raw(`WITH ${deletions.join()} SELECT`));
      Object.assign(checkout.merchant, await buildMerchant(db));
      books.evm = EvmChain.inProcess(84532);
      books.solana = SolanaChain.inProcess(SOLANA_DEVNET);
      facilitator.settle.honest();
    },
    reconcile: async (...argv) =>
      await withEnvironment({ ...environment, FACILITATOR_URL: facilitator.url }, async () =>
        readReport(await runCommand('reconcile', '--json', ...argv)),
      ),
    printed: async (...argv) =>
      await withEnvironment({ ...environment, FACILITATOR_URL: facilitator.url }, async () =>
        runCommand('reconcile', ...argv),
      ),
    async close() {
      await checkout.close();
      await evmEndpoint.close();
      await solanaEndpoint.close();
      await db.destroy();
    },
  };
  return books;
}

/** A single address for chains that follow each other. */
function serveCurrent(chain: () => Chain): Promise<LocalServer> {
  return serveLocally(async (request, response) => {
    const init = { method: 'POST', body: await text(request) };
    const answer = await chain()
      .endpoint.fetch('', init)
      .catch(() => undefined);
    if (answer === undefined) response.socket?.destroy();
    else response.writeHead(answer.status, [...answer.headers].flat()).end(await answer.text());
  });
}

function hashOf(transaction: string): string {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  return createHash('sha256').update(message.serialize()).digest('hex');
}

function readReport(ran: Ran): Report {
  const lines = ran.stdout.split('\n').filter((line) => line !== '');
  const errors = ran.stderr.split('\n').filter((line) => line !== '');
  const isJson = (line: string): boolean => line.startsWith('{');
  const objects: Record<string, unknown>[] = errors.filter(isJson).map((line) => JSON.parse(line));
  return {
    status: ran.status,
    lines: lines.map((line) => JSON.parse(line)),
    counts: objects.find((object) => 'matched' in object) ?? {},
    log: objects.filter((object) => 'event' in object),
    said: errors.filter((line) => !isJson(line)).join('\n'),
    ran,
  };
}

async function withEnvironment<T>(variables: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const restore = setEnvironment(variables);
  return await work().finally(restore);
}

/** The lines of a report by status, with what else tells them apart. */
export function countLines(lines: readonly ReportLine[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, repaired, because, differs } of lines) {
    const what = [status, repaired && 'repaired', because, ...(differs ?? [])]
      .filter((part) => part !== undefined)
      .join(' ');
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}
