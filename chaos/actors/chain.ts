import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { nowMs } from '../../shared/clock.js';
import { EvmChain } from '../../test/support/evm-chain.js';
import { becomeActor } from './actor.js';
import type { Transfer } from './entries.js';
import { Journal } from './journal.js';

/** The chain: its JSON-RPC endpoint, and an address at which the facilitator has transfers carried out. */
const BLOCK_MS = 1000;

const { settings, ready, hear } = becomeActor<{ chainId: number; journal: string }>();
const ledger = new Journal<Transfer>(settings.journal);
const chain = await EvmChain.start(settings.chainId);
const used = new Set<string>();
setInterval(() => chain.mine(), BLOCK_MS);

interface Wanted extends Omit<Transfer, 'at' | 'succeeded'> {
  asset: string;
}

const transfers = createServer(async (request, response) => {
  const wanted: Wanted = JSON.parse(await text(request));
  const { asset, from, to, amount, nonce, transaction } = wanted;
  const succeeded = !used.has(nonce);
  used.add(nonce);
  chain.movePayment({ asset, from, payTo: to, amount: BigInt(amount), nonce }, transaction);
  ledger.write({ at: nowMs(), nonce, transaction, from, to, amount, succeeded });
  response.end();
});
await new Promise<void>((listening) => transfers.listen(0, '127.0.0.1', listening));
const { port } = transfers.address() as AddressInfo;

hear({
  fail: ({ how }) => chain.endpoint.fail(how === 'cut' ? 'cut' : 'http_500'),
  heal: () => chain.endpoint.recover(),
});
ready({ rpc: chain.endpoint.url, transfers: `http://127.0.0.1:${port}` });
