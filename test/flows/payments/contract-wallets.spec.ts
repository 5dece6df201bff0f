import assert from 'node:assert/strict';
import type { Response } from 'supertest';
import { concat, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { MULTICALL3 } from '../../../lab/sandbox/evm/contracts.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { paymentHeader } from '../../../lab/world/shop/agent.js';
import type { EvmPayload } from '../../../shared/x402/wire.js';
import { PAID } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { resetTestSandbox } from '../../support/sandbox.js';
import { openSandboxCheckout } from '../../support/sandbox-checkout.js';

/** A contract that calls every signature valid (ERC-1271): it returns 0x1626ba7e to each call. */
const WALLET: Hex = '0x631626ba7e60e01b60005260206000f3';
const DELEGATES_TO: Hex = '0xef0100';
const ABI = parseAbi([
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
  'function aggregate3((address target, bool allowFailure, bytes callData)[]) payable returns ((bool, bytes)[])',
]);
const TIMEOUT_MS = 30_000;

interface Sent {
  id: string;
  asset: Hex;
  payload: EvmPayload;
  answer: Response;
}

describe('payments by contract wallets on a real EVM chain', () => {
  const checkout = forAllTests(() =>
    openSandboxCheckout({ SETTLE_WAIT_MS: '2000', FACILITATOR_SETTLE_TIMEOUT_MS: '5000' }),
  );
  afterEach(() => resetTestSandbox());

  async function openWallet(code = WALLET): Promise<Hex> {
    const { client, fund } = checkout.sandbox.chains.baseSepolia;
    const address = privateKeyToAddress(generatePrivateKey());
    await client.setCode({ address, bytecode: code });
    await fund(address);
    return address;
  }

  async function pay(from: Hex, signature: Hex = `0x${'ab'.repeat(900)}`): Promise<Sent> {
    const { id } = await checkout.buildSession();
    const { accepted, payload: signed } = await checkout.sign(id, { from });
    const payload = { ...signed, signature };
    const header = { 'PAYMENT-SIGNATURE': paymentHeader(accepted, payload) };
    return { id, asset: `0x${accepted.asset.slice(2)}`, payload, answer: await checkout.visit(id, header) };
  }

  async function assertPaid(id: string): Promise<void> {
    await eventually(async () => assert.deepEqual(await checkout.state(id), PAID), TIMEOUT_MS);
  }

  const wallets: [what: string, code: () => Promise<Hex>][] = [
    ['a contract', async () => WALLET],
    [
      'an account that delegates to a contract (EIP-7702)',
      async () => concat([DELEGATES_TO, await openWallet()]),
    ],
  ];
  for (const [what, code] of wallets) {
    it(`are settled for ${what}`, async () => {
      const { id, answer } = await pay(await openWallet(await code()));
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      await assertPaid(id);
    });
  }

  it('are found on the chain when the facilitator never answered', async () => {
    await checkout.sandbox.turn({ settle: 'drop_connection' });
    const { id } = await pay(await openWallet());
    await assertPaid(id);
  });

  it('are found in one transaction with payments of others and of the same wallet', async () => {
    await checkout.sandbox.turn({ settle: 'lose_transaction' });
    const [one, other] = [await openWallet(), await openWallet()];
    const sent = [await pay(one), await pay(other), await pay(one)];
    assert.deepEqual(
      sent.map(({ answer }) => answer.status),
      [202, 202, 202],
    );
    const calls = sent.map(({ asset: target, payload }) => ({
      target,
      allowFailure: false,
      callData: useOf(payload),
    }));
    const { client } = checkout.sandbox.chains.baseSepolia;
    const batch = { address: MULTICALL3, abi: ABI, functionName: 'aggregate3', args: [calls] } as const;
    const transaction = await client.writeContract(batch);
    for (const { id } of sent) await assertPaid(id);
    const payments = await Promise.all(sent.map(({ id }) => checkout.payment(id)));
    assert.deepEqual(
      payments.map((payment) => [payment.transaction, payment.proofIndex]),
      [1, 3, 5].map((index) => [transaction, index]),
    );
  });
});

function useOf({ signature, authorization }: EvmPayload): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const hex = (text: string): Hex => `0x${text.slice(2)}`;
  const times = [BigInt(validAfter), BigInt(validBefore)] as const;
  const args = [hex(from), hex(to), BigInt(value), ...times, hex(nonce), hex(signature)] as const;
  return encodeFunctionData({ abi: ABI, functionName: 'transferWithAuthorization', args });
}
