import assert from 'node:assert/strict';
import {
  type Hex,
  parseSignature,
  serializeCompactSignature,
  serializeErc6492Signature,
  signatureToCompactSignature,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type EvmOverrides, signEvmPayment } from '../../../lab/world/shop/agent.js';
import { parsePayload } from '../../../shared/x402/parse-payload.js';
import type { EvmAuthorization } from '../../../shared/x402/payload.js';
import { recoversToPayer } from '../../../shared/x402/recovers-to-payer.js';
import { ACCOUNT, EVM } from './matching.js';
import { ACCEPTS, entryFor, SOLANA_DEVNET, X_LAYER_TESTNET } from './offers.js';

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

async function sign(parts: EvmOverrides = {}, entry = EVM): Promise<EvmAuthorization> {
  const proof = parsePayload(entry.network, {
    ...(await signEvmPayment(entry, { account: ACCOUNT, ...parts })),
  });
  assert.equal(proof?.family, 'evm');
  return proof;
}

type Parts = { r: string; s: bigint; v: number };

function changed(signature: string, change: (parts: Parts) => [r: string, s: bigint, v: number]): string {
  const [r, s, v] = change({
    r: signature.slice(2, 66),
    s: BigInt(`0x${signature.slice(66, 130)}`),
    v: Number.parseInt(signature.slice(130), 16),
  });
  return `0x${r}${s.toString(16).padStart(64, '0')}${v.toString(16).padStart(2, '0')}`;
}

describe('recovering the payer of an authorization', () => {
  for (const entry of ACCEPTS.filter(({ network }) => network.startsWith('eip155:'))) {
    it(`works on ${entry.network} for ${entry.asset}`, async () => {
      assert.equal(await recoversToPayer(await sign({}, entry), entry), true);
    });
  }

  it('accepts a signature in upper case', async () => {
    const authorization = await sign();
    const signature = `0x${authorization.signature.slice(2).toUpperCase()}`;
    assert.equal(await recoversToPayer({ ...authorization, signature }, EVM), true);
  });

  describe('fails for', () => {
    it('another payer', async () => {
      const from = privateKeyToAccount(generatePrivateKey()).address;
      assert.equal(await recoversToPayer(await sign({ from }), EVM), false);
    });

    for (const [title, changes] of Object.entries<Partial<EvmAuthorization>>({
      'another amount': { value: 1n },
      'another end': { validBefore: 1n },
      'another beginning': { validAfter: 1n },
      'another nonce': { nonce: `0x${'00'.repeat(32)}` },
      'another recipient': { to: ACCOUNT.address },
    })) {
      it(`${title} than was signed`, async () => {
        assert.equal(await recoversToPayer({ ...(await sign()), ...changes }, EVM), false);
      });
    }

    for (const [title, domain] of Object.entries<NonNullable<EvmOverrides['domain']>>({
      'another name': { name: 'USD Coin' },
      'another version': { version: '1' },
      'another chain': { chainId: 8453 },
      'another contract': { verifyingContract: ACCOUNT.address },
    })) {
      it(`a signature under ${title}`, async () => {
        assert.equal(await recoversToPayer(await sign({ domain }), EVM), false);
      });
    }

    it('the other tokens of the same network', async () => {
      const usdt = await sign({}, entryFor(X_LAYER_TESTNET, 'USDT'));
      assert.equal(await recoversToPayer(usdt, entryFor(X_LAYER_TESTNET, 'USDC')), false);
      assert.equal(await recoversToPayer(usdt, entryFor(X_LAYER_TESTNET, 'USDG')), false);
    });

    it('an entry of Solana', async () => {
      assert.equal(await recoversToPayer(await sign(), entryFor(SOLANA_DEVNET)), false);
    });
  });

  describe('fails for forms that token contracts refuse', () => {
    const forms: Record<string, (signature: Hex) => string> = {
      'v of 0 or 1': (signature) => changed(signature, ({ r, s, v }) => [r, s, v - 27]),
      'a high s': (signature) => changed(signature, ({ r, s, v }) => [r, CURVE_ORDER - s, 55 - v]),
      'the compact form of EIP-2098': (signature) =>
        serializeCompactSignature(signatureToCompactSignature(parseSignature(signature))),
      'the wrapping of ERC-6492': (signature) =>
        serializeErc6492Signature({ address: ACCOUNT.address, data: '0x1234', signature }),
      'a byte more': (signature) => `${signature}00`,
      'a byte less': (signature) => signature.slice(0, -2),
      'no 0x': (signature) => signature.slice(2),
      'an r beyond the curve': (signature) => `0x${'ff'.repeat(32)}${signature.slice(66)}`,
      'an r of zero': (signature) => `0x${'00'.repeat(32)}${signature.slice(66)}`,
      'an s of zero': (signature) => `${signature.slice(0, 66)}${'00'.repeat(32)}1b`,
      'empty hex': () => '0x',
      'no hex': () => `0x${'zz'.repeat(65)}`,
    };
    for (const [title, form] of Object.entries(forms)) {
      it(title, async () => {
        const authorization = await sign();
        const { signature } = authorization;
        const other = form(`0x${signature.slice(2)}`);
        assert.notEqual(other, signature);
        assert.equal(await recoversToPayer({ ...authorization, signature: other }, EVM), false);
      });
    }
  });
});
