import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { buildEndpoints, buildMerchant } from '../../lab/world/shop/factories.js';
import type { Payment } from '../../shared/payments/model.js';
import type { GrowingTable, Month } from '../../shared/values/months.js';
import { openTestApp, type TestApp } from './app.js';
import { runCommand, saidBy } from './cli.js';
import { buildPaidAndDelivered, inMonth, type PaidAndDelivered } from './months.js';
import { createPooledDatabase } from './suite.js';

/** A merchant with an endpoint, in a database that months are archived from, and a folder for each test. */
interface ArchiveShop {
  app: TestApp;
  url: string;
  accountId: string;
  endpointId: string;
  folder: string;
  buildPaid(month: Month, payment?: Partial<Payment>): Promise<PaidAndDelivered>;
}

/** Registers the hooks that open and close the shop. Its members are there when the first test runs. */
export function useArchiveShop(name: string): ArchiveShop {
  const shop = {} as ArchiveShop;
  before(async () => {
    const url = await createPooledDatabase(name);
    const app = await openTestApp({ DATABASE_URL: url });
    const { accountId } = await buildMerchant(app.db);
    const [endpointId = ''] = await buildEndpoints(app.db, accountId, 1);
    const buildPaid: ArchiveShop['buildPaid'] = (month, payment = {}) =>
      inMonth(month, () => buildPaidAndDelivered(app.db, { accountId, endpointId, payment }));
    Object.assign(shop, { app, url, accountId, endpointId, buildPaid });
  });
  beforeEach(async () => {
    shop.folder = await mkdtemp(path.join(os.tmpdir(), 'archive-spec-'));
  });
  afterEach(() => rm(shop.folder, { recursive: true }));
  after(() => shop.app.close());
  return shop;
}

/** Runs the command, which must print its answer. */
export async function archiveTo(folder: string, before: string) {
  const { status, stdout, stderr } = await runCommand(
    'archive',
    '--before',
    before,
    '--to',
    folder,
    '--json',
  );
  return { status, stderr: saidBy({ stderr }), answer: JSON.parse(stdout) };
}

export async function linesOf(folder: string, file: string): Promise<string[]> {
  const text = gunzipSync(await readFile(path.join(folder, file))).toString();
  return text.split('\n').slice(0, -1);
}

/** The ids in the files of a table. */
export async function idsIn(folder: string, table: GrowingTable): Promise<string[]> {
  const files = (await readdir(folder)).filter(
    (name) => name.startsWith(`${table}-`) && name.endsWith('.gz'),
  );
  const lines = await Promise.all(files.map((file) => linesOf(folder, file)));
  return lines.flat().map((line) => JSON.parse(line).id);
}
