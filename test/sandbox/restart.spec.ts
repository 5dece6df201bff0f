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

  async function balances({ chains }: Sandbox): Promise<unknown[]> {
    const [token] = BASE_SEPOLIA.tokens;
    const address = token?.address ?? '0x';
    const call = { address, abi: SANDBOX_TOKEN_ABI, functionName: 'balanceOf', args: [BUYER] } as const;
    const lamports = await new Connection(chains.solana.url).getBalance(new PublicKey(WALLET));
    return [await chains.baseSepolia.client.readContract(call), lamports];
  }

  async function mintOne({ chains }: Sandbox): Promise<void> {
    const [token] = BASE_SEPOLIA.tokens;
    const { client } = chains.baseSepolia;
    const call = { address: token?.address ?? '0x', abi: SANDBOX_TOKEN_ABI } as const;
    const hash = await client.writeContract({ ...call, functionName: 'mint', args: [BUYER, 1n] });
    await client.waitForTransactionReceipt({ hash });
  }

  it('continues from its saved state', async () => {
    const first = await startSandbox({ folder });
    await mintOne(first);
    const before = await balances(first);
    await first.stop();
    const second = await startSandbox({ folder });
    try {
      assert.deepEqual(await balances(second), before);
    } finally {
      await second.stop();
    }
  });

  it('starts with an empty chain when a state file is truncated', async () => {
    await writeFile(path.join(folder, 'base-sepolia.json'), '{"block":{"number"');
    await (await startSandbox({ folder })).stop();
    await appendFile(path.join(folder, 'solana.jsonl'), HALF_LINE);
    const sandbox = await startSandbox({ folder });
    try {
      assert.deepEqual(await balances(sandbox), [1_000_000_000_000n, 1_000_000_000_000]);
    } finally {
      await sandbox.stop();
    }
  });

  it('uses the next free port when a port is taken', async () => {
    const other = createServer();
    const taken = await listen(other, 0);
    const ports = {
      facilitator: taken,
      secondFacilitator: 0,
      baseSepolia: taken,
      xLayerTestnet: 0,
      solana: taken,
    };
    const sandbox = await startSandbox({ ports });
    try {
      const { facilitator, chains } = sandbox;
      const chosen = [facilitator.url, chains.baseSepolia.url, chains.solana.url].map((url) =>
        Number(new URL(url).port),
      );
      assert.equal(chosen.includes(taken), false);
      assert.equal(new Set(chosen).size, 3);
    } finally {
      await sandbox.stop();
      await closeServer(other);
    }
  });
});
