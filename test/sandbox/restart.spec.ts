import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { Connection, PublicKey } from '@solana/web3.js';
import { privateKeyToAddress } from 'viem/accounts';
import { SANDBOX_TOKEN_ABI } from '../../lab/sandbox/evm/contracts.js';
import { BASE_SEPOLIA } from '../../lab/sandbox/networks/networks.js';
import { EVM_BUYER_KEY } from '../../lab/sandbox/networks/wallets.js';
import { type Sandbox, startSandbox } from '../../lab/sandbox/sandbox.js';
import { closeServer, listen } from '../../lab/world/http/listen.js';

const WALLET = 'GRQ924CSpmbXFxuMvpN7EWFJbZrwh3CTWrshJ8Le8Zh6';
const BUYER = privateKeyToAddress(EVM_BUYER_KEY);
const HALF_LINE = '{"accounts":[{"addr';

describe('a sandbox with a folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'sandbox-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const TOKEN = { address: BASE_SEPOLIA.tokens[0]?.address ?? '0x', abi: SANDBOX_TOKEN_ABI } as const;

  async function balances({ chains }: Sandbox): Promise<unknown[]> {
    const call = { ...TOKEN, functionName: 'balanceOf', args: [BUYER] } as const;
    const lamports = await new Connection(chains.solana.url).getBalance(new PublicKey(WALLET));
    return [await chains.baseSepolia.client.readContract(call), lamports];
  }

  async function mintOne({ chains }: Sandbox): Promise<void> {
    const { client } = chains.baseSepolia;
    const hash = await client.writeContract({ ...TOKEN, functionName: 'mint', args: [BUYER, 1n] });
    await client.waitForTransactionReceipt({ hash });
  }

  async function using(
    options: Parameters<typeof startSandbox>[0],
    work: (sandbox: Sandbox) => unknown,
  ): Promise<void> {
    const sandbox = await startSandbox(options);
    try {
      await work(sandbox);
    } finally {
      await sandbox.stop();
    }
  }

  it('continues from its saved state', async () => {
    let before: unknown[] = [];
    await using({ folder }, async (sandbox) => {
      await mintOne(sandbox);
      before = await balances(sandbox);
    });
    await using({ folder }, async (sandbox) => assert.deepEqual(await balances(sandbox), before));
  });

  it('starts with an empty chain when a state file is truncated', async () => {
    await writeFile(path.join(folder, 'base-sepolia.json'), '{"block":{"number"');
    await (await startSandbox({ folder })).stop();
    await appendFile(path.join(folder, 'solana.jsonl'), HALF_LINE);
    await using({ folder }, async (sandbox) =>
      assert.deepEqual(await balances(sandbox), [1_000_000_000_000n, 1_000_000_000_000]),
    );
  });

  it('uses the next free port when a port is taken', async () => {
    const other = createServer();
    const taken = await listen(other, 0);
    const free = { secondFacilitator: 0, xLayerTestnet: 0 };
    const ports = { ...free, facilitator: taken, baseSepolia: taken, solana: taken };
    try {
      await using({ ports }, ({ facilitator, chains }) => {
        const urls = [facilitator.url, chains.baseSepolia.url, chains.solana.url];
        const chosen = urls.map((url) => Number(new URL(url).port));
        assert.equal(chosen.includes(taken), false);
        assert.equal(new Set(chosen).size, 3);
      });
    } finally {
      await closeServer(other);
    }
  });
});
