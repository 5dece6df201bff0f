import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { NETWORKS, OFFERED_TOKENS } from '../../../shared/chains/networks/networks.js';
import { buildAccepts, type OfferInput, parseSupported } from '../../../shared/x402/requirements.js';
import {
  ALL_SUPPORTED,
  BASE_SEPOLIA,
  EVM_WALLET,
  FEE_PAYER,
  SOLANA,
  SOLANA_DEVNET,
  SOLANA_WALLET,
} from './offers.js';

const TEST_MODE: OfferInput = {
  livemode: false,
  wallets: { evm: EVM_WALLET, solana: SOLANA_WALLET },
  amountCents: 1999,
  supported: ALL_SUPPORTED,
};

function keysOf(input: Partial<OfferInput>): string[] {
  return buildAccepts({ ...TEST_MODE, ...input }).map(({ network, asset }) => `${network} ${asset}`);
}

function tableKeys(isOffered: (token: (typeof OFFERED_TOKENS)[number]) => boolean): string[] {
  return OFFERED_TOKENS.filter(isOffered).map(({ network, address }) => `${network.caip2} ${address}`);
}

describe('building accepts', () => {
  it('offers EVM tokens with their EIP-712 domain', () => {
    assert.deepEqual(buildAccepts(TEST_MODE)[0], {
      scheme: 'exact',
      network: BASE_SEPOLIA,
      amount: '19990000',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      payTo: EVM_WALLET,
      maxTimeoutSeconds: 300,
      extra: { name: 'USDC', version: '2' },
    });
  });

  it('offers Solana tokens with a fee payer', () => {
    assert.deepEqual(buildAccepts(TEST_MODE)[1], {
      scheme: 'exact',
      network: SOLANA_DEVNET,
      amount: '19990000',
      asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
      payTo: SOLANA_WALLET,
      maxTimeoutSeconds: 300,
      extra: { feePayer: FEE_PAYER },
    });
  });

  it('leaves Solana out when the facilitator names no fee payer', () => {
    assert.deepEqual(keysOf({ supported: new Map([[SOLANA_DEVNET, []]]) }), []);
  });

  it('leaves Solana out when the amount is more than its tokens can count', () => {
    const wallets = { evm: null, solana: SOLANA_WALLET };
    const [entry] = buildAccepts({ ...TEST_MODE, wallets, amountCents: 1_844_674_407_370_955 });
    assert.equal(entry?.amount, '18446744073709550000');
    assert.deepEqual(keysOf({ wallets, amountCents: 1_844_674_407_370_956 }), []);
    const keys = keysOf({ amountCents: Number.MAX_SAFE_INTEGER });
    assert.deepEqual(
      keys,
      tableKeys(({ network }) => network.testnet && network.family === 'evm'),
    );
  });
});

describe('parsing /supported', () => {
  const other = Keypair.generate().publicKey.toBase58();
  const evm = { x402Version: 2, scheme: 'exact', network: BASE_SEPOLIA };
  const svm = { x402Version: 2, scheme: 'exact', network: SOLANA_DEVNET, extra: { feePayer: FEE_PAYER } };

  function parse(json: unknown): unknown {
    const supported = parseSupported(json);
    return supported && Object.fromEntries(supported);
  }

  it('reads kinds and their fee payers', () => {
    assert.deepEqual(parse({ kinds: [evm, svm] }), { [BASE_SEPOLIA]: [], [SOLANA_DEVNET]: [FEE_PAYER] });
  });

  it("adds Solana's signers after the fee payer of its kind", () => {
    const signers = { 'eip155:*': [EVM_WALLET], 'solana:*': [other, FEE_PAYER] };
    const expected = { [BASE_SEPOLIA]: [], [SOLANA_DEVNET]: [FEE_PAYER, other] };
    assert.deepEqual(parse({ kinds: [evm, svm], extensions: [], signers }), expected);
  });

  it('adds signers of the same network only', () => {
    const signers = { [SOLANA_DEVNET]: [other], [SOLANA]: [Keypair.generate().publicKey.toBase58()] };
    assert.deepEqual(parse({ kinds: [svm], signers }), { [SOLANA_DEVNET]: [FEE_PAYER, other] });
  });

  it('joins kinds of one network', () => {
    const kinds = [svm, { ...svm, extra: { feePayer: other } }, { ...svm, extra: null }];
    assert.deepEqual(parse({ kinds }), { [SOLANA_DEVNET]: [FEE_PAYER, other] });
  });

  it('leaves out version 1, other schemes and malformed kinds', () => {
    const kinds = [
      { ...evm, x402Version: 1, network: 'base-sepolia' },
      { ...evm, x402Version: '2' },
      { ...evm, scheme: 'upto' },
      { ...evm, network: 84532 },
      { ...evm, network: undefined },
      null,
      'exact',
      [evm],
    ];
    assert.deepEqual(parse({ kinds }), {});
  });

  for (const feePayer of [undefined, null, '', 7, {}, [FEE_PAYER], EVM_WALLET, `${FEE_PAYER}\u0000`]) {
    it(`leaves out the fee payer ${JSON.stringify(feePayer)}`, () => {
      assert.deepEqual(parse({ kinds: [{ ...svm, extra: { feePayer } }] }), { [SOLANA_DEVNET]: [] });
    });
  }

  for (const signers of [undefined, null, [], 'solana:*', { 'solana:*': null }, { 'solana:*': 'x' }]) {
    it(`tolerates the signers ${JSON.stringify(signers)}`, () => {
      assert.deepEqual(parse({ kinds: [svm], signers }), { [SOLANA_DEVNET]: [FEE_PAYER] });
    });
  }

  it('distinguishes an answer without kinds from no answer', () => {
    assert.deepEqual(parse({ kinds: [] }), {});
    for (const json of [undefined, null, 'kinds', [], {}, { kinds: null }, { kinds: {} }])
      assert.equal(parse(json), undefined, JSON.stringify(json));
  });

  it('offers the whole token table when all of it is listed', () => {
    const kinds = NETWORKS.map(({ caip2 }) => ({ ...svm, network: caip2 }));
    const supported = parseSupported({ kinds });
    assert.ok(supported);
    assert.deepEqual(buildAccepts({ ...TEST_MODE, supported }), buildAccepts(TEST_MODE));
  });
});
