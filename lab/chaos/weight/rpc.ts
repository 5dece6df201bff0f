import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A Solana endpoint that counts its calls. Every wallet holds enough of every token. */
export interface CountingRpc {
  url: string;
  calls(): number;
  stop(): Promise<void>;
}

const DEVNET_GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const BLOCKHASH = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM';

export async function startCountingRpc(): Promise<CountingRpc> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    calls += 1;
    const { id, method, params } = (await json(request)) as { id: string; method: string; params: unknown[] };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function answer(method: string, [accounts]: unknown[]): unknown {
  const context = { slot: 1 };
  if (method === 'getGenesisHash') return DEVNET_GENESIS;
  if (method === 'getLatestBlockhash')
    return { context, value: { blockhash: BLOCKHASH, lastValidBlockHeight: 150 } };
  if (method !== 'getMultipleAccounts' || !Array.isArray(accounts)) return null;
  const data = Buffer.alloc(165);
  data.writeBigUInt64LE(10n ** 15n, 64);
  const account = { executable: false, lamports: 1, owner: TOKEN_PROGRAM, rentEpoch: 0, space: data.length };
  return { context, value: accounts.map(() => ({ ...account, data: [data.toString('base64'), 'base64'] })) };
}
